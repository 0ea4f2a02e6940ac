//! Reads the small text files by which Linux describes itself; an absent one is `None`. Tests make their own root.

use std::path::PathBuf;

/// The files below a root; paths are given without a leading slash.
#[derive(Debug)]
pub struct Files {
    root: PathBuf,
}

impl Files {
    /// Those of this machine.
    pub fn here() -> Self {
        Self { root: PathBuf::from("/") }
    }

    /// Those of a machine that is described below a folder.
    pub fn below(root: PathBuf) -> Self {
        Self { root }
    }

    /// The text of a file without surrounding white space; none if it cannot be read or is empty.
    pub fn read(&self, path: &str) -> Option<String> {
        let bytes = std::fs::read(self.root.join(path)).ok()?;
        // Device-tree strings end in NUL.
        let text = String::from_utf8_lossy(&bytes).trim_matches(|c: char| c.is_whitespace() || c == '\0').to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// The same, for a file that the kernel writes in one go: with few system calls, as it is read between trials.
    pub(crate) fn read_at_once(&self, path: &str) -> Option<String> {
        let text = at_once(&std::fs::File::open(self.root.join(path)).ok()?).ok()?;
        (!text.is_empty()).then_some(text)
    }

    pub(crate) fn exists(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }

    /// The names in a folder, sorted; empty if it cannot be read.
    pub fn names(&self, folder: &str) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.root.join(folder)) else { return vec![] };
        let mut names: Vec<_> = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// The value after `key` and a colon in a file of such lines.
    pub fn field(&self, path: &str, key: &str) -> Option<String> {
        let text = self.read(path)?;
        text.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            (name.trim() == key).then(|| value.trim().to_owned())
        })
    }
}

/// A file that the kernel writes again for each reading from its beginning. It stays open: it is read before each trial.
#[derive(Debug)]
pub(crate) struct Open(std::fs::File);

impl Open {
    /// None if it is not there.
    pub(crate) fn of(files: &Files, path: &str) -> Option<Self> {
        std::fs::File::open(files.root.join(path)).ok().map(Self)
    }

    /// What is in it now; none if it cannot be read or is longer than such files are.
    pub(crate) fn text(&self) -> Option<String> {
        use std::os::unix::fs::FileExt as _;
        let mut buffer = [0; 512];
        let length = self.0.read_at(&mut buffer, 0).ok().filter(|&length| length < buffer.len())?;
        String::from_utf8(buffer[..length].to_vec()).ok()
    }
}

/// The text of a file that the kernel writes in one go, without surrounding white space.
pub(crate) fn at_once(mut file: &std::fs::File) -> std::io::Result<String> {
    use std::io::Read as _;
    let mut buffer = [0; 4096];
    let length = file.read(&mut buffer)?;
    let mut bytes = buffer[..length].to_vec();
    // What does not fit is long, and rare.
    if length == buffer.len() {
        file.read_to_end(&mut bytes)?;
    }
    Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
}

#[cfg(test)]
impl Files {
    /// Writes a machine into a folder: pairs of path and text.
    pub(crate) fn made_of(root: &std::path::Path, files: &[(&str, &str)]) -> Self {
        for (path, text) in files {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Self { root: root.to_owned() }
    }
}
