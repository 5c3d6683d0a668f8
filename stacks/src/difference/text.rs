//! Formats template values as short text. For example, a nested map becomes `${EntryTable.Arn}`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::expression::{
    Intrinsic, SubstitutionPart, intrinsic, parse_intrinsic, parse_substitution,
};

/// Returns the text of an `Fn::Sub` that is equivalent to a value. Returns `None` unless the value
/// is a scalar or an intrinsic function that returns a string.
pub(super) fn substitution_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(escape_literal(text)),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) => None,
        Value::Object(map) => match parse_intrinsic(value) {
            Ok(Some(intrinsic_function)) => substitution_text_of_intrinsic(&intrinsic_function),
            Ok(None) => None,
            // `Fn::GetAtt: Table.Arn` is a valid short form in YAML.
            Err(_) => substitution_text_of_short_attribute(map),
        },
    }
}

fn substitution_text_of_short_attribute(map: &Map<String, Value>) -> Option<String> {
    let text = map.get(intrinsic::GET_ATT)?.as_str()?;
    let (logical_id, attribute) = text.split_once('.')?;
    if logical_id.is_empty() || attribute.is_empty() {
        return None;
    }
    Some(format!("${{{text}}}"))
}

fn substitution_text_of_intrinsic(intrinsic_function: &Intrinsic<'_>) -> Option<String> {
    match intrinsic_function {
        Intrinsic::Reference(logical_id) => Some(format!("${{{logical_id}}}")),
        Intrinsic::Attribute { logical_id, attribute } => {
            Some(format!("${{{logical_id}.{attribute}}}"))
        }
        Intrinsic::Join { separator, parts } => {
            let part_texts: Option<Vec<String>> = parts.iter().map(substitution_text).collect();
            Some(part_texts?.join(&escape_literal(separator)))
        }
        Intrinsic::Substitution { text, variables } => {
            let parts = parse_substitution(text).ok()?;
            parts.into_iter().map(|part| substitution_text_of_part(part, *variables)).collect()
        }
    }
}

fn substitution_text_of_part(
    part: SubstitutionPart,
    variables: Option<&Map<String, Value>>,
) -> Option<String> {
    match part {
        SubstitutionPart::Text(text) => Some(escape_literal(&text)),
        SubstitutionPart::Name(name) => {
            let variable_value = variables.and_then(|variables| variables.get(&name));
            match variable_value {
                Some(value) => substitution_text(value),
                None => Some(format!("${{{name}}}")),
            }
        }
        SubstitutionPart::Attribute { logical_id, attribute } => {
            Some(format!("${{{logical_id}.{attribute}}}"))
        }
    }
}

fn escape_literal(text: &str) -> String {
    text.replace("${", "${!")
}

/// Formats a value as one line without control characters. Literal strings are quoted, but
/// references are not, because their values are unknown until deployment.
pub fn readable(value: &Value) -> String {
    let mut output = String::new();
    write_value(value, &mut output);
    output
}

fn write_value(value: &Value, output: &mut String) {
    match value {
        Value::Object(entries) => match substitution_text(value) {
            Some(text) => output.push_str(&printable(&text)),
            None => write_map(entries, output),
        },
        Value::Array(items) => write_list(items, output),
        scalar => output.push_str(&printable(&scalar.to_string())),
    }
}

fn write_map(entries: &Map<String, Value>, output: &mut String) {
    let sorted_entries: BTreeMap<&String, &Value> = entries.iter().collect();
    output.push('{');
    for (index, (key, value)) in sorted_entries.into_iter().enumerate() {
        write_separator(index, output);
        output.push_str(&printable(&Value::from(key.as_str()).to_string()));
        output.push_str(": ");
        write_value(value, output);
    }
    output.push('}');
}

fn write_list(items: &[Value], output: &mut String) {
    output.push('[');
    for (index, item) in items.iter().enumerate() {
        write_separator(index, output);
        write_value(item, output);
    }
    output.push(']');
}

fn write_separator(index: usize, output: &mut String) {
    if index > 0 {
        output.push_str(", ");
    }
}

/// Escapes all characters that a terminal or browser would not show, such as control characters.
pub fn printable(text: &str) -> String {
    let mut output = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() || is_invisible(character) {
            // Writing to a `String` cannot fail.
            let _ = write!(output, "\\u{{{:x}}}", u32::from(character));
        } else {
            output.push(character);
        }
    }
    output
}

/// Returns whether a character is invisible. Characters that change the text direction also count,
/// because they could change the appearance of a line.
const fn is_invisible(character: char) -> bool {
    matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}' | '\u{feff}')
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
