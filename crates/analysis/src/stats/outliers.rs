//! Which values are far from the others, by double median absolute deviation.
