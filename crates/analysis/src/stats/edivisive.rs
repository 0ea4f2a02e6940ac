//! Where the history of a metric changes (E-divisive).
