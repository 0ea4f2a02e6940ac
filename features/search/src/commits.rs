//! `bakeoff bisect`: the commit that changed the speed. It finds the commits, writes down a study that has each of them as a
//! variant, and leads the bisection through its blocks. The user's working tree is not touched: commits are built in the cache,
//! and the files of the search are in the user's state folder.

mod answer;
mod args;
mod cost;
mod files;
mod script;
mod work;

use crate::blocks::{execute, lock};
use answer::Answer;
pub(crate) use args::Args;
use bakeoff_building::Commits;
use bakeoff_command::target::Target;
use bakeoff_command::{Code, CommandError, Registry, screen};
use bakeoff_model::plain::clean;
use cost::page;
use files::{FOLDER, Files};
use std::process::Command;
use work::Work;

pub(crate) fn search(args: &Args, features: &Registry) -> Result<Code, CommandError> {
    if args.script {
        return script::execute(args, features);
    }
    let commits = Commits::between(args.subject(features)?, &args.good, args.bad.as_deref().unwrap_or("HEAD"))?;
    let page = page(args, &commits);
    if args.dry_run {
        screen::out(&page);
        return Ok(Code::Done);
    }
    // An hour later would be too late.
    args.html.as_deref().map(Target::of).transpose()?;
    let files = Files::of(args, &commits)?;
    let _lock = lock(&files.dir)?;
    if !args.quiet {
        screen::err(&format!("{page}\n"));
    }
    let mut work = Work::of(args, &commits, &files, features)?;
    let searched = work.search();
    work.finish(searched)?;
    let answer = Answer { args, commits: &commits, work: &work };
    if args.json {
        screen::json(&format!("{:#}\n", answer.json(&format!("{FOLDER}/{}", files.name))));
        return Ok(Code::Done);
    }
    if let Some(words) = answer.comparison().filter(|_| args.simulate.is_none()) {
        let own = std::env::current_exe().map_err(|error| CommandError::new(Code::Internal, error))?;
        let mut compare = Command::new(own);
        compare.args(words.iter().take(1)).args(args.quiet.then_some("--quiet")).args(words.iter().skip(1));
        // The answer stands, whatever becomes of the comparison.
        let _ = execute(&mut compare, &mut || {})?;
        screen::out("\n");
    }
    answer.text().lines().for_each(|line| screen::out(&(clean(line) + "\n")));
    Ok(Code::Done)
}
