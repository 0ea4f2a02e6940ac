//! The graph of a crate's files: an arrow from a file to each that defines something that it names. Of circles among them
//! it finds all but those of methods alone: a call does not say in which file its method is. It compiles nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use syn::ext::IdentExt as _;
use syn::visit::Visit;

/// The files of one crate, and what each names of the others.
pub(crate) struct Crate {
    modules: Vec<Module>,
}

/// A module; one that stands in the file of another has that one's file.
#[derive(Default)]
struct Module {
    file: PathBuf,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    items: BTreeSet<String>,
    /// What names are short for.
    imports: BTreeMap<String, Vec<String>>,
    /// What its code names: paths as they stand there.
    named: Vec<Vec<String>>,
}

/// An arrow: who names what of whom.
pub(crate) type Arrow = (PathBuf, PathBuf, String);

impl Crate {
    /// Reads the files that belong to the crate with this root.
    pub(crate) fn read(root: &Path) -> Self {
        let mut all = Self { modules: vec![] };
        let folder = root.parent().unwrap();
        all.file(root, folder, None);
        all
    }

    fn file(&mut self, path: &Path, children: &Path, parent: Option<usize>) -> usize {
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        self.module(&parsed.items, path, children, parent)
    }

    fn module(&mut self, items: &[syn::Item], file: &Path, children: &Path, parent: Option<usize>) -> usize {
        let place = self.modules.len();
        self.modules.push(Module { file: file.to_owned(), parent, ..Module::default() });
        for item in items.iter().filter(|item| !is_of_tests(attributes(item))) {
            match item {
                syn::Item::Mod(module) => {
                    let name = module.ident.unraw().to_string();
                    let below = children.join(&name);
                    let child = match &module.content {
                        Some((_, items)) => self.module(items, file, &below, Some(place)),
                        None => {
                            let flat = children.join(format!("{name}.rs"));
                            let path = if flat.exists() { flat } else { below.join("mod.rs") };
                            // What lies elsewhere has its own children beside it.
                            let (path, below) = match elsewhere(&module.attrs).map(|place| file.with_file_name(place)) {
                                Some(path) => (path.clone(), path.parent().unwrap().to_owned()),
                                None => (path, below),
                            };
                            self.file(&path, &below, Some(place))
                        }
                    };
                    self.modules[place].children.insert(name, child);
                }
                syn::Item::Use(import) => {
                    let is_private = matches!(import.vis, syn::Visibility::Inherited);
                    for (name, path) in flat(&import.tree) {
                        // What is only handed on is named by those who take it.
                        if is_private {
                            self.modules[place].named.push(path.clone());
                        }
                        self.modules[place].imports.insert(name, path);
                    }
                }
                other => {
                    self.modules[place].items.extend(name_of(other));
                    let mut names = Names(&mut self.modules[place].named);
                    names.visit_item(other);
                }
            }
        }
        place
    }

    /// The arrows between different files.
    pub(crate) fn arrows(&self) -> BTreeSet<Arrow> {
        let mut arrows = BTreeSet::new();
        for (place, module) in self.modules.iter().enumerate() {
            for path in &module.named {
                let Some(definer) = self.definer(place, path, 0) else { continue };
                let file = &self.modules[definer].file;
                if *file != module.file {
                    arrows.insert((module.file.clone(), file.clone(), path.join("::")));
                }
            }
        }
        arrows
    }

    /// The module that defines what a path names as seen from a module; none if that is of another crate.
    fn definer(&self, from: usize, path: &[String], depth: usize) -> Option<usize> {
        let (first, rest) = path.split_first()?;
        let module = &self.modules[from];
        match first.as_str() {
            _ if depth > 20 => None,
            "crate" => self.below(0, rest, depth),
            "self" => self.below(from, rest, depth),
            "super" => match rest.first().map(String::as_str) {
                Some("super") => self.definer(module.parent?, rest, depth + 1),
                _ => self.below(module.parent?, rest, depth),
            },
            // A name alone is not that of a module, but of a variable.
            name if module.children.contains_key(name) && rest.is_empty() => None,
            name if module.children.contains_key(name) => self.below(module.children[name], rest, depth),
            name if module.items.contains(name) => Some(from),
            // A crate of the same name as something that is imported from it ends here.
            name => match module.imports.get(name) {
                Some(import) if import.first() != Some(first) => {
                    let whole: Vec<String> = import.iter().chain(rest).cloned().collect();
                    self.definer(from, &whole, depth + 1)
                }
                Some(import) if module.children.contains_key(&import[0]) => self.definer(from, import, depth + 1),
                _ => None,
            },
        }
    }

    fn below(&self, place: usize, path: &[String], depth: usize) -> Option<usize> {
        let Some((first, rest)) = path.split_first() else { return Some(place) };
        let module = &self.modules[place];
        if let Some(&child) = module.children.get(first) {
            return self.below(child, rest, depth);
        }
        match module.imports.get(first) {
            Some(_) if module.items.contains(first) => Some(place),
            Some(import) => {
                let whole: Vec<String> = import.iter().chain(rest).cloned().collect();
                self.definer(place, &whole, depth + 1)
            }
            None => Some(place),
        }
    }
}

/// Arrows that are part of a circle: from the end of each there is a way back to its beginning.
pub(crate) fn in_circles(arrows: &BTreeSet<Arrow>) -> Vec<&Arrow> {
    let mut next: BTreeMap<&Path, BTreeSet<&Path>> = BTreeMap::new();
    for (from, to, _) in arrows {
        next.entry(from).or_default().insert(to);
    }
    let leads_to = |from: &Path, to: &Path| {
        let (mut left, mut seen) = (vec![from], BTreeSet::new());
        while let Some(here) = left.pop() {
            if here == to {
                return true;
            }
            left.extend(next.get(here).into_iter().flatten().copied().filter(|place| seen.insert(*place)));
        }
        false
    };
    arrows.iter().filter(|(from, to, _)| leads_to(to, from)).collect()
}

