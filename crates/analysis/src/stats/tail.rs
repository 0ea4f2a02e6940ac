//! Quantiles of one long list of latencies, with their intervals by order statistics.
