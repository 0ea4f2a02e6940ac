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
    answer = stats.kstest(x, "uniform", alternative="greater", method="exact")
    return [answer.statistic, answer.pvalue]


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


def partition(x):
    """Optimal partitioning by trying every last segment of every beginning, without pruning; times given are scaled by
    nothing, since the cost's floor is a part of the variance of all."""
    x = (x - x.mean()) / x.std()
    n, gaps = len(x), np.diff(np.sort(x))
    floor = max(gaps[gaps > 1e-9].min() ** 2 / 12, 1e-10)

    def cost(part):
        variance = max(np.var(part), floor)
        return len(part) * np.log(variance) + np.sum((part - np.mean(part)) ** 2) / variance

    penalty, best, changes = 15 * np.log(n), [0.0] + [np.inf] * n, [[] for _ in range(n + 1)]
    for end in range(2, n + 1):
        for last in range(end - 1):
            if not np.isfinite(best[last]):
                continue
            value = best[last] + cost(x[last:end]) + (penalty if last else 0)
            if value < best[end]:
                best[end], changes[end] = value, changes[last] + ([last] if last else [])
    return changes[n]


def energy(x, y):
    """The statistic Q of Matteson & James, from all pairs."""
    n, m = len(x), len(y)
    pairs = lambda a: sum(abs(a[i] - a[k]) for i in range(len(a)) for k in range(i + 1, len(a)))
    between = sum(abs(a - b) for a in x for b in y)
    of_x = pairs(x) * 2 / (n * (n - 1)) if n > 1 else 0.0
    of_y = pairs(y) * 2 / (m * (m - 1)) if m > 1 else 0.0
    return m * n / (m + n) * (2 / (m * n) * between - of_x - of_y)


def divisive(x, window=30, most_p=0.01, least=0.05):
    """E-divisive in sliding windows with Student's t as the gate, then the joining of the windows."""

    def p_value(left, right):
        if len(left) + len(right) < 3:
            return 1.0
        squares = sum(np.sum((part - part.mean()) ** 2) for part in (left, right))
        degrees = len(left) + len(right) - 2
        error = np.sqrt(squares / degrees * (1 / len(left) + 1 / len(right)))
        return 2 * stats.t(degrees).sf(abs(left.mean() - right.mean()) / error)

    def around(place, places, length):
        return max([0] + [c for c in places if c < place]), min([length] + [c for c in places if c > place])

    def within(part):
        found = []
        while True:
            ends, best = [0] + sorted(found) + [len(part)], None
            for low, high in zip(ends, ends[1:]):
                for split in range(low + 1, high):
                    for end in range(split + 1, high + 1):
                        q = energy(part[low:split], part[split:end])
                        if best is None or q > best[0]:
                            best = (q, split)
            if best is None:
                return sorted(found)
            low, high = around(best[1], found, len(part))
            if p_value(part[low : best[1]], part[best[1] : high]) > 10 * most_p:
                return sorted(found)
            found.append(best[1])

    places, start = set(), 0
    while start < len(x):
        new = [start + c for c in within(x[start : start + window])]
        places |= set(new)
        start = max(new[-1] if new else 0, start + window // 2)
    while places:
        seen = []
        for place in sorted(places):
            low, high = around(place, places, len(x))
            left, right = x[low:place], x[place:high]
            ratio = right.mean() / left.mean()
            seen.append((p_value(left, right), max(abs(ratio - 1), abs(1 / ratio - 1)), place))
        worst, smallest = max(seen), min(seen, key=lambda s: s[1])
        if worst[0] > most_p:
            places.remove(worst[2])
        elif smallest[1] < least:
            places.remove(smallest[2])
        else:
            break
    return sorted(places)


def welch(x):
    """The first number says how many of the others are in the first group."""
    first = int(x[0])
    return [stats.ttest_ind(x[1 : 1 + first], x[1 + first :], equal_var=False).pvalue]


QUESTIONS = [kendall, bartels, bartels_by_permutation, fisher, binomial, kolmogorov, lowland, partition, divisive, welch]

for line in sys.stdin:
    question, *numbers = [float(word) for word in line.split()]
    print(*[repr(float(answer)) for answer in QUESTIONS[int(question)](np.array(numbers))])
