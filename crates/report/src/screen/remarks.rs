//! What the screen says besides rows and answer: facts, doubts and advice, in their order.

use super::doubts;
use super::facts::{self, Cause};
use super::remark::{Doubt, Fact, Weight};
use super::view::View;
use crate::draw::paint::Ink;
use crate::draw::rendered::Rendered;
use crate::draw::text::clean;
use crate::places;
use crate::words::Wording;
use bakeoff_judge::findings::Findings;

/// Everything that is worth saying.
#[derive(Debug, Clone, Default)]
pub(crate) struct Remarks {
    pub(crate) facts: Vec<Fact>,
    /// The gravest first.
    pub(crate) doubts: Vec<Doubt>,
    /// How to decide what is open: the last line.
    pub(crate) advice: Option<Fact>,
}

impl Remarks {
    pub(super) fn of(findings: &Findings, view: Option<&View<'_>>, causes: &[Cause]) -> Self {
        let mut doubts = doubts::alarms(findings, view);
        doubts.extend(doubts::doubts(findings, view));
        let mut remarks = Self { facts: vec![], doubts, advice: None };
        if let Some(view) = view {
            remarks.add("blocks", facts::blocks(view), 60);
            let wording = Wording::of(view.unit, view.better);
            remarks.add("nodes", places::everywhere(findings, view.condition, wording), 12);
            remarks.add("pairs", facts::pairs(view), 65);
            remarks.add("costs", facts::costs(findings, view), 50);
            remarks.add("services", facts::services(findings, view), 45);
            remarks.add("trends", facts::trends(findings, view), 25);
            remarks.add("options", facts::options(findings, view), 30);
            remarks.add("workloads", facts::disagreeing(findings, view), 15);
            remarks.add("conditions", facts::conditions(findings, view), 10);
            remarks.add("causes", facts::causes(findings, causes), 20);
        }
        remarks.add("run-again", places::run_again(findings), 70);
        if !findings.asked.is_empty() {
            let asked = findings.asked.iter().map(|part| clean(part)).collect::<Vec<_>>().join(", ");
            let text = format!("judged with settings other than the study's: {asked}");
            remarks.facts.push(Fact { id: "asked", text: text.into(), ink: Ink::Open, priority: 1 });
        }
        let advice = view.and_then(|view| facts::to_decide(findings, view));
        remarks.advice = advice.map(|text| Fact { id: "to-decide", text: text.into(), ink: Ink::Open, priority: 35 });
        remarks
    }

    /// Of several facts of a kind the first stays longest.
    fn add<T: Into<Rendered>>(&mut self, id: &'static str, texts: impl IntoIterator<Item = T>, priority: u32) {
        let facts =
            (priority..).zip(texts).map(|(priority, text)| Fact { id, text: text.into(), ink: Ink::Plain, priority });
        self.facts.extend(facts);
    }

    pub(super) fn alarms(&self) -> impl Iterator<Item = &Doubt> {
        self.doubts.iter().filter(|doubt| doubt.weight == Weight::Alarm)
    }

    /// Facts, doubts but alarms, and the advice: as they are printed.
    pub(super) fn lines(&self) -> impl Iterator<Item = (Rendered, Ink, u32)> {
        let fact = |fact: &Fact| (fact.text.clone(), fact.ink, fact.priority);
        let doubts = self.doubts.iter().filter(|doubt| doubt.weight != Weight::Alarm);
        let doubts = doubts.map(|doubt| (doubt.line(), doubt.ink(), doubt.priority));
        self.facts.iter().map(fact).chain(doubts).chain(self.advice.iter().map(fact))
    }
}
