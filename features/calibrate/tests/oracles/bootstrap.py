"""Percentile and BCa intervals by scipy, from resampled means that it is given. Lines come in pairs: values, means."""
import sys
from types import SimpleNamespace
import numpy as np
from scipy.stats import bootstrap

lines = [np.array(line.split(), float) for line in sys.stdin]
for values, means in zip(lines[::2], lines[1::2]):
    ends = []
    for method in ["percentile", "BCa"]:
        # With no resamples of its own, scipy takes those of an earlier call.
        earlier = SimpleNamespace(bootstrap_distribution=means)
        found = bootstrap((values,), np.mean, n_resamples=0, method=method, bootstrap_result=earlier,
                          confidence_level=0.95).confidence_interval
        ends += [found.low, found.high]
    print(*(repr(float(x)) for x in ends))
