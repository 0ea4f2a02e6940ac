//! Boots each variant's kernel in a virtual machine, and runs the trials in it. The order of boots, and what of them
//! counts, is the lab's; how a trial is measured inside is what it is on this host.

mod accelerator;
mod agent;
mod archive;
mod ended;
mod executor;
mod guest;
mod inside;
mod machine;
mod spec;

use bakeoff_command::check::Check;
use bakeoff_command::{CommandError, Feature, Reach, Reached, Registry, Subcommand};
use bakeoff_model::plan::Plan;
use bakeoff_model::study::Study;
use executor::Machines;
use spec::Spec;

/// The slice.
#[derive(Debug)]
pub struct Vm;

impl Feature for Vm {
    fn register(&self, to: &mut Registry) {
        to.commands.push(Subcommand::new(guest::FIRST, guest::execute).hidden());
        to.commands.push(Subcommand::with_features(inside::AGENT, inside::execute).hidden());
        to.sections.push(&spec::VmSection);
        to.places.push(Reach { find, check });
    }
}

/// Returns the machines of a plan that boots kernels.
fn find(study: &Study, plan: &Plan) -> Reached {
    let Some(spec) = Spec::of(study.sections.get(spec::NAME)).filter(|_| plan.boots()) else { return Ok(None) };
    let found = accelerator::find(spec.accelerator).map_err(|why| {
        CommandError::usage(why).hint(match accelerator::qemu() {
            None => "on Debian, run `apt-get install qemu-system-x86`",
            Some(_) => "use `accelerator = \"auto\"` in [vm] to allow emulation; `bakeoff doctor` shows what works",
        })
    })?;
    Ok(Some(Box::new(Machines { spec, found })))
}

/// What a kernel that is booted here would be measured in.
fn check() -> Check {
    let name = "virtual machine";
    let Some(qemu) = accelerator::qemu() else {
        let check = Check::missing(name, "qemu is not installed", "studies that boot kernels cannot run");
        return check.remedy("sudo apt-get install qemu-system-x86");
    };
    match accelerator::boots(&qemu, "kvm") {
        Ok(()) => {
            Check::good(name, "works with KVM; each study tests its own kernel", "kernels are compared in seconds")
        }
        Err(why) => match accelerator::boots(&qemu, "tcg") {
            Ok(()) => Check::noisy(
                name,
                format!("works only by emulation: {why}"),
                "kernels are compared in guest instructions; these do not reflect caches or pipelines",
            ),
            Err(why) => Check::missing(name, why, "studies that boot kernels cannot run"),
        },
    }
}
