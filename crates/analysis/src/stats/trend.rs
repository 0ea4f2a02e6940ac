//! Do block means drift, or depend on their predecessors? Mann and Kendall's test, and Bartels's.
