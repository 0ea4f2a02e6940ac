//! Parcels, packed and opened: the same bytes each time, the same files on the other side, and nothing but a refusal
//! where a parcel was changed or lies.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use bakeoff_model::shuffle::Stream;
use bakeoff_parcel::{Bounds, Error, Manifest, Packing, files_of_study, open};
use bakeoff_testkit::files::{read, sha256};
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use tempfile::TempDir;

/// A study's folder with a script, and a journal.
fn packing(folder: &Path) -> Packing {
    let study = folder.join("study");
    fs::create_dir_all(study.join("patches")).unwrap();
    fs::write(study.join("study.toml"), "format = 1\n").unwrap();
    fs::write(study.join("work.sh"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(study.join("work.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(study.join("patches/one.patch"), "x".repeat(70_000)).unwrap();
    let mut packing = Packing::new("a study");
    for (name, path) in files_of_study(&study).unwrap() {
        packing.file(&format!("study/{name}"), &path).unwrap();
    }
    packing.bytes("journals/default-0.jsonl", b"{}\n".to_vec()).unwrap();
    packing.latest("default-0.jsonl");
    packing
}

fn parcel() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let parcel = folder.path().join("x.tar.zst");
    packing(folder.path()).write(&parcel, false).unwrap();
    (folder, parcel)
}

/// Opens a parcel into a new folder; every file there, by name, with its content and whether it can be run.
fn opened(parcel: &Path) -> Result<Vec<(String, Vec<u8>, bool)>, Error> {
    let folder = tempfile::tempdir().unwrap();
    open(parcel, folder.path(), Bounds::default())?;
    let mut files = vec![];
    let mut left = vec![folder.path().to_owned()];
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            let name = path.strip_prefix(folder.path()).unwrap().to_str().unwrap().to_owned();
            let executable = fs::metadata(&path).unwrap().permissions().mode() & 0o111 != 0;
            files.push((name, fs::read(&path).unwrap(), executable));
        }
    }
    files.sort();
    Ok(files)
}

#[track_caller]
fn refused(parcel: &Path, why: &str) {
    let error = opened(parcel).unwrap_err();
    assert!(matches!(error, Error::Refused { .. }), "{error:?}");
    assert!(error.to_string().contains(why), "{error}");
}

/// A parcel of these entries after a list, written by hand.
fn forged(folder: &Path, manifest: &Manifest, entries: &[(&str, tar::EntryType, &[u8])]) -> PathBuf {
    let path = folder.join("forged.tar.zst");
    let mut tar = tar::Builder::new(zstd::Encoder::new(fs::File::create(&path).unwrap(), 1).unwrap());
    let list = serde_json::to_vec(manifest).unwrap();
    let all = [("top/MANIFEST.json", tar::EntryType::Regular, &list[..])];
    for (name, kind, content) in all.iter().chain(entries) {
        let mut header = tar::Header::new_ustar();
        // As bytes: `set_path` refuses what an attacker would not.
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(*kind);
        if *kind == tar::EntryType::Symlink {
            header.set_link_name("/etc/passwd").unwrap();
        }
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        tar.append(&header, *content).unwrap();
    }
    tar.into_inner().unwrap().finish().unwrap().flush().unwrap();
    path
}

/// The list of a parcel that holds these, and their entries.
fn manifest(members: &[(&str, &[u8])]) -> Manifest {
    let member = |(name, content): &(&str, &[u8])| bakeoff_parcel::Member {
        name: (*name).to_owned(),
        bytes: content.len() as u64,
        sha256: sha256(content),
        executable: false,
    };
    Manifest {
        format: 1,
        bakeoff: "0".to_owned(),
        study: "top".to_owned(),
        latest: None,
        cache: None,
        members: members.iter().map(member).collect(),
    }
}

const FILE: tar::EntryType = tar::EntryType::Regular;

#[test]
fn what_is_packed_comes_out_again_and_the_same_study_gives_the_same_bytes() {
    let (folder, parcel) = parcel();
    let files = opened(&parcel).unwrap();
    let names: Vec<&str> = files.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names, ["journals/default-0.jsonl", "study/patches/one.patch", "study/study.toml", "study/work.sh"]);
    assert_eq!(files.iter().filter(|(.., executable)| *executable).count(), 1);
    assert_eq!(files[2].1, b"format = 1\n");

    // Written later, by other hands: neither shows.
    sh_touch(&folder.path().join("study/study.toml"));
    let again = folder.path().join("again.tar.zst");
    packing(folder.path()).write(&again, false).unwrap();
    assert_eq!(fs::read(parcel).unwrap(), fs::read(again).unwrap());
}

