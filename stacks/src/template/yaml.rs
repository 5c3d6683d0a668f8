//! Serializes templates as YAML in block style. Entries are in the order of [`ordered_entries`].

use serde_json::Value;

use super::order::ordered_entries;
use super::yaml_scalar::{yaml_scalar, yaml_string};

/// The maximum length in bytes of a key that is written as `key:`. Longer keys are written as `?
/// key`, because YAML limits the short form to 1,024 characters.
const SHORT_KEY_BYTES: usize = 1000;
const INDENT_PER_LEVEL: usize = 2;

/// Returns a document as YAML that ends with a newline.
pub(super) fn to_document(value: &Value) -> String {
    let mut output = String::new();
    if is_written_inline(value) {
        write_inline(value, &mut output);
    } else {
        write_block(value, 0, 0, &mut output);
    }
    output
}

fn is_written_inline(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => true,
    }
}

/// Writes a map or list whose first line is already indented. `indent` is the number of spaces
/// before every other line.
fn write_block(value: &Value, level: usize, indent: usize, output: &mut String) {
    match value {
        Value::Object(map) => {
            for (index, (key, entry_value)) in ordered_entries(map, level).into_iter().enumerate() {
                indent_line(index, indent, output);
                write_map_entry(key, entry_value, level, indent, output);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                indent_line(index, indent, output);
                output.push_str("- ");
                if is_written_inline(item) {
                    write_inline(item, output);
                } else {
                    write_block(item, level + 1, indent + INDENT_PER_LEVEL, output);
                }
            }
        }
        scalar => write_inline(scalar, output),
    }
}

fn write_map_entry(
    key: &str,
    entry_value: &Value,
    level: usize,
    indent: usize,
    output: &mut String,
) {
    let key_text = yaml_string(key);
    if key_text.len() > SHORT_KEY_BYTES {
        output.push_str("? ");
        output.push_str(&key_text);
        output.push('\n');
        write_indent(indent, output);
    } else {
        output.push_str(&key_text);
    }
    output.push(':');
    if is_written_inline(entry_value) {
        output.push(' ');
        write_inline(entry_value, output);
    } else {
        let inner_indent = indent + INDENT_PER_LEVEL;
        output.push('\n');
        write_indent(inner_indent, output);
        write_block(entry_value, level + 1, inner_indent, output);
    }
}

/// Indents a line of a block. No-op for the first line, which continues a line that is already
/// indented.
fn indent_line(index: usize, indent: usize, output: &mut String) {
    if index > 0 {
        write_indent(indent, output);
    }
}

fn write_inline(value: &Value, output: &mut String) {
    output.push_str(&yaml_scalar(value));
    output.push('\n');
}

fn write_indent(indent: usize, output: &mut String) {
    output.extend(std::iter::repeat_n(' ', indent));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn blocks_are_indented_by_two() {
        let value = json!({"a": {"b": [{"c": "d", "e": []}, [1, [true]], "f"]}, "g": {}});
        assert_eq!(
            to_document(&value),
            "a:\n  b:\n    - c: d\n      e: []\n    - - 1\n      - - true\n    - f\ng: {}\n"
        );
    }

    #[test]
    fn a_document_may_be_a_single_value() {
        for value in [json!("x"), json!(""), json!([]), json!({}), json!(["a"]), json!(null)] {
            let back: Value = serde_yaml::from_str(&to_document(&value)).unwrap();
            assert_eq!(back, value);
        }
    }

    #[test]
    fn long_keys_are_read_back() {
        for length in [1000, 1023, 1024, 1025, 5000] {
            let value = json!({ "k".repeat(length): {"a": ["b"]}, "\u{1}".repeat(length): "c" });
            let back: Value = serde_yaml::from_str(&to_document(&value)).unwrap();
            assert_eq!(back, value);
        }
    }

    /// Generates strings that look like another type, and strings of arbitrary characters.
    fn text() -> impl Strategy<Value = String> {
        prop_oneof![
            "[-+~=<>?:,{}#&*!|'\"%@`. a0_xeEnyNY\\[\\]\\\\]{0,12}",
            "[0-9:._eExo+-]{1,8}",
            any::<String>(),
        ]
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            8 => text().prop_map(Value::from),
            1 => any::<i64>().prop_map(Value::from),
            1 => any::<bool>().prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map(text(), inner, 0..6)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn any_value_is_read_back_unchanged(value in value()) {
            let text = to_document(&value);
            let back: Value = serde_yaml::from_str(&text)
                .map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
            prop_assert_eq!(back, value);
        }
    }
}
