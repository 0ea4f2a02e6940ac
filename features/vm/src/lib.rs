//! Boots each variant's kernel in a virtual machine, and executes the trials in it. The order of boots, and what of them
//! counts, is the lab's; how a trial is measured inside is what it is on this host.

mod accelerator;
mod archive;
mod ended;
mod executor;
mod guest;
mod machine;
mod spec;

use bakeoff_command::{CommandError, Elsewhere, Feature, Subcommand};
use bakeoff_host::doctor::Check;
use bakeoff_model::plan::Plan;
use bakeoff_model::study::Study;
use bakeoff_model::study_file::Extension;
use executor::Machines;
use spec::Spec;

/// The slice.
#[derive(Debug)]
pub struct Vm;

impl Feature for Vm {
    fn commands(&self) -> Vec<Subcommand> {
        vec![Subcommand::new(guest::FIRST, guest::execute).hidden()]
    }

    fn section(&self) -> Option<&'static dyn Extension> {
        Some(&spec::VmSection)
    }

    fn place(&self, study: &Study, plan: &Plan) -> Result<Option<Box<dyn Elsewhere>>, CommandError> {
        let Some(spec) = Spec::of(study.sections.get(spec::NAME)).filter(|_| plan.boots()) else { return Ok(None) };
        let found = accelerator::find(spec.accelerator).map_err(|why| {
            CommandError::usage(why)
                .hint("on Debian: apt-get install qemu-system-x86; bakeoff doctor says what boots here")
        })?;
        Ok(Some(Box::new(Machines { spec, found })))
    }

    fn checks(&self) -> Vec<Check> {
        vec![check()]
    }
}

/// What a kernel that is booted here would be measured in.
fn check() -> Check {
    let name = "virtual machine";
    let Some(qemu) = accelerator::qemu() else {
        let check = Check::missing(name, "qemu is not installed", "studies that boot kernels cannot be executed");
        return check.remedy("sudo apt-get install qemu-system-x86");
    };
    match accelerator::boots(&qemu, "kvm") {
        Ok(()) => Check::good(name, "boots with KVM; each study tries its kernel", "kernels are compared in seconds"),
        Err(why) => match accelerator::boots(&qemu, "tcg") {
            Ok(()) => Check::noisy(
                name,
                format!("boots by emulation only: {why}"),
                "kernels are compared in guest instructions, which know neither caches nor a pipeline",
            ),
            Err(why) => Check::missing(name, why, "studies that boot kernels cannot be executed"),
        },
    }
}
