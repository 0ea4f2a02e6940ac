"""NIST's certified analyses of variance, from scipy's own test data: for each set a line "level of difficulty, SS
between, SS within, F, exact F of the nearest doubles", then groups, values, and values less a constant that was
subtracted in decimal. Last, Norris: certified slope, its error, residual sd; then x, y."""

import pathlib
import re
from decimal import Decimal
from fractions import Fraction
import scipy.stats

data = pathlib.Path(scipy.stats.__file__).parent / "tests" / "data"


def exact_f(groups):
    values = [x for g in groups.values() for x in g]
    grand = sum(values) / len(values)
    means = {name: sum(g) / len(g) for name, g in groups.items()}
    between = sum(len(g) * (means[name] - grand) ** 2 for name, g in groups.items())
    within = sum(sum((x - means[name]) ** 2 for x in g) for name, g in groups.items())
    return float(between / (len(groups) - 1) / (within / (len(values) - len(groups))))


for path in sorted((data / "nist_anova").glob("*.dat")):
    lines = path.read_text().splitlines()
    text = "\n".join(lines[:60])
    level = [word in text for word in ("Lower Level", "Average Level", "Higher Level")].index(True)
    between = re.search(r"^Between .*?(\S+) +(\S+) +(\S+) *$", text, re.M)
    within = re.search(r"^Within .*?(\S+) +(\S+) *$", text, re.M)
    first, last = map(int, re.search(r"Data +\(lines (\d+) to (\d+)\)", text).groups())
    rows = [line.split() for line in lines[first - 1:last] if line.strip()]
    constant = Decimal(rows[0][1])
    groups = {}
    for group, value in rows:
        groups.setdefault(group, []).append(Fraction(float(value)))
    print(level, between.group(1), within.group(1), between.group(3), repr(exact_f(groups)))
    print(*(group for group, _ in rows))
    print(*(repr(float(value)) for _, value in rows))
    print(*(repr(float(Decimal(value) - constant)) for _, value in rows))

lines = (data / "nist_linregress" / "Norris.dat").read_text().splitlines()
slope = next(line.split() for line in lines if line.split()[:1] == ["B1"])
sd = next(line.split() for line in lines[30:60] if "Standard Deviation" in line)
first, last = map(int, re.search(r"Data +\(lines (\d+) to (\d+)\)", "\n".join(lines)).groups())
rows = [line.split() for line in lines[first - 1:last]]
print(slope[1], slope[2], sd[-1])
print(*(x for _, x in rows))
print(*(y for y, _ in rows))
