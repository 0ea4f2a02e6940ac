//! The sign-flip test of a plain mean, for comparison with the winsorised one.