fn sh_touch(path: &Path) {
    bakeoff_testkit::files::sh(Path::new("/"), &format!("touch -d 2001-01-01 '{}'", path.display()));
}

#[test]
fn a_file_that_is_there_is_kept_unless_it_is_to_be_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("x.tar.zst");
    fs::write(&out, "mine").unwrap();
    assert!(matches!(packing(folder.path()).write(&out, false), Err(Error::Exists { .. })));
    assert_eq!(read(&out), "mine");
    packing(folder.path()).write(&out, true).unwrap();
    opened(&out).unwrap();
    let names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "nothing is left beside it: {names:?}");
}

#[test]
fn a_file_that_changes_while_it_is_packed_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    for change in ["format = 2\n", "format = 1\n# more\n", "f"] {
        let packing = packing(folder.path());
        fs::write(folder.path().join("study/study.toml"), change).unwrap();
        let out = folder.path().join("x.tar.zst");
        let error = packing.write(&out, false).unwrap_err();
        assert!(matches!(&error, Error::Changed { path } if path.ends_with("study.toml")), "{error:?}");
        assert!(!out.exists());
    }
}

#[test]
fn a_folder_is_packed_as_one_file_with_its_links() {
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().join("tree");
    fs::create_dir_all(tree.join("bin")).unwrap();
    fs::write(tree.join("bin/tool"), "t".repeat(300_000)).unwrap();
    std::os::unix::fs::symlink("bin/tool", tree.join("link")).unwrap();
    let mut packing = packing(folder.path());
    packing.tree("prefixes/0.tar", &tree).unwrap();
    let out = folder.path().join("x.tar.zst");
    packing.write(&out, false).unwrap();
    let into = tempfile::tempdir().unwrap();
    open(&out, into.path(), Bounds::default()).unwrap();
    bakeoff_testkit::files::sh(into.path(), "tar -xf prefixes/0.tar");
    assert_eq!(fs::read_link(into.path().join("link")).unwrap(), Path::new("bin/tool"));
    assert_eq!(fs::metadata(into.path().join("link")).unwrap().len(), 300_000);
}

#[test]
fn five_hundred_mutations_are_refused_or_change_nothing() {
    let (folder, parcel) = parcel();
    let whole = opened(&parcel).unwrap();
    let bytes = fs::read(&parcel).unwrap();
    let seed = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos() as u64;
    println!("seed {seed}");
    let mut stream = Stream::of(seed, &["parcel"]);
    let mutated = folder.path().join("mutated.tar.zst");
    let mut refused = 0;
    for _ in 0..500 {
        let mut bytes = bytes.clone();
        for _ in 0..=stream.below(4) {
            let at = stream.below(bytes.len() as u64) as usize;
            match stream.below(4) {
                0 => bytes.truncate(at.max(1)),
                1 => bytes.insert(at, stream.below(256) as u8),
                _ => bytes[at] ^= 1 << stream.below(8),
            }
        }
        fs::write(&mutated, &bytes).unwrap();
        match opened(&mutated) {
            Ok(files) => assert!(files == whole, "seed {seed}: something else came out"),
            Err(Error::Refused { .. }) => refused += 1,
            Err(error) => panic!("seed {seed}: {error}"),
        }
    }
    println!("{refused} of 500 were refused");
    assert!(refused > 400, "{refused}");
}

#[test]
fn what_is_inside_is_mutated_too() {
    let (folder, parcel) = parcel();
    let whole = opened(&parcel).unwrap();
    let tar = zstd::decode_all(fs::File::open(&parcel).unwrap()).unwrap();
    let seed = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos() as u64;
    println!("seed {seed}");
    let mut stream = Stream::of(seed, &["parcel", "inside"]);
    let mutated = folder.path().join("mutated.tar.zst");
    for _ in 0..300 {
        let mut tar = tar.clone();
        let at = stream.below(tar.len() as u64) as usize;
        tar[at] ^= 1 << stream.below(8);
        fs::write(&mutated, zstd::encode_all(&tar[..], 1).unwrap()).unwrap();
        match opened(&mutated) {
            Ok(files) => {
                let same = |a: &[(String, Vec<u8>, bool)]| {
                    a.iter().map(|(n, c, _)| (n.clone(), c.clone())).collect::<Vec<_>>()
                };
                assert!(same(&files) == same(&whole), "seed {seed}: something else came out");
            }
            Err(Error::Refused { .. }) => {}
            Err(error) => panic!("seed {seed}: {error}"),
        }
    }
}

