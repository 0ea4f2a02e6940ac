//! `docs/dev/points.md`: the points at which features register, from the fields of `Registry` and their comments; and who uses
//! each, from every feature's `register`. The rules that a point must keep are held here too.

use super::{root, wing};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use syn::visit::Visit;

const REGISTRY: &str = "crates/command/src/feature.rs";
const MOST_POINTS: usize = 15;
/// Begins the paragraph that explains why a point has one user.
const ALONE: &str = "Only one feature uses this point: ";

struct Point {
    name: String,
    /// The paragraphs of its comment.
    about: Vec<String>,
    users: Vec<String>,
}

fn points() -> Vec<Point> {
    let text = fs::read_to_string(root().join(REGISTRY)).unwrap();
    let file = syn::parse_file(&text).unwrap();
    let registry = file.items.iter().find_map(|item| match item {
        syn::Item::Struct(found) if found.ident == "Registry" => Some(found),
        _ => None,
    });
    let used: Vec<(String, BTreeSet<String>)> =
        users().into_iter().map(|(name, folder)| (name, used_by(&folder))).collect();
    let point = |field: &syn::Field| {
        let name = field.ident.as_ref().unwrap().to_string();
        let users = used.iter().filter(|(_, points)| points.contains(&name)).map(|(user, _)| user.clone()).collect();
        Point { about: paragraphs(&field.attrs), users, name }
    };
    registry.unwrap().fields.iter().map(point).collect()
}

fn paragraphs(attributes: &[syn::Attribute]) -> Vec<String> {
    let line = |attribute: &syn::Attribute| match &attribute.meta {
        syn::Meta::NameValue(syn::MetaNameValue {
            value: syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }),
            ..
        }) => Some(text.value().trim().to_owned()),
        _ => None,
    };
    let lines: Vec<String> = attributes.iter().filter_map(line).collect();
    lines.split(String::is_empty).map(|lines| lines.join(" ")).collect()
}

/// Building and the features, each with its folder.
fn users() -> Vec<(String, PathBuf)> {
    let features = wing("features").into_iter().map(|name| (name.clone(), root().join("features").join(name)));
    std::iter::once(("building".to_owned(), root().join("building"))).chain(features).collect()
}

/// The points that the `register` in that folder names.
fn used_by(folder: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(folder.join("src/lib.rs")).unwrap();
    let mut found = Registered::default();
    found.visit_file(&syn::parse_file(&text).unwrap());
    found.points
}

/// Fields of the registry, wherever a function has it as a parameter.
#[derive(Default)]
struct Registered {
    registry: Option<syn::Ident>,
    points: BTreeSet<String>,
}

impl<'ast> Visit<'ast> for Registered {
    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.registry = match function.sig.inputs.iter().nth(1) {
            Some(syn::FnArg::Typed(syn::PatType { pat, .. })) if function.sig.ident == "register" => match &**pat {
                syn::Pat::Ident(pattern) => Some(pattern.ident.clone()),
                _ => None,
            },
            _ => None,
        };
        syn::visit::visit_impl_item_fn(self, function);
    }

    fn visit_expr_field(&mut self, expression: &'ast syn::ExprField) {
        if let (syn::Expr::Path(base), syn::Member::Named(point)) = (&*expression.base, &expression.member)
            && self.registry.as_ref().is_some_and(|registry| base.path.is_ident(registry))
        {
            self.points.insert(point.to_string());
        }
        syn::visit::visit_expr_field(self, expression);
    }
}

fn page(points: &[Point]) -> String {
    let mut page = format!(
        "# The points for features\n\n\
         The fields of `Registry`, from their comments in `{REGISTRY}`, and the features that register there.\n\
         [Architecture](architecture.md) shows how to add a feature. This page is generated:\n\
         `BAKEOFF_UPDATE=1 cargo test -p bakeoff --test tidy points` rewrites it.\n\n\
         | point | what a feature registers | features |\n|---|---|---|\n"
    );
    for Point { name, about, users } in points {
        writeln!(page, "| `{name}` | {} | {} |", about.join(" "), users.join(", ")).unwrap();
    }
    page
}

#[test]
fn the_page_of_points_is_current() {
    let path = root().join("docs/dev/points.md");
    let page = page(&points());
    if std::env::var_os("BAKEOFF_UPDATE").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "docs/dev/points.md is not current; BAKEOFF_UPDATE=1 make test rewrites it");
}

#[test]
fn a_point_has_two_users_or_a_reason() {
    let points = points();
    assert!(points.len() <= MOST_POINTS, "{} points", points.len());
    for Point { name, about, users } in points {
        let has_reason = about.iter().any(|paragraph| paragraph.starts_with(ALONE));
        assert!(!users.is_empty(), "no feature uses the point {name}");
        assert_eq!(has_reason, users.len() == 1, "`{ALONE}…` belongs to points with one user; {name} has {users:?}");
    }
}
