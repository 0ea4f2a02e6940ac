"""statsmodels' OLS with the blocks written out and HC3 errors: for each model of full rank (input as for linear.R), a
line "estimate, se, p, low, high" (95 %) for each main effect against level 0 and each two-way interaction."""

import sys
import numpy as np
import statsmodels.api as sm

lines = [[float(w) for w in line.split()] for line in sys.stdin]
lines.reverse()


def code(level, n):
    return np.full(n - 1, -1.0) if level == n - 1 else np.eye(n - 1)[level]


while lines:
    head = lines.pop()
    k, with_interactions, levels = int(head[0]), int(head[1]), [int(n) for n in head[2:]]
    block = np.array(lines.pop())
    factors = [np.array(lines.pop(), dtype=int) for _ in range(k)]
    y = np.array(lines.pop())
    parts = [np.array([block == b for b in np.unique(block)], dtype=float).T]
    coded = [np.array([code(l, n) for l in f]) for f, n in zip(factors, levels)]
    effects = []
    for f in range(k):
        for level in range(1, levels[f]):
            effects.append((len(parts), code(level, levels[f]) - code(0, levels[f])))
        parts.append(coded[f])
    for f in range(k if with_interactions else 0):
        for g in range(f + 1, k):
            for a in range(1, levels[f]):
                for b in range(1, levels[g]):
                    weights = np.kron(code(a, levels[f]) - code(0, levels[f]), code(b, levels[g]) - code(0, levels[g]))
                    effects.append((len(parts), weights))
            parts.append(np.einsum("ni,nj->nij", coded[f], coded[g]).reshape(len(y), -1))
    fit = sm.OLS(y, np.hstack(parts)).fit().get_robustcov_results("HC3", use_t=True)
    starts = np.cumsum([0] + [p.shape[1] for p in parts])
    for part, weights in effects:
        c = np.zeros(starts[-1])
        c[starts[part]:starts[part + 1]] = weights
        test = fit.t_test(c)
        low, high = test.conf_int(0.05)[0]
        print(*(repr(float(np.squeeze(x))) for x in (test.effect, test.sd, test.pvalue, low, high)))
