//! What published summaries allow to be recomputed: three values from average, minimum and maximum, t from moments.
