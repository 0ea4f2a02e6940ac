//! The bootstrap, percentile and BCa, as others use it: so that calibration can show what it does.
