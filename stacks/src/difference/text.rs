//! Values of a template as short text: `${EntryTable.Arn}` instead of nested maps.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::expression::{Intrinsic, SubstitutionPart, intrinsic, intrinsic_in, parse_substitution};

/// The text that a value stands for, in the form of `Fn::Sub`, if it is a scalar or an intrinsic
/// function that makes text.
pub(super) fn substitution_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(escaped(text)),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) => None,
        Value::Object(map) => match intrinsic_in(value) {
            Ok(Some(found)) => of_intrinsic(&found),
            Ok(None) => None,
            // YAML has also `Fn::GetAtt: Table.Arn`.
            Err(_) => short_attribute(map),
        },
    }
}

fn short_attribute(map: &Map<String, Value>) -> Option<String> {
    let text = map.get(intrinsic::GET_ATT)?.as_str()?;
    let (logical_id, attribute) = text.split_once('.')?;
    (!logical_id.is_empty() && !attribute.is_empty()).then(|| format!("${{{text}}}"))
}

fn of_intrinsic(found: &Intrinsic<'_>) -> Option<String> {
    match found {
        Intrinsic::Reference(logical_id) => Some(format!("${{{logical_id}}}")),
        Intrinsic::Attribute { logical_id, attribute } => {
            Some(format!("${{{logical_id}.{attribute}}}"))
        }
        Intrinsic::Join { separator, parts } => {
            let parts: Option<Vec<String>> = parts.iter().map(substitution_text).collect();
            Some(parts?.join(&escaped(separator)))
        }
        Intrinsic::Substitution { text, variables } => {
            let parts = parse_substitution(text).ok()?;
            parts.into_iter().map(|part| of_part(part, *variables)).collect()
        }
    }
}

fn of_part(part: SubstitutionPart, variables: Option<&Map<String, Value>>) -> Option<String> {
    Some(match part {
        SubstitutionPart::Text(text) => escaped(&text),
        SubstitutionPart::Name(name) => match variables.and_then(|all| all.get(&name)) {
            Some(value) => substitution_text(value)?,
            None => format!("${{{name}}}"),
        },
        SubstitutionPart::Attribute { logical_id, attribute } => {
            format!("${{{logical_id}.{attribute}}}")
        }
    })
}

/// Plain text as it stands in `Fn::Sub`.
fn escaped(text: &str) -> String {
    text.replace("${", "${!")
}

/// A value for people, on one line and without characters that a terminal acts upon. Text has
/// quotation marks, what is known only once it is deployed has none.
pub fn readable(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => match substitution_text(value) {
            Some(text) => out.push_str(&printable(&text)),
            None => {
                let mut entries: Vec<_> = map.iter().collect();
                entries.sort_by_key(|(key, _)| *key);
                let entries = entries.into_iter().map(|(key, inner)| (Some(key), inner));
                block('{', '}', entries, out);
            }
        },
        Value::Array(items) => block('[', ']', items.iter().map(|inner| (None, inner)), out),
        scalar => out.push_str(&printable(&scalar.to_string())),
    }
}

fn block<'a>(
    open: char,
    close: char,
    entries: impl Iterator<Item = (Option<&'a String>, &'a Value)>,
    out: &mut String,
) {
    out.push(open);
    for (index, (key, inner)) in entries.enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        if let Some(key) = key {
            out.push_str(&printable(&Value::from(key.as_str()).to_string()));
            out.push_str(": ");
        }
        write(inner, out);
    }
    out.push(close);
}

/// The text with everything written out that a terminal or a page would not show as it is.
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        // Marks that turn the direction of text make a line read as another one.
        let hidden = matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}' | '\u{feff}');
        if c.is_control() || hidden {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn intrinsics_are_short() {
        for (value, wanted) in [
            (json!({"Ref": "Table"}), "${Table}"),
            (json!({"Fn::GetAtt": ["Table", "Arn"]}), "${Table.Arn}"),
            (json!({"Fn::GetAtt": "Table.Arn"}), "${Table.Arn}"),
            (json!({"Fn::Join": ["", [{"Fn::GetAtt": ["B", "Arn"]}, "/*"]]}), "${B.Arn}/*"),
            (json!({"Fn::Join": ["-", ["a", 1, true]]}), "a-1-true"),
            (json!({"Fn::Sub": "${B.Arn}/*"}), "${B.Arn}/*"),
            (json!({"Fn::Sub": ["${x}/${B}", {"x": {"Ref": "C"}}]}), "${C}/${B}"),
            (json!({"Fn::Sub": "${!x}"}), "${!x}"),
            (json!("plain"), "\"plain\""),
            (json!(12), "12"),
            (json!({"b": [1, {"Ref": "X"}], "a": "c"}), r#"{"a": "c", "b": [1, ${X}]}"#),
            (json!({"Fn::If": ["A", 1, {"Ref": "X"}]}), r#"{"Fn::If": ["A", 1, ${X}]}"#),
        ] {
            assert_eq!(readable(&value), wanted);
        }
    }

    #[test]
    fn text_is_not_taken_for_a_reference() {
        assert_eq!(substitution_text(&json!("${Table}")).unwrap(), "${!Table}");
        assert_eq!(substitution_text(&json!({"Ref": "Table"})).unwrap(), "${Table}");
    }

    #[test]
    fn nothing_that_moves_a_cursor_is_left() {
        let text = readable(&json!("a\u{1b}[2Jb\n\u{202e}c\u{9b}"));
        assert!(text.chars().all(|c| (' '..='~').contains(&c)), "{text}");
        let text = readable(&json!({"\u{1b}": {"Ref": "\u{7}"}}));
        assert!(text.chars().all(|c| (' '..='~').contains(&c)), "{text}");
    }
}
