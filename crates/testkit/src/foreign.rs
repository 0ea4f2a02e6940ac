//! Somebody else's text: every string that can be any text is made to steer a terminal once, and every page is looked at.

use serde_json::Value;

/// What would steer a terminal.
pub const STEERING: &str = "\u{1b}[2J\u{9b}31m\u{7}\r\u{202e}";

/// Every value that comes of `value` by adding to one string, or to one key of a map.
pub fn steered(value: &Value) -> Vec<Value> {
    match value {
        Value::String(text) => vec![Value::from(format!("{text}{STEERING}"))],
        Value::Array(items) => {
            let replace = |at: usize, with: Value| {
                let mut items = items.clone();
                items[at] = with;
                Value::from(items)
            };
            let each = items.iter().enumerate();
            each.flat_map(|(at, item)| steered(item).into_iter().map(move |with| (at, with)))
                .map(|(at, with)| replace(at, with))
                .collect()
        }
        Value::Object(fields) => {
            let inside = fields.iter().flat_map(|(key, field)| {
                steered(field).into_iter().map(|with| {
                    let mut fields = fields.clone();
                    fields.insert(key.clone(), with);
                    Value::from(fields)
                })
            });
            let keys = fields.keys().map(|key| {
                let mut fields = fields.clone();
                let field = fields.remove(key).unwrap_or_default();
                fields.insert(format!("{key}{STEERING}"), field);
                Value::from(fields)
            });
            inside.chain(keys).collect()
        }
        _ => vec![],
    }
}

/// Whether nothing in a page would steer a terminal.
pub fn is_harmless(page: &str) -> bool {
    !page.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}')
}
