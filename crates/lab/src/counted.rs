//! Trials in which something is counted and nothing is measured. Each is run twice: as it is, which shows whether it does what
//! it should and how much of its time it spends in user mode, and then with the counter in the place of its command.

use crate::intrusive::{Diagnosed, IntrusiveProbe, Subject};
use crate::{Error, Execution, Executor, Linked, Look, Pass, Task};
use bakeoff_host::abilities::splits_cpu_time;
use bakeoff_model::marks::Marks;
use bakeoff_model::metric::{Measurements, RUN_DELAY, SEEN, USER, WALL};
use bakeoff_model::plan::Plan;
use bakeoff_model::record::{Failure, Outcome, Surrounding, Unavailable, is_baseline_again};
use bakeoff_model::suite::Parts;

/// A kernel that samples user and system time by its timer may give either a tick too much: of 100 Hz at the slowest.
const TICK_S: f64 = 0.01;

/// A probe that counts one thing.
pub trait Counter: IntrusiveProbe {
    /// What it counted in the last trial.
    fn counted(&self) -> f64;
}

/// A place at which trials are counted.
pub struct Counted<'a> {
    place: Box<dyn Executor + 'a>,
    counter: Box<dyn Counter>,
    /// What is counted.
    metric: String,
    /// What the plan asks for besides.
    others: Vec<String>,
    baseline: String,
    /// What user time may be too much.
    tick_s: f64,
}

impl<'a> Counted<'a> {
    /// Counts the deciding metric of a plan at that place.
    pub fn new(place: Box<dyn Executor + 'a>, counter: Box<dyn Counter>, plan: &Plan) -> Self {
        let mut asked = plan.decide.metrics.iter().cloned();
        let metric = asked.next().unwrap_or_default();
        let others = asked.chain(plan.void_if.iter().map(|rule| rule.metric.clone()));
        let tick_s = if splits_cpu_time() == Some(true) { 0.0 } else { TICK_S };
        let baseline = plan.baseline().name.clone();
        Self { place, counter, metric, others: others.collect(), baseline, tick_s }
    }

    /// Counts what has just been run, into its execution; none if that was interrupted.
    fn count(&mut self, task: Task<'_>, execution: &mut Execution) -> Result<Option<()>, Error> {
        // Services of the block have seen a trial; the counter gets those that have not.
        self.place.block_ended()?;
        let variant = if is_baseline_again(task.variant) { &self.baseline } else { task.variant };
        let subject = Subject { variant, workload: &task.block.workload };
        let Some(diagnosed) = self.place.diagnose(subject, &mut *self.counter)? else { return Ok(None) };
        match diagnosed {
            Diagnosed::Executed { failure: None, .. } => {
                execution.measurements.insert(self.metric.clone(), self.counter.counted());
            }
            Diagnosed::Executed { failure: Some(failure), .. } | Diagnosed::Failed(failure) => {
                execution.outcome = Outcome::Failed(failure);
            }
            Diagnosed::Missing { why } => {
                let part = format!("counting {}", self.metric);
                execution.outcome = Outcome::Failed(Failure::Surroundings { part, why, tail: vec![] });
            }
        }
        Ok(Some(()))
    }
}

/// The share of a trial's time that its processes spent in user mode, at least: of the time in which it did not wait for a
/// processor, which is the machine's doing. What several processes do at once may hide that each of them waits.
fn seen(measured: &Measurements, tick_s: f64) -> Option<f64> {
    let [user_s, wall_s, delay_s] = [USER, WALL, RUN_DELAY].map(|name| measured.get(name).copied());
    let own_s = wall_s? - delay_s.unwrap_or(0.0);
    (own_s > 0.0).then(|| ((user_s.unwrap_or(0.0) - tick_s) / own_s).clamp(0.0, 1.0))
}

impl Executor for Counted<'_> {
    fn execute(&mut self, task: Task<'_>) -> Result<Option<Execution>, Error> {
        let Some(mut execution) = self.place.execute(task)? else { return Ok(None) };
        let seen = seen(&execution.measurements, self.tick_s);
        execution.measurements = seen.into_iter().map(|seen| (SEEN.to_owned(), seen)).collect();
        (execution.marks, execution.parts, execution.processes) = (Marks::default(), Parts::default(), vec![]);
        if execution.outcome == Outcome::Ok && self.count(task, &mut execution)?.is_none() {
            return Ok(None);
        }
        Ok(Some(execution))
    }

    fn end(&mut self) -> Result<Vec<String>, Error> {
        self.place.end()
    }

    fn surroundings(&self) -> Vec<Surrounding> {
        self.place.surroundings()
    }

    fn enclosure(&self) -> Option<&'static str> {
        self.place.enclosure()
    }

    fn unavailable(&self) -> Vec<Unavailable> {
        let why = format!("this study counts {}, and measures nothing else", self.metric);
        vec![Unavailable { metrics: self.others.clone(), why }]
    }

    fn look(&mut self) -> Result<Look, Error> {
        self.place.look()
    }

    fn look_at_all(&mut self) -> Result<Look, Error> {
        self.place.look_at_all()
    }

    fn pass_begins(&mut self, pass: &Pass<'_>) -> Result<Option<Linked>, Error> {
        self.place.pass_begins(pass)
    }

    fn pass_ended(&mut self) -> Result<(), Error> {
        self.place.pass_ended()
    }

    fn diagnose(&mut self, subject: Subject<'_>, probe: &mut dyn IntrusiveProbe) -> Result<Option<Diagnosed>, Error> {
        self.place.diagnose(subject, probe)
    }

    fn block_ended(&mut self) -> Result<(), Error> {
        self.place.block_ended()
    }
}
