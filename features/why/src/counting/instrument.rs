//! Instructions as a metric, where the machine has no counters of its own: counted in every trial by our tool.

use super::probe::Counting;
use super::tool::{Ready, Tool};
use bakeoff_command::{CommandError, Instrument, OpenedInstrument};
use bakeoff_model::metric::{Direction, Metric, Unit};

/// What `why` registers.
pub(crate) const INSTRUMENT: Instrument = Instrument { metric: "instructions", open };

fn open() -> OpenedInstrument {
    let tool = match Tool::ready()? {
        Ready::Tool(tool) => tool,
        Ready::Missing(why) => {
            let error = format!("no hardware counters here, and {why}");
            let hint = "install the package valgrind and a C compiler, or choose another metric";
            return Err(CommandError::usage(error).hint(hint));
        }
    };
    let metric = Metric {
        name: INSTRUMENT.metric.into(),
        unit: Unit::Count,
        better: Direction::Less,
        what: "instructions in user mode, counted under valgrind".into(),
        source: format!("{}, with Bakeoff's tool", tool.version).into(),
        exact: true,
        counted: true,
    };
    Ok((metric, Box::new(Counting::of_commands(&tool))))
}
