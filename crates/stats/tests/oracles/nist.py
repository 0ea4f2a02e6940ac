"""NIST's Norris, from scipy's own test data: the certified slope; then x; then y."""

import pathlib
import re
import scipy.stats

data = pathlib.Path(scipy.stats.__file__).parent / "tests" / "data"
lines = (data / "nist_linregress" / "Norris.dat").read_text().splitlines()
slope = next(line.split() for line in lines if line.split()[:1] == ["B1"])
first, last = map(int, re.search(r"Data +\(lines (\d+) to (\d+)\)", "\n".join(lines)).groups())
rows = [line.split() for line in lines[first - 1:last]]
print(slope[1])
print(*(x for _, x in rows))
print(*(y for y, _ in rows))
