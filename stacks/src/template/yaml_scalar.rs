//! Serializes YAML scalars so that every YAML parser reads a string as a string.
//!
//! A string is written without quotes only if it is certain that no parser reads it as another
//! type. Some strings are therefore quoted although it is not necessary.

use std::fmt::Write as _;

use serde_json::Value;

/// The words that YAML 1.1 or 1.2 reads as a boolean, a null or a number, regardless of letter
/// case.
const RESERVED_WORDS: [&str; 13] =
    ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nil", "none", "nan", "inf"];

pub(super) fn yaml_scalar(value: &Value) -> String {
    match value {
        Value::String(text) => yaml_string(text),
        // The syntax of numbers, booleans, null and empty containers is the same in JSON and YAML.
        other => other.to_string(),
    }
}

/// Returns a string without quotes if no parser reads it as another type, and otherwise in double
/// quotes.
pub(super) fn yaml_string(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { quoted(text) }
}

/// Returns whether a string may be written without quotes.
///
/// - It starts with a letter, because numbers, dates and YAML indicators do not.
/// - It contains only letters, digits, some punctuation and single spaces.
/// - It contains no colon before a space or at the end, because the text before the colon would be
///   a key.
/// - It is not one of [`RESERVED_WORDS`].
fn is_plain(text: &str) -> bool {
    let starts_with_letter = text.starts_with(|first: char| first.is_ascii_alphabetic());
    let has_plain_characters = text.chars().all(is_plain_character);
    let has_invalid_space = text.contains("  ") || text.ends_with(' ');
    let has_key = text.contains(": ") || text.ends_with(':');
    let is_reserved_word = RESERVED_WORDS.iter().any(|word| word.eq_ignore_ascii_case(text));
    starts_with_letter
        && has_plain_characters
        && !has_invalid_space
        && !has_key
        && !is_reserved_word
}

const fn is_plain_character(character: char) -> bool {
    character.is_ascii_alphanumeric()
        || matches!(character, '_' | '.' | '/' | '-' | ',' | ';' | '(' | ')' | ':' | ' ')
}

fn quoted(text: &str) -> String {
    let mut output = String::from('"');
    for character in text.chars() {
        match character {
            '"' => output.push_str("\\\""),
            '\\' => output.push_str("\\\\"),
            '\n' => output.push_str("\\n"),
            '\t' => output.push_str("\\t"),
            '\r' => output.push_str("\\r"),
            ' '..='~' => output.push(character),
            _ if character.is_alphanumeric() => output.push(character),
            _ => write_escape_sequence(u32::from(character), &mut output),
        }
    }
    output.push('"');
    output
}

fn write_escape_sequence(code_point: u32, output: &mut String) {
    // Writing to a `String` cannot fail.
    let _ = match code_point {
        0..=0xff => write!(output, "\\x{code_point:02x}"),
        0x100..=0xffff => write!(output, "\\u{code_point:04x}"),
        _ => write!(output, "\\U{code_point:08x}"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Strings that some YAML parsers would read as another type if the strings were unquoted.
    const AMBIGUOUS: &[&str] = &[
        "",
        " ",
        " a",
        "a ",
        "a  b",
        "~",
        "null",
        "Null",
        "NULL",
        "nil",
        "none",
        "y",
        "Y",
        "n",
        "N",
        "yes",
        "Yes",
        "YES",
        "no",
        "No",
        "NO",
        "on",
        "On",
        "ON",
        "off",
        "Off",
        "OFF",
        "true",
        "True",
        "TRUE",
        "false",
        "False",
        "FALSE",
        "0",
        "1",
        "-1",
        "+1",
        "01",
        "0o7",
        "0x1f",
        "0b1",
        "1_000",
        "1,000",
        "12:30:00",
        "190:20:30",
        "1.5",
        ".5",
        "5.",
        "1e3",
        "1.0e+3",
        "-.5",
        ".inf",
        "-.inf",
        "+.INF",
        ".nan",
        ".NaN",
        "nan",
        "inf",
        "685_230.15",
        "_1",
        "2012-10-17",
        "2010-09-09",
        "2001-12-14t21:59:43.10-05:00",
        "=",
        "<<",
        "<",
        ">",
        "|",
        "-",
        "- a",
        "--- a",
        "---",
        "...",
        "?",
        "? a",
        ":",
        ": a",
        "a: b",
        "a:",
        "a: ",
        "a #b",
        "#a",
        "#",
        "&a",
        "*a",
        "*",
        "!a",
        "!",
        "!!str a",
        "%a",
        "%YAML 1.2",
        "@a",
        "`a",
        "'a'",
        "\"a\"",
        "'",
        "\"",
        "[a]",
        "[",
        "]",
        "{a}",
        "{",
        "}",
        ",",
        ",a",
        "\\",
        "a\nb",
        "a\n",
        "\n",
        "a\tb",
        "\t",
        "a\rb",
        "\u{0}",
        "\u{7}",
        "\u{7f}",
        "\u{85}",
        "\u{a0}",
        "\u{2028}",
        "\u{2029}",
        "\u{feff}",
        "\u{200b}",
        "😀",
        "é",
        "日本",
        "\u{fffe}",
    ];

    #[test]
    fn ambiguous_strings_are_quoted_and_read_back() {
        for text in AMBIGUOUS {
            let written = yaml_string(text);
            assert!(written.starts_with('"') && written.ends_with('"'), "{written}");
            assert_eq!(serde_yaml::from_str::<String>(&written).unwrap(), *text);
            let value: serde_yaml::Value = serde_yaml::from_str(&written).unwrap();
            assert_eq!(value, serde_yaml::Value::from(*text), "{written}");
        }
    }

    #[test]
    fn ambiguous_strings_are_safe_as_keys_and_in_lists() {
        for text in AMBIGUOUS {
            let written = format!("{}:\n  - {}\n", yaml_string(text), yaml_string(text));
            let value: Value = serde_yaml::from_str(&written).unwrap();
            assert_eq!(value[*text][0], **text, "{written}");
        }
    }

    #[test]
    fn common_strings_stay_unquoted() {
        for text in [
            "AWS::DynamoDB::Table",
            "Fn::GetAtt",
            "dynamodb:GetItem",
            "lambda.amazonaws.com",
            "provided.al2023",
            "A sentence, with (some) marks: none.",
            "x86_64",
            "nobody",
        ]
        .map(|text| text.replace(": ", " "))
        {
            assert_eq!(yaml_string(&text), text);
            let value: Value = serde_yaml::from_str(&text).unwrap();
            assert_eq!(value, text);
        }
    }

    #[test]
    fn other_scalars_are_not_quoted() {
        for (value, text) in
            [(Value::from(1), "1"), (Value::from(true), "true"), (Value::Null, "null")]
        {
            assert_eq!(yaml_scalar(&value), text);
        }
    }
}
