//! YAML serialization in block style. Entries are in the order of [`ordered`].

use serde_json::Value;

use super::order::ordered;
use super::yaml_scalar::{scalar, string};

/// Maximum length of a key written in the short form, in bytes. Longer keys are written as `? key`.
/// YAML limits short keys to 1,024 characters.
const SHORT_KEY_BYTES: usize = 1000;

/// Returns a document as YAML with a trailing newline.
pub(super) fn to_document(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Object(_) | Value::Array(_) if !is_inline(value) => {
            write_block(value, 0, 0, &mut out);
        }
        value => {
            out.push_str(&scalar(value));
            out.push('\n');
        }
    }
    out
}

/// Returns whether a value is written on the same line as its key.
fn is_inline(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => true,
    }
}

/// Writes a container whose first line is already indented. `level` is the nesting level, `column`
/// the indentation in spaces.
fn write_block(value: &Value, level: usize, column: usize, out: &mut String) {
    match value {
        Value::Object(map) => {
            for (index, (key, inner)) in ordered(map, level).into_iter().enumerate() {
                indent_line(index, column, out);
                write_entry(key, inner, level, column, out);
            }
        }
        Value::Array(items) => {
            for (index, inner) in items.iter().enumerate() {
                indent_line(index, column, out);
                out.push_str("- ");
                if is_inline(inner) {
                    write_inline(inner, out);
                } else {
                    write_block(inner, level + 1, column + 2, out);
                }
            }
        }
        other => write_inline(other, out),
    }
}

fn write_entry(key: &str, inner: &Value, level: usize, column: usize, out: &mut String) {
    let key = string(key);
    if key.len() > SHORT_KEY_BYTES {
        out.push_str("? ");
        out.push_str(&key);
        out.push('\n');
        write_indent(column, out);
    } else {
        out.push_str(&key);
    }
    out.push(':');
    if is_inline(inner) {
        out.push(' ');
        write_inline(inner, out);
    } else {
        out.push('\n');
        write_indent(column + 2, out);
        write_block(inner, level + 1, column + 2, out);
    }
}

/// Indents a line of a block. No-op for the first line, which continues the previous line.
fn indent_line(index: usize, column: usize, out: &mut String) {
    if index > 0 {
        write_indent(column, out);
    }
}

fn write_inline(value: &Value, out: &mut String) {
    out.push_str(&scalar(value));
    out.push('\n');
}

fn write_indent(column: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', column));
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
