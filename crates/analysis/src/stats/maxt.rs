//! Single-step max-T over several contrasts of the same blocks.
