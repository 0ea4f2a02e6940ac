//! Tests and intervals by ranks: signed ranks of paired contrasts, and Mann and Whitney's for two unpaired lists.
