//! Findings as JSON: their own fields, with each doubt as its kind and its sentence, and each reason why an effect is not
//! estimated as a sentence. Nothing reads it back here: it is made to be passed on.

use crate::caveats::{alias, caveat, refusal};
use crate::draw::rendered::{Rendered, Role, Writer};
use crate::effects::effect_names;
use crate::screen::{self, Brief, BriefRow, Context, Doubt, Fact, Size, Weight};
use bakeoff_judge::findings::{Alias, Caveat, Findings, Refusal, Verdict};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Findings, and behind them the claims of the rows, facts and doubts, the answer, and the verdict on the study.
#[derive(Serialize)]
struct WithClaims<'a> {
    #[serde(flatten)]
    findings: &'a Findings,
    claims: Vec<Claim<'a>>,
    facts: Vec<Remark>,
    doubts: Vec<Remark>,
    answer: String,
    verdict: &'static str,
}

#[derive(Serialize)]
struct Claim<'a> {
    id: String,
    subject: &'a str,
    against: &'a str,
    metric: &'a str,
    workloads: Vec<&'a str>,
    condition: &'a str,
    verdict: Verdict,
    direction: Option<&'static str>,
    amount: Option<Size>,
    text: String,
    interval: String,
}

#[derive(Serialize)]
struct Remark {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    weight: Option<Weight>,
    text: String,
}

impl<'a> WithClaims<'a> {
    fn of(findings: &'a Findings) -> Self {
        let brief = screen::brief(findings, Context::default());
        let fact = |fact: &Fact| Remark { id: fact.id.to_owned(), weight: None, text: letters(&fact.text) };
        let doubt =
            |doubt: &Doubt| Remark { id: doubt.id.clone(), weight: Some(doubt.weight), text: letters(&doubt.text) };
        Self {
            findings,
            claims: claims(findings, &brief),
            facts: brief.facts.iter().map(fact).collect(),
            doubts: brief.doubts.iter().map(doubt).collect(),
            answer: letters(&brief.answer),
            verdict: screen::verdict(findings),
        }
    }
}

fn claims<'a>(findings: &'a Findings, brief: &Brief<'a>) -> Vec<Claim<'a>> {
    let (Some(about), Some(baseline)) = (&brief.about, findings.variants.first()) else { return vec![] };
    let claim = |row: &BriefRow<'a>| {
        let comparison = row.comparison?;
        let metric = findings.method.deciding_metric.as_str();
        let is_less = comparison.departure() < 0.0;
        Some(Claim {
            id: format!("{metric}:{}:{}", about.condition, row.variant),
            subject: row.variant,
            against: &baseline.name,
            metric,
            workloads: about.workloads.clone(),
            condition: about.condition,
            verdict: comparison.verdict,
            direction: comparison.differs().then_some(if is_less { "less" } else { "more" }),
            amount: row.size,
            text: letters(&row.claim),
            interval: letters(&row.interval),
        })
    };
    brief.rows.iter().filter_map(claim).collect()
}

/// The letters of a text, to print them in JSON or in a line; only tests may look at what they say.
pub fn letters(text: &Rendered) -> String {
    struct Letters(String);
    impl Writer for Letters {
        fn part(&mut self, _: Role, text: &str) {
            self.0.push_str(text);
        }
    }
    let mut letters = Letters(String::new());
    text.write_to(&mut letters);
    letters.0
}

pub(crate) fn whole(findings: &Findings) -> Result<String, serde_json::Error> {
    let mut value = serde_json::to_value(WithClaims::of(findings))?;
    name_effects(findings, &mut value);
    pretty(&value)
}

fn name_effects(findings: &Findings, value: &mut Value) {
    for (at, family) in findings.effects.iter().enumerate() {
        for (effect, written) in family.effects.iter().enumerate() {
            if let Value::Object(fields) = &mut value["effects"][at]["effects"][effect] {
                for (key, name) in ["against", "name"].into_iter().zip(effect_names(family, written).into_iter().rev())
                {
                    fields.shift_insert(1, key.to_owned(), name.into());
                }
            }
        }
    }
    if let Some(building) = &findings.building {
        name_effects(building, &mut value["building"]);
    }
}

/// Pretty-printed, with a final line feed.
pub fn pretty(findings: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut value = serde_json::to_value(findings)?;
    word(&mut value);
    Ok(serde_json::to_string_pretty(&value)? + "\n")
}

/// Puts sentences in the place of data, wherever these stand.
fn word(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (key, field) in fields {
                match (key.as_str(), &mut *field) {
                    ("caveats", Value::Array(items)) => items.iter_mut().for_each(|item| replace(item, of_caveat)),
                    ("aliases", Value::Array(items)) => {
                        items.iter_mut().for_each(|item| replace(item, |one: &Alias| letters(&alias(one)).into()));
                    }
                    ("refused", item) => {
                        replace(item, of_caveat);
                        replace(item, |why: &Refusal| letters(&refusal(why)).into());
                    }
                    _ => {}
                }
                word(field);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(word),
        _ => {}
    }
}

fn of_caveat(doubt: &Caveat) -> Value {
    json!({ "kind": doubt.kind(), "text": letters(&caveat(doubt)) })
}

/// Anything else stays as it is: a feature's section may have fields of these names.
fn replace<T: DeserializeOwned>(item: &mut Value, worded: impl Fn(&T) -> Value) {
    if let Ok(data) = T::deserialize(&*item) {
        *item = worded(&data);
    }
}
