"""The oracle of the diagnostics: each line of the input begins with the number of a question; a line of answers each."""

import sys

import numpy as np
from scipy import stats
from scipy.stats.mstats import hdquantiles


def kendall(x):
    """Mann and Kendall's test is Kendall's tau against time, here by its exact distribution."""
    answer = stats.kendalltau(np.arange(len(x)), x, method="exact")
    return [answer.statistic, answer.pvalue]


def bartels(x):
    """Von Neumann's ratio of mid-ranks; Bartels' own variance, which is for values without ties."""
    n, ranks = len(x), stats.rankdata(x)
    ratio = np.sum(np.diff(ranks) ** 2) / np.sum((ranks - ranks.mean()) ** 2)
    variance = 4 * (n - 2) * (5 * n**2 - 2 * n - 9) / (5 * n * (n + 1) * (n - 1) ** 2)
    shape = 2 / variance - 0.5
    beta = stats.beta(shape, shape, scale=4)
    p = 2 * min(beta.cdf(ratio), beta.sf(ratio)) if n <= 100 else 2 * stats.norm.sf(abs(ratio - 2) / np.sqrt(variance))
    return [ratio, p]


def bartels_by_permutation(x):
    """Two-sided p of the ratio among random orders of the same values, ties and all."""
    random, ranks = np.random.default_rng(178), stats.rankdata(x)
    ratio = lambda r: np.sum(np.diff(r, axis=-1) ** 2, axis=-1) / np.sum((ranks - ranks.mean()) ** 2)
    orders = random.permuted(np.tile(ranks, (40_000, 1)), axis=1)
    return [np.mean(np.abs(ratio(orders) - 2) >= abs(ratio(ranks) - 2) - 1e-12)]


def fisher(x):
    return [stats.fisher_exact([[int(x[0]), int(x[1])], [int(x[2]), int(x[3])]]).pvalue]


def binomial(x):
    interval = stats.binomtest(int(x[0]), int(x[1])).proportion_ci(1 - x[2], method="exact")
    return [interval.low, interval.high]


def kolmogorov(x):
    return [stats.kstest(x, "uniform", alternative="greater", method="exact").pvalue]


def lowland(x):
    """Akinshin's detector, from his description: a valley between two peaks parts two modes if its ground, up to the
    level of the lower peak, is less than half of it. Peaks are dealt with from the left; of a hill, the peaks that no
    later one exceeds are kept."""
    edges = np.concatenate([[min(x)], np.asarray(hdquantiles(x, prob=np.arange(1, 100) / 100)), [max(x)]])
    height = 0.01 / np.diff(edges)
    peaks = [i for i in range(1, 99) if height[i - 1] < height[i] >= height[i + 1]]

    def parted(left, right):
        level = min(height[left], height[right])
        wet = [i for i in range(left, right + 1) if height[i] <= level]
        first, last = wet[0], wet[-1]
        return (last - first + 1) / 100 / (level * (edges[last + 1] - edges[first])) < 0.5

    modes, hill = [], []
    for peak in peaks:
        while hill:
            if parted(hill[-1], peak):
                modes.append(max(hill, key=lambda i: height[i]))
                hill = []
            elif height[hill[-1]] < height[peak]:
                hill.pop()
            else:
                break
        hill.append(peak)
    if hill:
        modes.append(max(hill, key=lambda i: height[i]))
    return [(edges[i] + edges[i + 1]) / 2 for i in modes]


def welch(x):
    """The first number says how many of the others are in the first group."""
    first = int(x[0])
    return [stats.ttest_ind(x[1 : 1 + first], x[1 + first :], equal_var=False).pvalue]


QUESTIONS = [kendall, bartels, bartels_by_permutation, fisher, binomial, kolmogorov, lowland, welch]

for line in sys.stdin:
    question, *numbers = [float(word) for word in line.split()]
    print(*[repr(float(answer)) for answer in QUESTIONS[int(question)](np.array(numbers))])
