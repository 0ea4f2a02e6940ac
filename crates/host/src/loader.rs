//! Which files run with a program: the interpreter that its first line names, or the dynamic loader and the libraries
//! that this takes for it (ld.so(8), gABI chapter 5), and theirs. It reads headers and starts nothing. What a program
//! opens by itself while it is run is not known here.

use crate::linking::{Linking, linking_of};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Where the loader looks last.
const DEFAULT: [&str; 4] = ["/lib64", "/usr/lib64", "/lib", "/usr/lib"];
/// The list of folders that are searched before those.
const CONFIGURED: &str = "/etc/ld.so.conf";
/// The longest first line that Linux reads (BINPRM_BUF_SIZE).
const FIRST_LINE_BYTES: u64 = 256;
/// Lists of folders may include others, so deep at most.
const MOST_NESTED: u32 = 4;

/// These files and those that run with them, each once, under the path that the system finds it by; `most` at most, and
/// what these files are comes before what they need. `library_path` is the `LD_LIBRARY_PATH` that they get.
pub fn executed_with(files: &[PathBuf], library_path: Option<&str>, most: usize) -> Vec<PathBuf> {
    let mut configured = vec![];
    folders_of(Path::new(CONFIGURED), &mut configured, MOST_NESTED);
    configured.extend(DEFAULT.map(PathBuf::from));
    let library_path: Vec<PathBuf> =
        library_path.iter().flat_map(|list| std::env::split_paths(list)).filter(|path| path.is_absolute()).collect();
    let search = Search { library_path, configured };
    let mut seen = BTreeSet::new();
    let mut found: Vec<PathBuf> = vec![];
    let mut add = |path: PathBuf, found: &mut Vec<PathBuf>| {
        let is_new = path.is_file() && seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone()));
        if is_new && found.len() < most {
            found.push(path);
        }
    };
    files.iter().for_each(|file| add(file.clone(), &mut found));
    let mut next = 0;
    while let Some(path) = found.get(next).cloned() {
        next += 1;
        search.needs(&path).into_iter().for_each(|path| add(path, &mut found));
    }
    found
}

/// Where libraries are looked for.
struct Search {
    library_path: Vec<PathBuf>,
    configured: Vec<PathBuf>,
}

impl Search {
    fn needs(&self, path: &Path) -> Vec<PathBuf> {
        if let Some(interpreter) = script_interpreter(path) {
            return vec![interpreter];
        }
        let Some(linking) = linking_of(path) else { return vec![] };
        let class = class_of(path);
        let folders = self.folders(path, &linking);
        let library = |name: &String| match name.contains('/') {
            true => Some(PathBuf::from(name)),
            false => folders.iter().map(|folder| folder.join(name)).find(|path| class_of(path) == class),
        };
        let libraries = linking.needed.iter().filter_map(library);
        linking.interpreter.iter().map(PathBuf::from).chain(libraries).collect()
    }

    fn folders(&self, path: &Path, linking: &Linking) -> Vec<PathBuf> {
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let origin = real.parent().map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default();
        let list = |list: &Option<String>| -> Vec<PathBuf> {
            let entries = list.as_deref().unwrap_or_default().split(':').filter(|entry| !entry.is_empty());
            entries.map(|entry| entry.replace("${ORIGIN}", &origin).replace("$ORIGIN", &origin).into()).collect()
        };
        // A file with the newer list ignores the older one.
        let rpath = if linking.runpath.is_some() { vec![] } else { list(&linking.rpath) };
        let known = [rpath, self.library_path.clone(), list(&linking.runpath), self.configured.clone()];
        known.into_iter().flatten().collect()
    }
}

/// Whether a file is an ELF file of 32 or of 64 bits; none if it is neither.
fn class_of(path: &Path) -> Option<u8> {
    let mut ident = [0; 5];
    path.is_file().then_some(())?;
    File::open(path).ok()?.read_exact(&mut ident).ok()?;
    ident.starts_with(b"\x7fELF").then_some(ident[4])
}

/// What the first line of a script names (execve(2)).
fn script_interpreter(path: &Path) -> Option<PathBuf> {
    let mut line = vec![];
    path.is_file().then_some(())?;
    File::open(path).ok()?.take(FIRST_LINE_BYTES).read_to_end(&mut line).ok()?;
    let line = String::from_utf8_lossy(line.split(|byte| *byte == b'\n').next()?.strip_prefix(b"#!")?).into_owned();
    line.split_whitespace().next().map(PathBuf::from)
}