/// Takes down every path in code, also those in the words of macros.
struct Names<'a>(&'a mut Vec<Vec<String>>);

impl<'ast> Visit<'ast> for Names<'_> {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.0.push(path.segments.iter().map(|segment| segment.ident.unraw().to_string()).collect());
        syn::visit::visit_path(self, path);
    }

    /// Who may use something says nothing of what it uses.
    fn visit_vis_restricted(&mut self, _: &'ast syn::VisRestricted) {}

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.visit_path(&call.path);
        self.words(&call.tokens.to_string());
    }

    fn visit_item_use(&mut self, import: &'ast syn::ItemUse) {
        self.0.extend(flat(&import.tree).into_iter().map(|(_, path)| path));
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_of_tests(&module.attrs) {
            syn::visit::visit_item_mod(self, module);
        }
    }
}

impl Names<'_> {
    /// Paths in text that is not parsed. Its parts stand apart there: `a :: b`.
    fn words(&mut self, text: &str) {
        let text = text.replace(" :: ", "::").replace(":: ", "::").replace(" ::", "::");
        for word in text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')) {
            if word.contains("::") {
                self.0.push(word.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect());
            }
        }
    }
}

/// The names that a tree of `use` brings, each with the whole path that it is short for.
fn flat(tree: &syn::UseTree) -> Vec<(String, Vec<String>)> {
    match tree {
        syn::UseTree::Path(path) => {
            let first = path.ident.unraw().to_string();
            let longer = |(name, rest): (String, Vec<String>)| {
                let name = if name == "self" { first.clone() } else { name };
                (
                    name,
                    std::iter::once(first.clone())
                        .chain(rest)
                        .filter(|part| part != "self" || first == "self")
                        .collect(),
                )
            };
            flat(&path.tree).into_iter().map(longer).collect()
        }
        syn::UseTree::Name(name) => vec![(name.ident.unraw().to_string(), vec![name.ident.unraw().to_string()])],
        syn::UseTree::Rename(as_) => vec![(as_.rename.unraw().to_string(), vec![as_.ident.unraw().to_string()])],
        syn::UseTree::Glob(_) => vec![("*".to_owned(), vec![])],
        syn::UseTree::Group(group) => group.items.iter().flat_map(flat).collect(),
    }
}

fn name_of(item: &syn::Item) -> Option<String> {
    let ident = match item {
        syn::Item::Const(item) => &item.ident,
        syn::Item::Enum(item) => &item.ident,
        syn::Item::Fn(item) => &item.sig.ident,
        syn::Item::Static(item) => &item.ident,
        syn::Item::Struct(item) => &item.ident,
        syn::Item::Trait(item) => &item.ident,
        syn::Item::Type(item) => &item.ident,
        syn::Item::Union(item) => &item.ident,
        syn::Item::Macro(item) => item.ident.as_ref()?,
        _ => return None,
    };
    Some(ident.unraw().to_string())
}

pub(crate) fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Whether something is there for tests only.
pub(crate) fn is_of_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.meta.require_list().is_ok_and(|list| list.tokens.to_string().trim() == "test")
    })
}

/// What `#[path]` says.
fn elsewhere(attributes: &[syn::Attribute]) -> Option<String> {
    attributes.iter().find(|attribute| attribute.path().is_ident("path")).and_then(|attribute| {
        let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(place), .. }) =
            &attribute.meta.require_name_value().ok()?.value
        else {
            return None;
        };
        Some(place.value())
    })
}

/// What a folder of files amounts to: the names in circles.
#[test]
fn circles_are_found_through_imports_and_what_is_handed_on() {
    let check = |files: &[(&str, &str)], expect: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let arrows = Crate::read(&folder.path().join("lib.rs")).arrows();
        let found: BTreeSet<&str> = in_circles(&arrows).into_iter().map(|(_, _, what)| what.as_str()).collect();
        assert_eq!(found, expect.iter().copied().collect(), "{files:?}");
    };
    let lib = ("lib.rs", "mod a; mod b; pub use a::A;");
    check(&[lib, ("a.rs", "use crate::b::B; pub struct A(B);"), ("b.rs", "pub struct B;")], &[]);
    check(
        &[lib, ("a.rs", "use crate::b::B; pub struct A(B);"), ("b.rs", "use crate::A; pub struct B(Vec<A>);")],
        &["B", "crate::b::B", "A", "crate::A"],
    );
    check(
        &[
            lib,
            ("a.rs", "pub struct A; fn f() { crate::b::g() }"),
            ("b.rs", "pub fn g() { println!(\"{}\", super::a::A) }"),
        ],
        &["crate::b::g", "super::a::A"],
    );
    check(
        &[lib, ("a.rs", "pub struct A; #[cfg(test)] mod tests { use crate::b::g; }"), ("b.rs", "use crate::A;")],
        &[],
    );
    // A parent that calls its child, which takes a type of the parent's.
    check(
        &[
            lib,
            ("a.rs", "mod c; pub struct A; fn f() { c::g() }"),
            ("a/c.rs", "use super::A; fn g(a: A) {}"),
            ("b.rs", ""),
        ],
        &["c::g", "A", "super::A"],
    );
    check(
        &[
            lib,
            ("a.rs", "mod c; pub use c::g; pub struct A;"),
            ("a/c.rs", "use super::A; pub fn g(a: A) {}"),
            ("b.rs", ""),
        ],
        &[],
    );
}
