//! Shapes of code that read badly, counted in each crate: a result within a result, where an enum has names for what may
//! happen; a tuple as a parameter, which is a structure without a name; and functions with more than two named closures,
//! which read as definitions first and their sentence last. `shapes.txt` has what is there, which may only become less.

use super::circles::{attributes, is_of_tests};
use super::{root, wing};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use syn::visit::Visit;

/// Named closures that a function may have.
const CLOSURES: usize = 2;

/// Nested results, tuples as parameters, functions with too many closures.
type Counts = [usize; 3];

#[derive(Default)]
struct Shapes(Counts);

impl Shapes {
    fn function(&mut self, signature: &syn::Signature, block: Option<&syn::Block>) {
        let is_tuple =
            |input: &&syn::FnArg| matches!(input, syn::FnArg::Typed(typed) if matches!(*typed.pat, syn::Pat::Tuple(_)));
        self.0[1] += signature.inputs.iter().filter(is_tuple).count();
        let mut closures = Closures(0);
        block.into_iter().for_each(|block| closures.visit_block(block));
        self.0[2] += usize::from(closures.0 > CLOSURES);
    }
}

impl<'ast> Visit<'ast> for Shapes {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_of_tests(attributes(item)) {
            syn::visit::visit_item(self, item);
        }
    }

    fn visit_type_path(&mut self, path: &'ast syn::TypePath) {
        self.0[0] += usize::from(is_result(path) && first_argument(path).is_some_and(is_result));
        syn::visit::visit_type_path(self, path);
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.function(&function.sig, Some(&function.block));
        syn::visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.function(&function.sig, Some(&function.block));
        syn::visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        self.function(&function.sig, function.default.as_ref());
        syn::visit::visit_trait_item_fn(self, function);
    }
}

fn is_result(path: &syn::TypePath) -> bool {
    path.path.segments.last().is_some_and(|last| last.ident == "Result")
}

fn first_argument(path: &syn::TypePath) -> Option<&syn::TypePath> {
    let syn::PathArguments::AngleBracketed(arguments) = &path.path.segments.last()?.arguments else { return None };
    match arguments.args.first()? {
        syn::GenericArgument::Type(syn::Type::Path(path)) => Some(path),
        _ => None,
    }
}

/// Closures with a name in a function, and in those closures; not those of functions within.
struct Closures(usize);

impl<'ast> Visit<'ast> for Closures {
    fn visit_local(&mut self, local: &'ast syn::Local) {
        let is_closure = |init: &syn::LocalInit| matches!(*init.expr, syn::Expr::Closure(_));
        self.0 += usize::from(local.init.as_ref().is_some_and(is_closure));
        syn::visit::visit_local(self, local);
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// All Rust files below a folder but those of tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![];
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        match path.is_dir() {
            true if name != "tests" => found.extend(sources(&path)),
            false if name.ends_with(".rs") && !name.ends_with("tests.rs") => found.push(path),
            _ => {}
        }
    }
    found
}

fn counted(folder: &Path) -> Counts {
    let mut shapes = Shapes::default();
    for path in sources(folder) {
        shapes.visit_file(&syn::parse_file(&fs::read_to_string(&path).unwrap()).unwrap());
    }
    shapes.0
}

fn line(name: &str, [results, tuples, functions]: Counts) -> String {
    format!(
        "{name}: {results} nested results, {tuples} tuples as parameters, {functions} functions with many closures\n"
    )
}

#[test]
fn shapes_that_read_badly_become_less() {
    let file = root().join("crates/cli/tests/tidy/shapes.txt");
    let text = fs::read_to_string(&file).unwrap();
    let known: BTreeMap<&str, Vec<usize>> = text
        .lines()
        .filter_map(|line| line.split_once(": "))
        .map(|(name, counts)| (name, counts.split(' ').filter_map(|word| word.parse().ok()).collect()))
        .collect();
    let names = ["crates", "features"].map(|place| wing(place).into_iter().map(move |name| format!("{place}/{name}")));
    let (mut wrong, mut now) = (String::new(), String::new());
    for name in names.into_iter().flatten().chain(["building".to_owned()]) {
        let counts = counted(&root().join(&name).join("src"));
        let most = known.get(name.as_str()).cloned().unwrap_or_else(|| vec![0; 3]);
        if counts.iter().zip(&most).any(|(found, most)| found > most) {
            wrong.push_str(&line(&name, counts));
        }
        now.push_str(&line(&name, std::array::from_fn(|at| counts[at].min(most[at]))));
    }
    if std::env::var_os("BAKEOFF_UPDATE").is_some() && now != text {
        fs::write(&file, &now).unwrap();
    }
    assert!(wrong.is_empty(), "more than in {}:\n{wrong}", file.display());
}

#[test]
fn shapes_are_found_wherever_they_stand() {
    let text = "
        fn f((a, b): (u8, u8), c: u8) -> io::Result<Result<(), String>> { let d = |x| x; let e = |x| { let g = |y| y; g(x) }; }
        impl A { fn g(&self, (a, b): (u8, u8)) { let a = |x| x; let b = |x| x; } }
        #[cfg(test)] mod tests { fn f((a, b): (u8, u8)) {} }";
    let mut shapes = Shapes::default();
    shapes.visit_file(&syn::parse_file(text).unwrap());
    assert_eq!(shapes.0, [1, 2, 1]);
}
