"""Opens pages in headless Chromium and does what a reader does:  browser.py FOLDER [axe.min.js]

Each page in FOLDER is opened at 1280 and 400 pixels, light and dark. It prints a line for everything that is not as it should
be, and a line of JSON with times last; it ends with 1 if there was anything. It knows pages by their file's name only to find
out what there must be to sort or to filter.
"""

import base64
import glob
import json
import os
import sys
import tempfile

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.chrome.service import Service

WRONG = []


def wrong(page, what):
    WRONG.append(f"{page}: {what}")
    print(WRONG[-1], flush=True)


def browser(profile):
    options = webdriver.ChromeOptions()
    options.binary_location = os.environ.get("CHROMIUM", "/usr/bin/chromium")
    for flag in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                 "--disable-background-networking", "--disable-component-update", f"--user-data-dir={profile}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(service=Service(os.environ.get("CHROMEDRIVER", "/usr/bin/chromedriver")), options=options)


def look(driver, width, height, scheme):
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                           {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                           {"features": [{"name": "prefers-color-scheme", "value": scheme}]})


def requests(driver):
    """What was asked for besides pages themselves, and what went wrong."""
    asked = []
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            asked.append(message["params"]["request"]["url"])
    return asked, [entry for entry in driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


def rows(driver):
    return [row for row in driver.find_elements(By.CSS_SELECTOR, "#figures tbody tr") if row.is_displayed()]


def quiet(driver, name, url):
    """Nothing is asked for, nothing is wrong, nothing of a name became more than text."""
    asked, said = requests(driver)
    for other in asked:
        if other.split("#")[0] != url and not other.startswith(("data:", "chrome:", "about:")):
            wrong(name, f"it asked for {other}")
    for entry in said:
        wrong(name, f"the browser says: {entry['message']}")
    for tag in ("img", "iframe", "object", "embed", "link", "form"):
        if driver.find_elements(By.TAG_NAME, tag):
            wrong(name, f"it has an element {tag}")
    if driver.execute_script("return !!window.hostile"):
        wrong(name, "a name was executed")


def accessible(driver, name, axe):
    if not axe:
        return
    driver.execute_cdp_cmd("Runtime.evaluate", {"expression": axe})
    found = driver.execute_async_script(
        "const done = arguments[arguments.length - 1]; axe.run(document, {resultTypes: ['violations']})"
        ".then(r => done(r.violations.map(v => [v.id, v.impact, v.nodes.slice(0, 3).map(n => n.html.slice(0, 160))])))")
    for rule, impact, nodes in found:
        if impact in ("serious", "critical"):
            wrong(name, f"axe: {impact}: {rule}: {nodes}")
        else:
            print(f"{name}: axe: {impact}: {rule}: {nodes}")


def sort(driver, name):
    heads = driver.find_elements(By.CSS_SELECTOR, "#figures thead button")
    for head in heads:
        if head.text.startswith("median"):
            at = heads.index(head)
            for way in ("ascending", "descending"):
                head.click()
                keys = driver.execute_script(
                    "return [].filter.call(document.querySelectorAll('#figures tbody tr'), r => !r.hidden)"
                    ".map(r => r.cells[arguments[0]].dataset.k).filter(k => k !== undefined).map(Number)", at)
                if keys != sorted(keys, reverse=way == "descending"):
                    wrong(name, f"not sorted, {way}: {keys}")
                if head.find_element(By.XPATH, "..").get_attribute("aria-sort") != way:
                    wrong(name, f"not said to be {way}")


def filters(driver, name, url):
    before, places = len(rows(driver)), driver.find_elements(By.CSS_SELECTOR, ".place")
    field = driver.find_elements(By.CSS_SELECTOR, "#tools input")
    if field and field[0].is_displayed():
        target = driver.execute_script("return JSON.parse(document.getElementById('data').textContent).v[1]")
        field[0].send_keys(target[:12])
        after = rows(driver)
        if not after or len(after) > before:
            wrong(name, f"filtered {before} rows to {len(after)}")
        state = driver.current_url
        if "#" not in state:
            wrong(name, "a filter has no link")
        driver.get("about:blank")
        driver.get(state)
        again = rows(driver)
        if len(again) != len(after):
            wrong(name, f"the link leads to {len(again)} rows, not {len(after)}")
        driver.find_element(By.XPATH, "//button[text()='show all']").click()
        if len(rows(driver)) != before:
            wrong(name, "not all rows came back")
    for select in driver.find_elements(By.CSS_SELECTOR, "#tools select"):
        if not select.is_displayed():
            continue
        options = select.find_elements(By.TAG_NAME, "option")
        options[1].click()
        shown = len([p for p in driver.find_elements(By.CSS_SELECTOR, ".place") if p.is_displayed()])
        if before and not rows(driver) or places and not shown:
            wrong(name, f"{select.get_attribute('aria-label')}: {len(rows(driver))} rows, {shown} places")
        if select.get_attribute("aria-label") == "Metric" and "only" in driver.find_element(By.ID, "tools").text:
            # A chart of another metric must not come back with the next filter.
            fields = driver.find_elements(By.CSS_SELECTOR, "#tools input")
            for field in fields:
                field.send_keys("b")
            if any(chart.is_displayed() for chart in driver.find_elements(By.CSS_SELECTOR, ".dist[data-p]")):
                wrong(name, "distributions of another metric are shown")
            for field in fields:
                field.clear()
        options[0].click()
    driver.get("about:blank")
    driver.get(url)


def keys(driver, name):
    body = driver.find_element(By.TAG_NAME, "body")
    strips = driver.find_elements(By.CSS_SELECTOR, "svg.st")
    reached = set()
    for _ in range(150):
        body.send_keys(Keys.TAB)
        active = driver.switch_to.active_element
        reached.add(active.tag_name)
        if active.tag_name == "svg" or active.tag_name == "body" or not strips and len(reached) > 3:
            break
        body = active
    if not strips:
        return
    if "svg" not in reached:
        wrong(name, f"the trials are not reached by Tab: {sorted(reached)}")
        return
    read = driver.find_element(By.ID, "read")
    first = read.text
    active.send_keys(Keys.ARROW_RIGHT)
    if read.text == first or "--trial" not in read.text:
        wrong(name, f"the arrow keys do not move the read-out: {first!r}, {read.text!r}")
    active.send_keys(Keys.ARROW_DOWN)
    if len(strips) > 1 and driver.switch_to.active_element == active:
        wrong(name, "the arrow keys do not reach the next strip")


def theme(driver, name):
    ground = "return getComputedStyle(document.documentElement).backgroundColor"
    before = driver.execute_script(ground)
    driver.find_element(By.ID, "theme").click()
    if driver.execute_script(ground) == before:
        wrong(name, "the button does not change the theme")
    driver.find_element(By.ID, "theme").click()


def prints(driver, name):
    pdf = base64.b64decode(driver.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})["data"])
    if not pdf.startswith(b"%PDF") or len(pdf) < 10_000:
        wrong(name, f"it cannot be printed: {len(pdf)} bytes")


