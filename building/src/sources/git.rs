//! Git repositories as sources. A repository runs nothing here: not its hooks, not its filters, not what its
//! configuration names.
//!
//! A commit is laid out by a repository of ours in the work folder, whose configuration is ours too. It borrows the objects
//! of a repository of this machine (`objects/info/alternates`), or fetches them from an address. So filters and hooks are
//! names without a meaning, objects that are missing are not fetched on the quiet, and nothing needs to be copied. In the
//! repository itself Git is asked for names only: which commit is `HEAD~1`, which files are there that are not ignored.
//!
//! `git archive` would run as little, but leaves out what has the attribute `export-ignore`; `git cat-file` ignores the
//! attributes for line ends. What is laid out is what a checkout has.

mod ask;
mod checkout;
mod folder;
mod submodules;
mod worktree;

pub(super) use checkout::load;
pub(super) use folder::{commit_of, first_parents, folder_of, is_ancestor, place_in};
pub(super) use worktree::{load_worktree, tracked, worktree};
