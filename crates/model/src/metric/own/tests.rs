//! Names of metrics, and what workloads declare.
