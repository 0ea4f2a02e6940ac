//! Does a list of values have more than one mode?
