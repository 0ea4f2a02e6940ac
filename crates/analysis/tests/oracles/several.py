"""Corrections for several comparisons. A line "1 …": Holm's correction of the p that follow. A line "2 n": the next n
lines are comparisons of the same blocks, and the answer is max-T's adjusted p, from its definition: every pattern of
signs, one a block, and statistics in plain arithmetic."""

import itertools
import statistics
import sys
from statsmodels.stats.multitest import multipletests

lines = iter([[float(w) for w in line.split()] for line in sys.stdin])
for head, *rest in lines:
    if head == 1:
        print(*(repr(float(p)) for p in multipletests(rest, method="holm")[1]))
        continue
    psis = []
    for _ in range(int(rest[0])):
        x = next(lines)
        m = 1.5 * (statistics.median(map(abs, x)) or statistics.median([abs(v) for v in x if v] or [0]))
        psis.append([min(max(v, -m), m) for v in x])

    def t(psi, signs):
        size = sum(v * v for v in psi) ** 0.5
        return abs(sum(s * v for s, v in zip(signs, psi))) / size if size else 0.0

    n = len(psis[0])
    observed = [t(psi, [1] * n) for psi in psis]
    maxima = [max(t(psi, signs) for psi in psis) for signs in itertools.product([-1, 1], repeat=n)]
    print(*(sum(m >= o - 1e-9 for m in maxima) / 2**n for o in observed))
