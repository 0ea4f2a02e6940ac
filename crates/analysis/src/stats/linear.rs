//! Ordinary least squares with robust errors, and the aliases of what cannot be told apart.
