//! The command line of qemu. It starts nothing.

use crate::accelerator::Accelerator;
use crate::spec::Spec;
use bakeoff_model::record::Drawn;
use std::path::Path;

/// Where the console goes, and where the agent's lines: files of the folder that qemu is started in.
pub(crate) const CONSOLE: &str = "console";
/// What a guest may print, in bytes, until its machine is ended.
pub(crate) const MOST_PRINTED: u64 = 1 << 30;
/// See [`CONSOLE`].
pub(crate) const LINES: &str = "lines";
/// The terminal that the agent's lines are written to: the second serial port.
pub(crate) const TERMINAL: &str = "/dev/ttyS1";

const PAGE_KIB: u64 = 4;
/// What makes an emulated machine do the same again: no addresses and no numbers by chance, no work-arounds that depend on the
/// processor, no timer that is compared with another one.
const SAME_AGAIN: &str = "no_timer_check norandmaps nokaslr random.trust_cpu=off mitigations=off";

/// A machine that is to be booted.
pub(crate) struct Machine<'a> {
    pub(crate) qemu: &'a Path,
    pub(crate) accelerator: Accelerator,
    pub(crate) spec: &'a Spec,
    pub(crate) kernel: &'a Path,
    pub(crate) root: &'a Path,
    pub(crate) drawn: Drawn,
    /// The first process, and its arguments.
    pub(crate) first: &'a [String],
}

impl Machine<'_> {
    /// The words that start it. A limit of processor time is set by the shell that then becomes qemu: no other
    /// process stands between qemu and the launcher.
    pub(crate) fn argv(&self) -> Vec<String> {
        let limit_s = self.spec.boot_limit_s.ceil().max(1.0);
        let shell = ["/bin/sh", "-c", "ulimit -S -t \"$0\" && exec \"$@\""].map(str::to_owned);
        let mut argv: Vec<String> = shell.into();
        argv.extend([format!("{limit_s}"), self.qemu.display().to_string()]);
        let fixed = ["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"];
        argv.extend(fixed.map(str::to_owned));
        let memory_kib = self.spec.memory_bytes / 1024 + u64::from(self.drawn.pages) * PAGE_KIB;
        argv.extend(["-m".to_owned(), format!("size={memory_kib}K")]);
        argv.extend(["-smp".to_owned(), self.spec.processors.to_string()]);
        let accelerated: &[&str] = match self.accelerator {
            Accelerator::Kvm => &["-accel", "kvm", "-cpu", "host"],
            Accelerator::Tcg => {
                &["-accel", "tcg", "-icount", "shift=0,sleep=off", "-rtc", "base=2026-01-01T00:00:00,clock=vm"]
            }
        };
        argv.extend(accelerated.iter().map(|word| (*word).to_owned()));
        argv.extend(["-device", "isa-debug-exit,iobase=0x501,iosize=2"].map(str::to_owned));
        argv.extend(["-serial".to_owned(), format!("file:{CONSOLE}"), "-serial".to_owned(), format!("file:{LINES}")]);
        argv.extend(["-kernel".to_owned(), self.kernel.display().to_string()]);
        argv.extend(["-initrd".to_owned(), self.root.display().to_string()]);
        argv.extend(["-append".to_owned(), self.command_line()]);
        argv.extend(self.spec.arguments.iter().cloned());
        argv
    }

    /// The kernel's command line. What follows two dashes is the first process's.
    fn command_line(&self) -> String {
        let same = if self.accelerator == Accelerator::Tcg { SAME_AGAIN } else { "" };
        let padding = "x".repeat(self.drawn.padding as usize);
        let (program, arguments) = self.first.split_first().map_or(("", &[][..]), |(p, rest)| (p.as_str(), rest));
        let words =
            ["console=ttyS0", "quiet", same, "panic=-1", "oops=panic"].into_iter().filter(|word| !word.is_empty());
        let words: Vec<&str> = words.collect();
        format!("{} rdinit={program} pad={padding} -- {}", words.join(" "), arguments.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_emulated_machine_counts_instructions() {
        let argv = |accelerator| {
            let spec = Spec { memory_bytes: 1 << 30, processors: 1, boot_limit_s: 60.0, ..Spec::default() };
            let first = ["/bakeoff/bakeoff".to_owned(), "vm-init".to_owned()];
            let machine = Machine {
                qemu: "/q".as_ref(),
                accelerator,
                spec: &spec,
                kernel: "/k".as_ref(),
                root: "/r".as_ref(),
                drawn: Drawn { padding: 3, pages: 2 },
                first: &first,
            };
            machine.argv().join(" ")
        };
        let (tcg, kvm) = (argv(Accelerator::Tcg), argv(Accelerator::Kvm));
        assert!(tcg.contains("-icount shift=0,sleep=off") && !kvm.contains("icount"), "{tcg}\n{kvm}");
        assert!(tcg.contains("mitigations=off") && !kvm.contains("mitigations"), "{tcg}\n{kvm}");
        for line in [tcg, kvm] {
            assert!(line.contains("size=1048584K"), "{line}");
            assert!(line.contains("rdinit=/bakeoff/bakeoff pad=xxx -- vm-init"), "{line}");
        }
    }
}
