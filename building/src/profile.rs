//! Optimising by a profile: what a layer's two builds get, the training between them, and how many compilations had a
//! profile to use. The layer is built elsewhere. gcc finds a profile by the path of the object, so that both builds
//! must be made in the same folder.

use crate::error::{At, Error, Stop};
use crate::files::fresh_folder;
use crate::journal::{self, FlagSeen};
use crate::paths::PROFILE as PROFILE_FOLDER;
use crate::shell::Shell;
use crate::site::Site;
use crate::trained::one_line;
use crate::wrapper::{PROFILE, PROFILE_CLANG};
use crate::wrappers::{Compilation, OfGcc, Profiles};
use bakeoff_model::metric::Measurements;
use bakeoff_report::words::counted;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// What clang's profile is called.
const OF_CLANG: &str = "clang.profdata";

/// Merges what programs of clang left: $1 is the compiler, $2 the folder.
const MERGE: &str = r#"tool=$("$1" -print-prog-name=llvm-profdata)
"$tool" merge -o "$2/clang.profdata" "$2"/*.profraw
rm -f "$2"/*.profraw
"$tool" show --all-functions "$2/clang.profdata" >"$2/functions""#;

/// Lists what is defined in the files that the file `outputs` names: $1 is the compiler, $2 the folder.
const LIST: &str = r#"tool=$("$1" -print-prog-name=llvm-nm)
"$tool" -A -P --defined-only "@$2/outputs" >"$2/symbols""#;

/// Who has profiles that nobody here makes.
const OTHERS: &str = "pass profiles for rustc and Go as options (-C profile-use, -pgo)";

/// No more of the compilations without a profile are named in the log.
const NAMED: usize = 20;

/// The profile of a layer.
pub(crate) struct Profile {
    folder: PathBuf,
    command: String,
}

impl Profile {
    /// Has the compilers make a profile from now on. `command` is the training.
    pub(crate) fn begin(site: &mut Site, command: &str) -> Result<Self, Error> {
        let folder = site.work.join(PROFILE_FOLDER);
        fresh_folder(&folder)?;
        // Threads, and processes that fork, count together.
        let words = format!("-fprofile-generate={}\n-fprofile-update=atomic", folder.display());
        for variable in [PROFILE, PROFILE_CLANG] {
            site.env.insert(variable.to_owned(), words.clone());
        }
        Ok(Self { folder, command: command.to_owned() })
    }

    /// Has the compilers use the profile that another build has left, of which a copy is in the work folder.
    pub(crate) fn again(site: &mut Site) -> Self {
        let profile = Self { folder: site.work.join(PROFILE_FOLDER), command: String::new() };
        profile.switch(site, profile.folder.join(OF_CLANG).exists());
        // Whose sources have other paths: why that matters is found out later, and said.
        if let Some(words) = site.env.get_mut(PROFILE) {
            words.push_str("\n-Wno-error=coverage-mismatch");
        }
        profile
    }

    /// Runs the training on what the first build installed, and has the compilers use the profile from then on: what
    /// it cost.
    pub(crate) fn train(&self, shell: &mut Shell, site: &mut Site) -> Result<Measurements, Stop> {
        let (compilations, crates) = site.around.compilations(&site.work, &Profiles::default())?;
        if compilations.is_empty() {
            return Err(shell.failure(nothing(crates), &site.work)?.into());
        }
        let clang = site.around.clang(&self.folder)?;
        // Programs that the build itself run have left profiles, too.
        fresh_folder(&self.folder)?;
        let cost = site.train(shell, &self.command)?;
        let profiles = Profiles::of(&self.folder)?;
        let of_clang = self.merge(shell, site, clang.as_deref())?;
        if profiles.len() == 0 && !of_clang {
            let why = left_none(&compilations, &site.work.join("tmp"));
            return Err(shell
                .failure(format!("the training `{}` wrote no profile: {why}", one_line(&self.command)), &site.work)?
                .into());
        }
        shell.note(&format!(
            "profiles of {}{}",
            counted(profiles.len() as u32, "object"),
            if of_clang { ", and one from clang" } else { "" }
        ))?;
        self.switch(site, of_clang);
        Ok(cost)
    }

    /// The words of the second build.
    fn switch(&self, site: &mut Site, of_clang: bool) {
        let folder = self.folder.display();
        // Threads that still count when the program exits leave numbers that contradict each other. A file without a
        // profile is no fault of the project's, and with -Werror it would be one.
        let gcc = format!("-fprofile-use={folder}\n-fprofile-correction\n-Wno-missing-profile");
        site.env.insert(PROFILE.to_owned(), gcc);
        site.env.remove(PROFILE_CLANG);
        if of_clang {
            // A function that is called like one of another program, such as `main`, gets a warning.
            let clang = format!("-fprofile-use={folder}/{OF_CLANG}\n-Wno-error=backend-plugin");
            site.env.insert(PROFILE_CLANG.to_owned(), clang);
        }
    }

    /// Makes one file of what programs of clang left, if they left anything.
    fn merge(&self, shell: &mut Shell, site: &Site, clang: Option<&Path>) -> Result<bool, Stop> {
        let entries = fs::read_dir(&self.folder).at("list", &self.folder)?.flatten();
        let has_any = entries.into_iter().any(|entry| entry.path().extension().is_some_and(|end| end == "profraw"));
        let Some(clang) = clang.filter(|_| has_any) else { return Ok(false) };
        self.tool(shell, site, MERGE, clang, "llvm-profdata")?;
        Ok(true)
    }

    /// Runs a script that calls a tool of LLVM.
    fn tool(&self, shell: &mut Shell, site: &Site, script: &str, clang: &Path, name: &str) -> Result<(), Stop> {
        let words = [clang, &self.folder].map(|path| path.display().to_string());
        let argv = ["sh", "-e", "-c", script, "sh", &words[0], &words[1]];
        let ended = shell.execute(&argv, &site.tree, &site.plain_env())?;
        if let Some(complaint) = shell.complaint(&ended.end) {
            let why = format!(
                "cannot read clang's profile: {name} {complaint}; install the version that matches {} (often in the \
                 package llvm)",
                clang.display()
            );
            return Err(shell.failure(why, &site.work)?.into());
        }
        Ok(())
    }

    /// How many compilations of the second build used a profile: at least one.
    pub(crate) fn seen(&self, shell: &mut Shell, layer: &str, site: &Site) -> Result<FlagSeen, Stop> {
        let profiles = Profiles::of(&self.folder)?;
        let (compilations, crates) = site.around.compilations(&site.work, &profiles)?;
        let of_clang = self.used_by_clang(shell, site, &compilations)?;
        let used = |one: &&Compilation| one.of_gcc == OfGcc::There || of_clang.contains(&one.output);
        let without: Vec<&Compilation> = compilations.iter().filter(|one| !used(one)).collect();
        let (reached, of) = (compilations.len() - without.len(), compilations.len() + crates);
        shell.note(&format!("{reached} of {} used a profile", counted(of as u32, "compilation")))?;
        for one in without.iter().take(NAMED) {
            let name = one.output.strip_prefix(&site.tree).unwrap_or(&one.output);
            shell.note(&format!("without a profile: {}{}", name.display(), reason(one.of_gcc)))?;
        }
        if crates > 0 {
            shell.note(&format!("without a profile: {}; {OTHERS}", counted(crates as u32, "crate")))?;
        }
        if reached == 0 {
            let why = format!(
                "no compilation found its profile (compilations: {of}, profiles: {}); make sure that the script builds \
                    in a folder with the same name each time",
                profiles.len()
            );
            return Err(shell.failure(why, &site.work)?.into());
        }
        Ok(FlagSeen {
            layer: layer.to_owned(),
            variable: journal::PROFILE.to_owned(),
            flag: "-fprofile-use".to_owned(),
            reached: reached as u64,
            of: of as u64,
            ..FlagSeen::default()
        })
    }

    /// Checks that a layout, which is compiled in a folder of another name, finds as much of the profile as the build
    /// did.
    pub(crate) fn found(&self, shell: &mut Shell, layer: &str, site: &Site, of_build: &[FlagSeen]) -> Result<(), Stop> {
        let (compilations, _) = site.around.compilations(&site.work, &Profiles::default())?;
        let why = if compilations.iter().any(|one| one.by_full_path) {
            // gcc and clang alike name those functions by it that no other file can call.
            "a profile identifies functions by file path, and the script compiles files by their full paths, which \
             differ in each layout"
                .to_owned()
        } else {
            let seen = self.seen(shell, layer, site)?;
            let before = of_build.iter().find(|flag| flag.is_of_profile()).map_or(0, |flag| flag.reached);
            if seen.reached >= before {
                return Ok(());
            }
            format!(
                "only {} in a layout found the profile, compared with {before} in the build",
                counted(seen.reached as u32, "compilation")
            )
        };
        Err(site.failure(shell, format!("{why}; give the layer a `relink` script that only links"))?.into())
    }

    /// What clang's compilations made, as far as the profile has a function of it.
    fn used_by_clang(
        &self,
        shell: &mut Shell,
        site: &Site,
        compilations: &[Compilation],
    ) -> Result<BTreeSet<PathBuf>, Stop> {
        let functions = self.folder.join("functions");
        let clang = site.around.clang(&self.folder)?;
        let Some(clang) = clang.filter(|_| functions.exists()) else { return Ok(BTreeSet::new()) };
        let outputs = compilations.iter().filter(|one| one.of_gcc != OfGcc::There && one.output.is_file());
        let outputs: Vec<&Path> = outputs.map(|one| one.output.as_path()).collect();
        if outputs.is_empty() {
            return Ok(BTreeSet::new());
        }
        let list = self.folder.join("outputs");
        let quoted: String = outputs.iter().map(|path| format!("\"{}\"\n", path.display())).collect();
        fs::write(&list, quoted).at("write", &list)?;
        self.tool(shell, site, LIST, &clang, "llvm-nm")?;
        let symbols = self.folder.join("symbols");
        let [functions, symbols] = [(&functions), (&symbols)].map(|path| fs::read(path).at("read", path));
        let [functions, symbols] = [functions?, symbols?].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        Ok(matched(&functions_of(&functions), &outputs, &symbols).into_iter().map(Path::to_owned).collect())
    }
}
/// What a first build lacks, if the last lines of its log say so.
pub(crate) fn hint(tail: &[String]) -> &'static str {
    match tail.iter().any(|line| line.contains("libclang_rt.profile")) {
        true => "; install clang's profiling runtime (Debian package libclang-rt-dev)",
        false => "",
    }
}

/// Why there was nothing that could leave a profile.
fn nothing(crates: usize) -> String {
    match crates {
        0 => "nothing to profile: Bakeoff saw no compilation by gcc or clang. It does not see compilers that the \
            project ships, or compilations in $TMPDIR"
            .to_owned(),
        crates => {
            let crates = counted(crates as u32, "crate");
            format!("nothing to profile: rustc compiled {crates}, but gcc and clang compiled nothing; {OTHERS}")
        }
    }
}

/// Why nothing was left by what was compiled, the folder of temporary files being `temporary`.
fn left_none(compilations: &[Compilation], temporary: &Path) -> String {
    let of_go = |one: &Compilation| {
        let below = one.output.strip_prefix(temporary).ok();
        below.is_some_and(|below| below.to_string_lossy().starts_with("go-build"))
    };
    if compilations.iter().all(of_go) {
        return format!("Go programs do not write profiles of their C parts; {OTHERS}");
    }
    let end = if compilations.iter().all(|one| one.of_gcc == OfGcc::TooLong) {
        ". The paths of the object files are also too long for gcc; set BAKEOFF_CACHE to a shorter path"
    } else {
        ""
    };
    format!(
        "it must run a program from $PREFIX, and the program must exit normally; a program ended by a signal or \
         _exit(2) writes no profile{end}"
    )
}

/// Why a compilation has no profile, behind its name, if that is known.
fn reason(of_gcc: OfGcc) -> &'static str {
    match of_gcc {
        OfGcc::Shared => " (another file is compiled to an object file of the same name)",
        OfGcc::TooLong => " (its path is too long for gcc; set BAKEOFF_CACHE to a shorter path)",
        OfGcc::There | OfGcc::Missing => "",
    }
}

/// The functions of a profile, as llvm-profdata shows them, and how many there are of a name: `  main:`, and with the
/// file if it is local, `  a.c:main:`.
fn functions_of(shown: &str) -> BTreeMap<&str, usize> {
    let lines = shown.lines().filter_map(|line| line.strip_prefix("  ")?.strip_suffix(':'));
    let mut functions = BTreeMap::new();
    for name in lines.filter(|name| !name.starts_with(' ')) {
        *functions.entry(name.rsplit([':', ';']).next().unwrap_or(name)).or_default() += 1;
    }
    functions
}

/// The files that define functions of a profile. Where more files have a function of one name, as `main`, than the
/// profile has, only that number of them is counted; first those that have other functions, too.
fn matched<'p>(functions: &BTreeMap<&str, usize>, files: &[&'p Path], symbols: &str) -> BTreeSet<&'p Path> {
    let mut defining: BTreeMap<&str, Vec<&'p Path>> = BTreeMap::new();
    for file in files {
        for name in symbols_of(symbols, file).filter(|name| functions.contains_key(name)) {
            defining.entry(name).or_default().push(file);
        }
    }
    let (clear, unclear): (Vec<_>, Vec<_>) =
        defining.into_iter().partition(|(name, files)| files.len() <= functions[name]);
    let mut matched: BTreeSet<&Path> = clear.into_iter().flat_map(|(_, files)| files).collect();
    for (name, files) in unclear {
        let (known, open): (Vec<&Path>, Vec<&Path>) = files.into_iter().partition(|file| matched.contains(file));
        matched.extend(open.into_iter().take(functions[name].saturating_sub(known.len())));
    }
    matched
}

/// What a file defines, as llvm-nm lists it: `a.o: main T 0 1f`.
fn symbols_of<'s>(listed: &'s str, path: &Path) -> impl Iterator<Item = &'s str> {
    let start = format!("{}: ", path.display());
    listed.lines().filter_map(move |line| line.strip_prefix(&start)?.split(' ').next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_nothing_was_left() {
        let check = |outputs: &[(&str, OfGcc)], expect: &str| {
            let of =
                |&(output, of_gcc): &(&str, OfGcc)| Compilation { output: output.into(), by_full_path: false, of_gcc };
            let why = left_none(&outputs.iter().map(of).collect::<Vec<_>>(), Path::new("/w/tmp"));
            assert!(why.contains(expect), "{why}");
        };
        let of_go = ("/w/tmp/go-build7/b001/_x002.o", OfGcc::Missing);
        check(
            &[of_go, ("/w/tmp/go-build7/b043/_x001.o", OfGcc::Missing)],
            "Go programs do not write profiles of their C parts",
        );
        check(&[of_go, ("/w/tree/a.o", OfGcc::TooLong)], "a program ended by a signal or _exit(2) writes no profile");
        check(&[("/w/tree/a.o", OfGcc::TooLong)], "set BAKEOFF_CACHE to a shorter path");
        let of_ld = "/usr/bin/ld: cannot find /usr/lib/clang/14/lib/linux/libclang_rt.profile-x86_64.a: No such file";
        assert!(hint(&[of_ld.to_owned()]).contains("libclang-rt-dev") && hint(&["ld: x".to_owned()]).is_empty());
    }

    #[test]
    fn what_tools_of_llvm_print_is_read() {
        let shown = "Counters:\n  main:\n    Hash: 0x02\n    Counters: 2\n  src/a.c:step:\n    Hash: 0x0a\nFunctions shown: 2\n";
        let functions = functions_of(shown);
        assert_eq!(functions, [("main", 1), ("step", 1)].into());
        let listed = "/w/0: main T 0 1f\n/w/a: main T 0 1f\n/w/a: step t 20 4\n/w/b: other T 0 3\n/w/z: main T 0 2\n";
        let files = ["/w/0", "/w/a", "/w/b", "/w/z", "/w/not there"].map(Path::new);
        assert_eq!(matched(&functions, &files, listed), [files[1]].into(), "one of three is the main of the profile");
        assert_eq!(matched(&functions, &[files[0], files[3]], listed).len(), 1);
    }
}
