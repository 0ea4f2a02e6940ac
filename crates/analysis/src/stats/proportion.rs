//! Counts and proportions: Fisher's exact test, the binomial interval, uniformity of p-values.