TIMED = """
(async function () {
const done = arguments[arguments.length - 1];
const times = {};
while (!performance.getEntriesByName('first-contentful-paint').length) await new Promise(r => setTimeout(r, 20));
times.paint = performance.getEntriesByName('first-contentful-paint')[0].startTime;
const fields = [...document.querySelectorAll('#tools input, #tools select')];
const next = (at, worst) => {
  if (at === fields.length) { times.filter = worst; done(times); return; }
  const field = fields[at], begin = performance.now(), before = field.value;
  if (field.tagName === 'INPUT') { field.value = 'b'; field.oninput(); }
  else { field.selectedIndex = 1; field.onchange(); }
  requestAnimationFrame(() => setTimeout(() => {
    const took = performance.now() - begin;
    field.value = before;
    if (field.tagName === 'INPUT') field.oninput(); else field.onchange();
    requestAnimationFrame(() => setTimeout(() => next(at + 1, Math.max(worst, took))));
  }));
};
next(0, 0);
}).apply(null, arguments);
"""


def main():
    folder, axe = sys.argv[1], None
    if len(sys.argv) > 2:
        with open(sys.argv[2], encoding="utf-8") as file:
            axe = file.read()
    times = {}
    with tempfile.TemporaryDirectory() as profile:
        driver = browser(profile)
        driver.set_script_timeout(120)
        try:
            for path in sorted(glob.glob(os.path.join(os.path.abspath(folder), "*.html"))):
                name, url = os.path.basename(path), "file://" + path
                requests(driver)
                look(driver, 1280, 850, "light")
                driver.get(url)
                times[name] = driver.execute_async_script(TIMED)
                times[name]["bytes"] = os.path.getsize(path)
                for width, height, scheme in [(1280, 850, "light"), (1280, 850, "dark"), (400, 800, "light"), (400, 800, "dark")]:
                    look(driver, width, height, scheme)
                    driver.get("about:blank")
                    driver.get(url)
                    wide = driver.execute_script("return document.documentElement.scrollWidth")
                    if wide > width:
                        wrong(name, f"it scrolls sideways at {width} pixels: {wide}")
                    if (width, scheme) in ((1280, "light"), (400, "dark")):
                        accessible(driver, f"{name} {width} {scheme}", axe)
                    if os.environ.get("SHOTS"):
                        whole = {"captureBeyondViewport": os.environ.get("SHOTS_WHOLE") == "1"}
                        shot = driver.execute_cdp_cmd("Page.captureScreenshot", whole)["data"]
                        with open(os.path.join(os.environ["SHOTS"], f"{name}-{width}-{scheme}.png"), "wb") as file:
                            file.write(base64.b64decode(shot))
                look(driver, 1280, 850, "light")
                driver.get("about:blank")
                driver.get(url)
                theme(driver, name)
                sort(driver, name)
                filters(driver, name, url)
                keys(driver, name)
                prints(driver, name)
                quiet(driver, name, url)
        finally:
            driver.quit()
    print(json.dumps(times))
    sys.exit(1 if WRONG else 0)


if __name__ == "__main__":
    main()
