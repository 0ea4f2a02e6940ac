//! The question and the answer.

/// An object among the words of a link.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    /// The same in every build of the program.
    pub name: &'a str,
    /// The file.
    pub content: &'a [u8],
}

/// A program as it was linked. The caller takes out of all bytes where it was built.
#[derive(Debug, Clone, Default)]
pub struct Program<'a> {
    /// Its objects in their order.
    pub parts: Vec<Part<'a>>,
    /// All other words of the link in their order.
    pub words: Vec<&'a [u8]>,
    /// The file that the link made; none if these are objects that are not linked yet.
    pub linked: Option<&'a [u8]>,
}

/// What is known of two programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// They differ in addresses at most, and in what nothing refers to.
    Same,
    /// They differ in these; there is at least one.
    Differs(Vec<Difference>),
    /// There is no way to know.
    Unknown(Why),
}

/// Something that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What it is.
    pub what: What,
    /// Its name, where it has one.
    pub name: String,
    /// Its size in both programs, if it is a symbol's; none where there is no such symbol.
    pub sizes: [Option<u64>; 2],
}

/// A kind of thing that differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// A function or a datum.
    Symbol,
    /// A section that is run or read as a whole, as the list of constructors is.
    Section,
    /// The order of the parts that have such a section.
    Order,
    /// A word of the link.
    Words,
    /// What the file tells the loader.
    Loading,
}

/// Why there is no way to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// An object is not of ELF for x86-64, or its code is made in the link.
    NotMachineCode,
    /// There are words whose effect depends on addresses: a script of the linker.
    Script,
    /// A symbol or relocation of an unusual kind.
    Unusual,
    /// There is code that belongs to no function.
    Unnamed,
    /// Symbols that only one of them has could take the place of a library's.
    Interposed,
}

impl From<object::Error> for Why {
    fn from(_: object::Error) -> Self {
        Self::NotMachineCode
    }
}
