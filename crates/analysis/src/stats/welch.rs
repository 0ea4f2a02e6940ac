//! Student's t for two unpaired lists, pooled and after Welch. Not for blocks.
