//! Evidence that may be looked at any time: the sign-flip e-process and its confidence sequence.
