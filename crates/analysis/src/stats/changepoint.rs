//! Where a sequence changes its mean or variance (PELT), and whether a process warms up.
