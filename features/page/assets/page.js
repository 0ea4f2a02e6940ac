"use strict";
(function () {
  var root = document.documentElement, all = function (s, of) { return [].slice.call((of || document).querySelectorAll(s)); };
  var one = function (s) { return document.querySelector(s); };
  var el = function (n, a, t) { var e = document.createElement(n); for (var k in a) e.setAttribute(k, a[k]); if (t !== undefined) e.textContent = t; return e; };

  var id = one(".id");
  if (id) {
    var theme = el("button", { type: "button", id: "theme" }, "dark or light");
    theme.onclick = function () {
      var now = root.getAttribute("data-theme") || (matchMedia("(prefers-color-scheme:dark)").matches ? "dark" : "light");
      root.setAttribute("data-theme", now === "dark" ? "light" : "dark");
    };
    id.appendChild(theme);
  }
  addEventListener("beforeprint", function () { all("details.full,details.more").forEach(function (d) { d.dataset.was = d.open ? 1 : ""; d.open = true; }); });
  addEventListener("afterprint", function () { all("details[data-was]").forEach(function (d) { d.open = !!d.dataset.was; }); });

  var raw = one("#data");
  if (!raw) return;
  var D = JSON.parse(raw.textContent), state = { w: "", c: "", m: "0", v: "", s: "" };

  /* Values: little-endian floats in base64, decoded when they are first needed. */
  var cache = {};
  function values(m, p, v) {
    var key = m + "/" + p + "/" + v, cell = D.p[m] && D.p[m][p] && D.p[m][p].s[v];
    if (!cell) return null;
    if (cache[key]) return cache[key];
    var b = atob(cell.x), n = b.length / 4, buf = new DataView(new ArrayBuffer(b.length)), x = new Float64Array(n), i, st = new Uint8Array(n);
    for (i = 0; i < b.length; i++) buf.setUint8(i, b.charCodeAt(i));
    for (i = 0; i < n; i++) x[i] = buf.getFloat32(4 * i, true);
    (cell.f || []).forEach(function (i) { st[i] = 1; });
    (cell.o || []).forEach(function (i) { st[i] = 2; });
    return cache[key] = { x: x, st: st, t: cell.t || null, n: n };
  }
  function block(c, i) { return c.t ? c.t[i] : i + 1; }
  function written(m, p, x) { var u = D.p[m][p].u; return isNaN(x) ? "not measured" : (x / u[0]).toFixed(u[2]) + (u[1] ? " " + u[1] : ""); }

  /* The table of all figures. */
  var table = one("#figures"), body = table && table.tBodies[0], heads = table ? [].slice.call(table.tHead.rows[0].cells) : [];
  function key(r, i) { var c = r.cells[i], k = c.getAttribute("data-k"); return k === null ? (c.className.indexOf("num") >= 0 ? Infinity : c.textContent.trim().toLowerCase()) : +k; }
  function sort(i, up) {
    var rows = [].slice.call(body.rows).map(function (r) { return [key(r, i), r]; });
    rows.sort(function (a, b) {
      if (typeof a[0] !== typeof b[0]) return typeof a[0] === "number" ? -1 : 1;
      return (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0) * (up ? 1 : -1);
    });
    heads.forEach(function (h) { h.removeAttribute("aria-sort"); });
    heads[i].setAttribute("aria-sort", up ? "ascending" : "descending");
    var f = document.createDocumentFragment();
    rows.forEach(function (r) { f.appendChild(r[1]); });
    body.appendChild(f);
  }
  heads.forEach(function (h, i) {
    var b = el("button", { type: "button" });
    while (h.firstChild) b.appendChild(h.firstChild);
    h.appendChild(b);
    b.onclick = function () { var up = h.getAttribute("aria-sort") !== "ascending"; state.s = i + (up ? "a" : "d"); sort(i, up); link(); };
  });

  /* Charts of another metric than the one that the page was made with. */
  var strips = all("svg.st"), original = strips.map(function (s) { return all("path", s).map(function (p) { return [p.getAttribute("class"), p.getAttribute("d")]; }); });
  var part = .98, shownMetric = 0;
  function scale(m, p, part) {
    var xs = [], of = D.p[m][p];
    Object.keys(of.s).forEach(function (v) { var c = values(m, p, v); for (var i = 0; i < c.n; i++) if (!c.st[i] && !isNaN(c.x[i])) xs.push(c.x[i]); });
    if (!xs.length) return null;
    xs = Float64Array.from(xs).sort();
    var lo = xs[0], hi = xs[Math.ceil(part * (xs.length - 1))], log = lo > 0;
    if (!(lo < hi)) { lo -= Math.abs(lo) * .01 + 1e-12; hi += Math.abs(hi) * .01 + 1e-12; log = lo > 0; }
    var f = log ? Math.log : function (x) { return x; };
    return { at: function (x) { return (f(log ? Math.max(x, 1e-300) : x) - f(lo)) / (f(hi) - f(lo)); }, lo: lo, hi: hi };
  }
  function find(m, p) {
    var want = D.p[0][p], found = -1;
    D.p[m].forEach(function (q, i) { if (q.w === want.w && q.c === want.c) found = i; });
    return found;
  }
  function draw(m) {
    if (m === shownMetric) return;
    shownMetric = m;
    all(".place").forEach(function (place) {
      var p = find(m, +place.dataset.p), sc = p < 0 ? null : scale(m, p, part), label = place.querySelector(".scale");
      if (!label.dataset.was) label.dataset.was = label.textContent;
      if (m === 0) label.textContent = label.dataset.was;
      else label.textContent = sc ? D.m[m] + " " + written(m, p, sc.lo) + " … " + written(m, p, sc.hi) : D.m[m] + " was not measured";
      all("svg.st", place).forEach(function (svg) {
        var at = strips.indexOf(svg), paths = all("path:not(.cur)", svg), v = svg.parentNode.dataset.v;
        paths.forEach(function (q, i) { q.setAttribute("d", m === 0 ? original[at][i][1] : ""); });
        if (m === 0 || !sc) return;
        var c = values(m, p, v), b = D.p[m][p].b, d = "", far = "", seen = {};
        if (!c) return;
        for (var i = 0; i < c.n; i++) {
          if (c.st[i] || isNaN(c.x[i])) continue;
          var x = Math.round((block(c, i) - .5) * 1000 / b), y = sc.at(c.x[i]);
          if (y > 1) { far += "M" + x + " 4h0"; continue; }
          y = Math.round(90 - 80 * Math.max(0, y));
          if (b > D.dense) { if (seen[x * 101 + y]) continue; seen[x * 101 + y] = 1; }
          d += "M" + x + " " + y + "h0";
        }
        var pt = svg.querySelector(".pt");
        pt.setAttribute("d", d + far);
      });
    });
  }

  /* The filters, and a link into any state. */
  var tools = one("#tools"), names = D.v.map(function (n) { return n.toLowerCase(); });
  function select(label, key, options, first) {
    if (options.length < 2) return null;
    var s = el("select", { "aria-label": label });
    if (first) s.appendChild(el("option", { value: "" }, first));
    options.forEach(function (o, i) { s.appendChild(el("option", { value: i }, o)); });
    s.onchange = function () { state[key] = s.value; apply(); link(); };
    tools.appendChild(s);
    return s;
  }
  var metrics = D.m.slice();
  all("#figures tr[data-m]").forEach(function (r) { if (metrics.indexOf(r.dataset.m) < 0) metrics.push(r.dataset.m); });
  var input = el("input", { type: "search", placeholder: "filter variants", "aria-label": "Filter variants by name", size: "22" });
  if (D.v.length > 2) tools.appendChild(input);
  input.oninput = function () { state.v = input.value; apply(); link(); };
  if (table && !table.querySelector('tr[data-m="' + CSS.escape(metrics[0]) + '"]')) state.m = "" + metrics.length;
  var home = state.m;
  var ws = select("Workload", "w", D.w, "all workloads"), cs = select("Condition", "c", D.c, "all conditions"), ms = select("Metric", "m", metrics.concat(["all metrics"]));
  var count = el("span", { "aria-live": "polite", "class": "quiet" });
  tools.appendChild(count);
  var reset = el("button", { type: "button" }, "show all");
  reset.onclick = function () { state = { w: "", c: "", m: home, v: "", s: state.s }; input.value = ""; apply(); link(); };
  tools.appendChild(reset);
  tools.hidden = tools.children.length < 3 || !body && !strips.length;

  function apply() {
    var words = state.v.toLowerCase().split(/\s+/).filter(Boolean);
    var ok = names.map(function (n) { return words.every(function (w) { return n.indexOf(w) >= 0; }); });
    if (names.length) { ok[0] = ok[0] || words.length > 0; ok[names.length - 1] = words.length === 0 || ok[names.length - 1]; }
    var m = +state.m, name = metrics[m], n = 0, total = 0;
    if (body) [].forEach.call(body.rows, function (r) {
      var d = r.dataset, show = (d.v === undefined || ok[+d.v]) && (!state.w || d.w === state.w) && (!state.c || d.c === state.c) && (name === undefined || d.m === name);
      r.hidden = !show; total++; if (show) n++;
    });
    all(".forest tr[data-v],.heat tr[data-v],.strip[data-v]").forEach(function (r) { r.hidden = !ok[+r.dataset.v]; });
    var drawn = m < D.p.length ? m : 0;
    all(".place,.dist").forEach(function (p) {
      var other = drawn !== 0 && p.classList.contains("dist") && p.dataset.p !== undefined;
      p.hidden = !!(other || state.w && p.dataset.w !== state.w || state.c && p.dataset.c !== state.c);
    });
    all(".cv path[data-v]").forEach(function (p) { p.classList.toggle("on", words.length > 0 && ok[+p.dataset.v] && +p.dataset.v > 0); });
    draw(drawn);
    reset.hidden = !(state.w || state.c || state.v || state.m !== home);
    count.textContent = body ? n + " of " + total + " rows" + (name !== undefined && D.m[drawn] !== name ? "; the charts show " + D.m[drawn] : drawn ? "; distributions are of " + D.m[0] + " only" : "") : "";
    input.value = state.v;
    if (ws) ws.value = state.w;
    if (cs) cs.value = state.c;
    if (ms) ms.value = state.m;
    rove();
  }
  /* One strip can be reached by Tab: one that is seen. */
  function rove() {
    var list = shown();
    if (!list.length || list.some(function (s) { return s.getAttribute("tabindex") === "0"; })) return;
    strips.forEach(function (s) { s.setAttribute("tabindex", s === list[0] ? 0 : -1); });
  }
  function link() {
    var q = [];
    if (state.w) q.push("w=" + encodeURIComponent(D.w[+state.w]));
    if (state.c) q.push("c=" + encodeURIComponent(D.c[+state.c]));
    if (state.m !== home) q.push("m=" + encodeURIComponent(metrics[+state.m] || ""));
    if (state.v) q.push("v=" + encodeURIComponent(state.v));
    if (state.s) q.push("s=" + state.s);
    try { history.replaceState(null, "", q.length ? "#" + q.join("&") : location.pathname + location.search); } catch (e) { /* A file may not have a state. */ }
  }
  function read() {
    if (location.hash.indexOf("=") < 0) return;
    state = { w: "", c: "", m: home, v: "", s: "" };
    location.hash.slice(1).split("&").forEach(function (pair) {
      var k = pair.split("=")[0], v = pair.slice(k.length + 1);
      try { v = decodeURIComponent(v); } catch (e) { return; }
      if (k === "w" && D.w.indexOf(v) >= 0) state.w = "" + D.w.indexOf(v);
      if (k === "c" && D.c.indexOf(v) >= 0) state.c = "" + D.c.indexOf(v);
      if (k === "m") state.m = "" + (metrics.indexOf(v) >= 0 ? metrics.indexOf(v) : metrics.length);
      if (k === "v") state.v = v;
      if (k === "s" && /^\d+[ad]$/.test(v) && heads[parseInt(v, 10)]) { state.s = v; sort(parseInt(v, 10), v.slice(-1) === "a"); }
    });
  }
  addEventListener("hashchange", function () { if (location.hash.indexOf("=") >= 0) { read(); apply(); } });
  read();
  apply();

  /* The read-out: which trial is below the pointer, or where the arrow keys went. */
  var out = one("#read"), at = 1, kinds = ["", " (failed)", " (void)"];
  function show(svg, b) {
    var place = svg.parentNode.parentNode, p0 = +place.dataset.p, m = shownMetric, p = m ? find(m, p0) : p0, v = svg.parentNode.dataset.v;
    if (p < 0) return;
    at = Math.max(1, Math.min(D.p[m][p].b, b));
    var mine = pick(values(m, p, v), m, p), base = v === "0" ? null : pick(values(m, p, "0"), m, p);
    var x = (at - .5) * 1000 / D.p[m][p].b;
    all("svg.st", place).forEach(function (s) { cursor(s).setAttribute("d", "M" + x + " 0V100"); });
    var q = D.p[0][p0], where = D.w[q.w] + "/" + D.c[q.c] + "/" + at + "/" + (+v < D.v.length - 1 ? D.v[v] : "twin");
    out.textContent = "block " + at + ", " + D.v[v] + ": " + (mine || "no trial") + (base && mine ? "; baseline " + base : "") + "; its log and measurements: ";
    out.appendChild(el("code", {}, "bakeoff report STUDY --trial '" + where.replace(/'/g, "'\\''") + "'"));
  }
  function pick(c, m, p) {
    if (!c) return "";
    var said = [];
    for (var i = 0; i < c.n; i++) if (block(c, i) === at) said.push(written(m, p, c.x[i]) + kinds[c.st[i]]);
    return said.join(", ");
  }
  function cursor(svg) {
    var c = svg.querySelector(".cur");
    if (!c) { c = svg.querySelector("path").cloneNode(false); c.setAttribute("class", "cur"); svg.insertBefore(c, svg.firstChild); }
    return c;
  }
  function shown() { return strips.filter(function (s) { return s.getClientRects().length > 0; }); }
  strips.forEach(function (svg) {
    var blocks = function () { return D.p[0][+svg.parentNode.parentNode.dataset.p].b; };
    svg.addEventListener("mousemove", function (e) { var r = svg.getBoundingClientRect(); show(svg, Math.ceil((e.clientX - r.left) / r.width * blocks())); });
    svg.addEventListener("focus", function () { show(svg, at); });
    svg.addEventListener("keydown", function (e) {
      var step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20 }[e.key], go = { ArrowUp: -1, ArrowDown: 1 }[e.key];
      if (step) { show(svg, at + step); e.preventDefault(); }
      else if (go) {
        var list = shown(), next = list[list.indexOf(svg) + go];
        if (next) { svg.setAttribute("tabindex", -1); next.setAttribute("tabindex", 0); next.focus(); }
        e.preventDefault();
      }
    });
  });
})();
