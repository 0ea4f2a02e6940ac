//! Findings as JSON: their own fields, with each doubt as its kind and its sentence, and each reason why an effect is not
//! estimated as a sentence. Nothing reads it back here: it is made to be passed on.

use crate::caveats::{alias, caveat, refusal};
use bakeoff_judge::findings::{Alias, Caveat, Refusal};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Pretty-printed, with a final line feed.
///
/// # Errors
/// Passes on the serialiser's word, should a value ever have no form in JSON.
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
                        items.iter_mut().for_each(|item| replace(item, |one: &Alias| alias(one).into()));
                    }
                    ("refused", item) => {
                        replace(item, of_caveat);
                        replace(item, |why: &Refusal| refusal(why).into());
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
    json!({ "kind": doubt.kind(), "text": caveat(doubt) })
}

/// Anything else stays as it is: a feature's section may have fields of these names.
fn replace<T: DeserializeOwned>(item: &mut Value, worded: impl Fn(&T) -> Value) {
    if let Ok(data) = T::deserialize(&*item) {
        *item = worded(&data);
    }
}