#[test]
fn a_parcel_that_lies_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let study: (&str, &[u8]) = ("study/study.toml", b"x");
    let good = [("top/study/study.toml", FILE, &b"x"[..])];
    let forge =
        |manifest: &Manifest, entries: &[(&str, tar::EntryType, &[u8])]| forged(folder.path(), manifest, entries);
    opened(&forge(&manifest(&[study]), &good)).unwrap();

    refused(&forge(&manifest(&[study]), &[]), "is listed but missing");
    refused(
        &forge(&manifest(&[study]), &[good[0], ("top/study/z", FILE, b"")]),
        "it contains `top/study/z`, but its list does not",
    );
    refused(&forge(&manifest(&[study]), &[("top/study/study.toml", FILE, b"y")]), "is damaged");
    refused(&forge(&manifest(&[study]), &[("top/study/study.toml", FILE, b"xy")]), "should be a file of 1 bytes");
    refused(&forge(&manifest(&[study]), &[("top/../study.toml", FILE, b"x")]), "where its list has");
    refused(&forge(&manifest(&[study]), &[("/study/study.toml", FILE, b"x")]), "where its list has");
    let link = [("top/study/study.toml", tar::EntryType::Symlink, &b"x"[..])];
    refused(&forge(&manifest(&[study]), &link), "should be a file of 1 bytes");
    // Extensions of the format could give the next entry any name.
    let extended = [("././@LongLink", tar::EntryType::GNULongName, &b"top/../x\0"[..]), good[0]];
    refused(&forge(&manifest(&[study]), &extended), "where its list has");

    for name in ["../x", "study/../../x", "/etc/x", "study/.git/hooks/post-checkout", "journals", "other/x"] {
        refused(&forge(&manifest(&[(name, b""), study]), &good), "in its list");
    }
    refused(&forge(&manifest(&[study, ("study/a", b"")]), &good), "its list is not sorted");
    refused(&forge(&manifest(&[study, study]), &good), "its list is not sorted");
    refused(&forge(&manifest(&[("study/a", b""), ("study/a/b", b""), study]), &good), "both as a file and as a folder");
    refused(&forge(&manifest(&[("study/a", b"")]), &good), "it has no study.toml");
    refused(&forge(&Manifest { format: 2, ..manifest(&[study]) }, &good), "use a newer version");
    for latest in ["default-0.jsonl", "../study/study.toml"] {
        let manifest = Manifest { latest: Some(latest.to_owned()), ..manifest(&[study]) };
        refused(&forge(&manifest, &good), "latest journal");
    }
    let mut huge = manifest(&[study]);
    huge.members[0].bytes = 1 << 60;
    refused(&forge(&huge, &good), "it unpacks to more than");
}

#[test]
fn what_is_no_parcel_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    let check = |content: &[u8], why: &str| {
        fs::write(&path, content).unwrap();
        refused(&path, why);
    };
    check(b"", "");
    check(b"hello", "is not a readable .tar.zst");
    check(&zstd::encode_all(&b"hello"[..], 1).unwrap(), "");
    check(&zstd::encode_all(&[0; 1024][..], 1).unwrap(), "it is empty");
    let (_folder, parcel) = parcel();
    check(
        &[fs::read(&parcel).unwrap(), zstd::encode_all(&b"more"[..], 1).unwrap()].concat(),
        "extra data follows the end",
    );
    // Eight gigabytes of nothing, in some hundred kilobytes.
    let mut tar = vec![];
    let mut header = tar::Header::new_ustar();
    header.set_path("top/MANIFEST.json").unwrap();
    header.set_size(8 << 30);
    header.set_cksum();
    tar.extend_from_slice(header.as_bytes());
    check(&zstd::encode_all(&tar[..], 1).unwrap(), "are allowed");
    refused(folder.path(), "it is not a file");
}
