"""Exact permutations with ties. Each line: kind, m, n, values. Each answer: numbers."""

import sys

import numpy as np
from scipy import stats


def answer(kind, first, second, x, y):
    everything = stats.PermutationMethod(n_resamples=np.inf)
    if kind == 1:  # Mann and Whitney, all permutations of midranks
        return [stats.mannwhitneyu(x, y, method=everything).pvalue]
    raise ValueError(kind)


for line in sys.stdin:
    kind, m, n, *values = map(float, line.split())
    m, n = int(m), int(n)
    x, y = np.array(values[:m]), np.array(values[m : m + n])
    print(*(repr(float(number)) for number in answer(int(kind), m, n, x, y)))
