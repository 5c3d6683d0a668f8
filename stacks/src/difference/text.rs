//! Formats template values as short text, such as `${EntryTable.Arn}` instead of nested maps.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::expression::{
    Intrinsic, SubstitutionPart, intrinsic, parse_intrinsic, parse_substitution,
};

/// Returns the `Fn::Sub` text equivalent to a value, or `None` unless the value is a scalar or an
/// intrinsic function that returns text.
pub(super) fn substitution_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(escape_literal(text)),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) => None,
        Value::Object(map) => match parse_intrinsic(value) {
            Ok(Some(function)) => intrinsic_text(&function),
            Ok(None) => None,
            // In YAML, the short form `Fn::GetAtt: Table.Arn` is also valid.
            Err(_) => short_attribute_text(map),
        },
    }
}

fn short_attribute_text(map: &Map<String, Value>) -> Option<String> {
    let text = map.get(intrinsic::GET_ATT)?.as_str()?;
    let (logical_id, attribute) = text.split_once('.')?;
    if logical_id.is_empty() || attribute.is_empty() {
        return None;
    }
    Some(format!("${{{text}}}"))
}

fn intrinsic_text(function: &Intrinsic<'_>) -> Option<String> {
    match function {
        Intrinsic::Reference(logical_id) => Some(format!("${{{logical_id}}}")),
        Intrinsic::Attribute { logical_id, attribute } => {
            Some(format!("${{{logical_id}.{attribute}}}"))
        }
        Intrinsic::Join { separator, parts } => {
            let parts: Option<Vec<String>> = parts.iter().map(substitution_text).collect();
            Some(parts?.join(&escape_literal(separator)))
        }
        Intrinsic::Substitution { text, variables } => {
            let parts = parse_substitution(text).ok()?;
            parts.into_iter().map(|part| part_text(part, *variables)).collect()
        }
    }
}

fn part_text(part: SubstitutionPart, variables: Option<&Map<String, Value>>) -> Option<String> {
    Some(match part {
        SubstitutionPart::Text(text) => escape_literal(&text),
        SubstitutionPart::Name(name) => match variables.and_then(|all| all.get(&name)) {
            Some(value) => substitution_text(value)?,
            None => format!("${{{name}}}"),
        },
        SubstitutionPart::Attribute { logical_id, attribute } => {
            format!("${{{logical_id}.{attribute}}}")
        }
    })
}

/// Escapes a literal text for `Fn::Sub`.
fn escape_literal(text: &str) -> String {
    text.replace("${", "${!")
}

/// Formats a value as one readable line without control characters. Literal text is quoted;
/// references are not, because their values are known only after deployment.
pub fn readable(value: &Value) -> String {
    let mut out = String::new();
    write_value(value, &mut out);
    out
}

fn write_value(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => match substitution_text(value) {
            Some(text) => out.push_str(&printable(&text)),
            None => {
                let mut entries: Vec<_> = map.iter().collect();
                entries.sort_by_key(|(key, _)| *key);
                let entries = entries.into_iter().map(|(key, inner)| (Some(key), inner));
                write_container('{', '}', entries, out);
            }
        },
        Value::Array(items) => {
            write_container('[', ']', items.iter().map(|inner| (None, inner)), out);
        }
        scalar => out.push_str(&printable(&scalar.to_string())),
    }
}

fn write_container<'a>(
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
        write_value(inner, out);
    }
    out.push(close);
}

/// Escapes control and other invisible characters, which a terminal or browser would not show.
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        // Includes characters that change the text direction, which could make a line look like a
        // different one.
        let is_invisible = matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}' | '\u{feff}');
        if c.is_control() || is_invisible {
            // Writing to a `String` cannot fail.
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
    fn intrinsic_functions_are_written_as_placeholders() {
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
    fn literal_placeholders_are_escaped() {
        assert_eq!(substitution_text(&json!("${Table}")).unwrap(), "${!Table}");
        assert_eq!(substitution_text(&json!({"Ref": "Table"})).unwrap(), "${Table}");
    }

    #[test]
    fn control_characters_are_escaped() {
        let text = readable(&json!("a\u{1b}[2Jb\n\u{202e}c\u{9b}"));
        assert!(text.chars().all(|c| (' '..='~').contains(&c)), "{text}");
        let text = readable(&json!({"\u{1b}": {"Ref": "\u{7}"}}));
        assert!(text.chars().all(|c| (' '..='~').contains(&c)), "{text}");
    }
}
