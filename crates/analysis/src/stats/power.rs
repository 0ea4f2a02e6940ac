//! How many blocks a difference needs, from a pilot; and what a finished study could have seen.
