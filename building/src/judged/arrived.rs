//! How far the words of a level came in a build, as `init` says it of the one that it has tried.

use crate::journal::{BuildLine, FlagSeen};
use crate::trained;
use bakeoff_report::words::counted;
use std::collections::BTreeSet;

impl BuildLine {
    /// How far the words of the level of the variant `name` came, a line each; and which came nowhere, because nothing
    /// was there to take them.
    pub fn arrived(&self, name: &str) -> Vec<String> {
        let of = |flag: &FlagSeen| {
            if let Some(used) = trained::used(flag) {
                return format!("{name}: {used}\n");
            }
            let is_rust = flag.variable == "rustflags";
            if flag.of == 0 {
                let (who, other) = match is_rust {
                    true => ("rustc", "flags for C compilers begin with -O, -m or -f"),
                    false => ("a C compiler", "flags for rustc begin with -C or -Z, as in `-C opt-level=2`"),
                };
                return format!("{name}: {} reached no compiler; Bakeoff saw no call to {who} ({other})\n", flag.flag);
            }
            let (won, rustc) = (flag.reached - flag.overridden, if is_rust { " to rustc" } else { "" });
            let left = self.proof.left_before.get(&flag.layer).filter(|_| !is_rust).map_or(0, BTreeSet::len);
            let left = match left {
                0 => String::new(),
                1 => "; not proven, because 1 part of the program was not compiled".to_owned(),
                more => format!("; not proven, because {more} parts of the program were not compiled"),
            };
            let FlagSeen { flag, reached, of, .. } = flag;
            let calls = counted(*of as u32, "call");
            format!("{name}: {flag} reached {reached} of {calls}{rustc} and took effect in {won}{left}\n")
        };
        // Of variables that other compilers read, nothing is known.
        self.proof.flags.iter().filter(|flag| flag.of > 0 || flag.is_appended()).map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_the_wrong_compiler_arrive_nowhere() {
        let check = |variable: &str, flag: &str, (reached, of, overridden): (u64, u64, u64), expect: &str| {
            let flag = FlagSeen {
                variable: variable.to_owned(),
                flag: flag.to_owned(),
                reached,
                of,
                overridden,
                ..FlagSeen::default()
            };
            let mut line = BuildLine::default();
            line.proof.flags.push(flag);
            assert_eq!(line.arrived("x").concat(), expect);
        };
        check("append", "-O3", (3, 4, 1), "x: -O3 reached 3 of 4 calls and took effect in 2\n");
        let rustc = "x: -C opt-level=2 reached 46 of 46 calls to rustc and took effect in 46\n";
        check("rustflags", "-C opt-level=2", (46, 46, 0), rustc);
        let nowhere = "x: -O3 reached no compiler; Bakeoff saw no call to a C compiler (flags for rustc begin with -C \
            or -Z, \
                       as in `-C opt-level=2`)\n";
        check("append", "-O3", (0, 0, 0), nowhere);
        check("CFLAGS", "-O3", (0, 0, 0), "");
    }
}