/// The folders of a list like /etc/ld.so.conf (ldconfig(8)).
fn folders_of(list: &Path, folders: &mut Vec<PathBuf>, nested: u32) {
    let text = fs::read_to_string(list).unwrap_or_default();
    for line in text.lines().map(|line| line.split('#').next().unwrap_or_default().trim()) {
        let Some(included) = line.strip_prefix("include ") else {
            folders.extend(line.starts_with('/').then(|| PathBuf::from(line)));
            continue;
        };
        let pattern = list.parent().unwrap_or(Path::new("/")).join(included.trim());
        let (Some(folder), Some(name)) = (pattern.parent(), pattern.file_name()) else { continue };
        let name = name.to_string_lossy();
        let (begin, end) = name.split_once('*').unwrap_or((&name, ""));
        let mut lists: Vec<PathBuf> = fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()).collect();
        lists.sort();
        let fits = |path: &&PathBuf| {
            let found = path.file_name().unwrap_or_default().to_string_lossy();
            if name.contains('*') { found.starts_with(begin) && found.ends_with(end) } else { found == name }
        };
        for list in lists.iter().filter(fits).filter(|_| nested > 0) {
            folders_of(list, folders, nested - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn names(found: &[PathBuf]) -> Vec<String> {
        found.iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_program_comes_with_its_loader_and_its_libraries() {
        let found = executed_with(&["/bin/sh".into()], None, 100);
        let names = names(&found);
        assert!(names[0] == "sh" && names.iter().any(|name| name.starts_with("libc.so.")), "{names:?}");
        assert!(names.iter().any(|name| name.starts_with("ld-linux")), "{names:?}");
        assert_eq!(executed_with(&["/bin/sh".into(), "/bin/sh".into()], None, 100), found, "each once");
        assert_eq!(executed_with(&["/bin/sh".into()], None, 2).len(), 2);
        assert_eq!(executed_with(&["/nowhere".into()], None, 9), Vec::<PathBuf>::new());
    }

    #[test]
    fn a_script_comes_with_its_interpreter() {
        let dir = tempfile::tempdir().unwrap();
        let script = dir.path().join("script");
        fs::write(&script, "#! /bin/sh -e\ntrue\n").unwrap();
        let names = names(&executed_with(&[script], None, 100));
        assert_eq!(names[..2], ["script", "sh"]);
        assert!(names.iter().any(|name| name.starts_with("libc.so.")), "{names:?}");
    }

    #[test]
    fn libraries_are_found_where_the_loader_finds_them() {
        let dir = tempfile::tempdir().unwrap();
        let make = |words: &[&str]| {
            assert!(Command::new("cc").args(words).current_dir(dir.path()).status().unwrap().success())
        };
        fs::write(dir.path().join("l.c"), "int f(void) { return 1; }\n").unwrap();
        fs::write(dir.path().join("p.c"), "int f(void); int main(void) { return f(); }\n").unwrap();
        fs::create_dir(dir.path().join("lib")).unwrap();
        fs::create_dir(dir.path().join("other")).unwrap();
        make(&["-shared", "-fPIC", "-o", "lib/libf.so", "l.c"]);
        fs::copy(dir.path().join("lib/libf.so"), dir.path().join("other/libf.so")).unwrap();
        // One of another kind is passed over.
        fs::create_dir(dir.path().join("no")).unwrap();
        fs::write(dir.path().join("no/libf.so"), "INPUT(x)\n").unwrap();
        let check = |flags: &[&str], library_path: Option<&str>, expect: Option<&str>| {
            make(&[&["-o", "p", "p.c", "-Llib", "-lf"], flags].concat());
            let found = executed_with(&[dir.path().join("p")], library_path, 100);
            let library = found.iter().find(|path| path.ends_with("libf.so"));
            assert_eq!(library, expect.map(|folder| dir.path().join(folder).join("libf.so")).as_ref(), "{flags:?}");
        };
        let [lib, no] = ["lib", "no"].map(|name| dir.path().join(name).display().to_string());
        check(&[], None, None);
        check(&[], Some(&format!("{no}:{lib}")), Some("lib"));
        check(&["-Wl,--enable-new-dtags,-rpath,$ORIGIN/other"], None, Some("other"));
        check(&["-Wl,--enable-new-dtags,-rpath,$ORIGIN/other"], Some(&lib), Some("lib"));
        check(&["-Wl,--disable-new-dtags,-rpath,$ORIGIN/other"], Some(&lib), Some("other"));
    }

    #[test]
    fn lists_of_folders_include_others() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        fs::create_dir(dir.path().join("d")).unwrap();
        write("conf", "/first # why\ninclude d/*.conf\nhwcap 0 x\n/last\n");
        write("d/a.conf", "# nothing\n/a\n");
        write("d/b.conf", "/b\ninclude ../conf\n");
        write("d/c.txt", "/c\n");
        let mut folders = vec![];
        folders_of(&dir.path().join("conf"), &mut folders, 1);
        assert_eq!(folders, ["/first", "/a", "/b", "/last"].map(PathBuf::from));
    }
}
