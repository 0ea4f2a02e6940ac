//! How a call is written down, by one definition for the wrapper and for who reads it: a [`Head`], then, each ending in
//! NUL, the name it was called by, the real tool, the folder and the words; then the response files that words name
//! with `@`, each a length of 8 bytes ([`UNREADABLE`] if there is none) and its content. Whole numbers are in the byte order of the machine.

/// The first thing of every record.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Head {
    /// [`MAGIC`].
    pub magic: u64,
    /// Bytes that follow.
    pub length: u64,
    /// The process, which the tool keeps.
    pub pid: u32,
    /// The process that called it.
    pub parent: u32,
    /// How many words.
    pub words: u32,
    /// How many response files follow, of the first words that name one.
    pub files: u32,
    /// How many objects were put into another order; 0 if that was not asked for.
    pub shuffled: u32,
    /// Whether a driver of gcc called it: 1 or 0.
    pub nested: u32,
}

/// Bytes that no program's words hold, since the first of them is NUL and the second no character. It names the version.
pub const MAGIC: u64 = u64::from_ne_bytes(*b"\0\x01bkcall");

/// No more of a response file is written down.
pub const MOST_OF_FILE: usize = 256 << 10;
/// The length of one that could not be read.
pub const UNREADABLE: u64 = u64::MAX;
/// No more of them.
pub const MOST_FILES: usize = 8;

/// What stands, for a command that is confined, before the folders that it may only read.
pub const READABLE: &str = "-r";

/// The names of variables that the wrapper looks at.
pub mod variable {
    /// The file that records are appended to, which is there already.
    pub const LOG: &str = "BAKEOFF_TOOL_LOG";
    /// Any text: objects to link are shuffled by it.
    pub const SEED: &str = "BAKEOFF_LINK_SEED";
    /// The path of what keeps the output of compilers, which is put before drivers.
    pub const CACHE: &str = "BAKEOFF_COMPILER_CACHE";
    /// Words for every compilation and link, each on a line of its own; the same holds for the next three.
    pub const APPEND: &str = "BAKEOFF_APPEND";
    /// Words for what compiles C.
    pub const APPEND_C: &str = "BAKEOFF_APPEND_C";
    /// Words for what compiles C++.
    pub const APPEND_CXX: &str = "BAKEOFF_APPEND_CXX";
    /// Words for links.
    pub const APPEND_LINK: &str = "BAKEOFF_APPEND_LINK";
    /// Words by which gcc makes or uses a profile, in what compiles code or links and is no probe.
    pub const PROFILE: &str = "BAKEOFF_PROFILE";
    /// The same for clang.
    pub const PROFILE_CLANG: &str = "BAKEOFF_PROFILE_CLANG";
    /// The path of the C compiler that is run in place of any other.
    pub const CC: &str = "BAKEOFF_CC";
    /// The path of the C++ compiler, likewise.
    pub const CXX: &str = "BAKEOFF_CXX";
    /// Words for what rustc compiles.
    pub const RUSTFLAGS: &str = "BAKEOFF_RUSTFLAGS";
    /// The path of what the study puts between cargo and rustc, which is run before rustc.
    pub const RUSTC_WRAPPER: &str = "BAKEOFF_RUSTC_WRAPPER";
    /// The compilers, by their paths, that are being run and have called us: none of them is run once more.
    pub const WITHIN: &str = "BAKEOFF_WITHIN";
}

/// What follows [`variable::LOG`] in the name of the folder that keeps the objects of links, each under its full path.
pub const KEPT: &str = ".kept";
/// Stands for a slash in these names.
pub const KEPT_SLASH: u8 = b'\\';
/// The kernel has no longer names.
pub const LONGEST_KEPT: usize = 255;

/// The name of the program, which no tool has.
pub const PROGRAM: &str = "bakeoff-wrapper";
/// In the folder of the program, the folder in which a covered build sees the file system without covers.
pub const UNCOVERED: &str = "uncovered";
/// There, the file in which it sees the variables that it was started with; for anybody else it is empty.
pub const VARIABLES: &str = "variables";
/// In the program, what stands before the place for the folder that it is in.
pub const FOLDER_MARK: &[u8; 16] = b"\0\x01bakeoff-folder";
/// No longer folder has room there; a NUL follows it.
pub const LONGEST_FOLDER: usize = 1024;

/// The name by which it covers files, confines a command and becomes it: `bakeoff-confine WRITABLE… -- COVERED… -- COMMAND…`.
pub const CONFINE: &str = "bakeoff-confine";
/// The name by which it stands between cargo and rustc: `bakeoff-rustc RUSTC WORDS…`.
pub const RUSTC: &str = "bakeoff-rustc";
