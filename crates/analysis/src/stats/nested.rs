//! Nested repetition: components of variance, and how often to repeat on each level (Kalibera & Jones 2013).
