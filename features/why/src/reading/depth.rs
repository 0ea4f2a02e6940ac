//! How much of a file a caller wants to know: the rest is not read.

/// How much of a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Its relocations are counted, and of the rest only that is read which it takes to find them: no name either.
    Counts,
    /// Its relocations, and the names of what they are for.
    Relocations,
    /// Everything.
    All,
}
