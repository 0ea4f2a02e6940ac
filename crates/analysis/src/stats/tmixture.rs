//! The mixture of t statistics that may be looked at any time, for normal contrasts.
