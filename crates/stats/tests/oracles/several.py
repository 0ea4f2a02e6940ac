"""Corrections for several comparisons. A line "1 …": Holm's correction of the p that follow. A line "2 n θ …": the next n
lines are comparisons of the same blocks, each with the centre that it is given as θ, and the answer is max-T's corrected p
of "centred on 0", from its definition: every pattern of signs, one a block, statistics in plain arithmetic, and all
comparisons but the one that is tested standing at their centres."""

import itertools
import statistics
import sys
from statsmodels.stats.multitest import multipletests


def psi(x, theta):
    d = [v - theta for v in x]
    m = 1.5 * (statistics.median(map(abs, d)) or statistics.median([abs(v) for v in d if v] or [0]))
    return [min(max(v, -m), m) for v in d]


def t(psi, signs):
    size = sum(v * v for v in psi) ** 0.5
    return abs(sum(s * v for s, v in zip(signs, psi))) / size if size else 0.0


lines = iter([[float(w) for w in line.split()] for line in sys.stdin])
for head, *rest in lines:
    if head == 1:
        print(*(repr(float(p)) for p in multipletests(rest, method="holm")[1]))
        continue
    columns = [next(lines) for _ in range(int(rest[0]))]
    centred = [psi(x, theta) for x, theta in zip(columns, rest[1:])]
    patterns = list(itertools.product([-1, 1], repeat=len(columns[0])))
    answer = []
    for j, x in enumerate(columns):
        own = psi(x, 0.0)
        observed = t(own, [1] * len(x))
        all_of_them = [own if k == j else other for k, other in enumerate(centred)]
        hits = sum(max(t(one, signs) for one in all_of_them) >= observed - 1e-9 for signs in patterns)
        answer.append(hits / len(patterns))
    print(*answer)
