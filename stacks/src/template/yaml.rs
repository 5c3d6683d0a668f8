//! Writes YAML in block style, in the order of [`ordered`].

use serde_json::Value;

use super::order::ordered;
use super::yaml_scalar::{scalar, string};

/// Above this many bytes a key is written in its long form (`? key`): YAML reads at most 1,024
/// characters of a short one.
const SHORT_KEY_BYTES: usize = 1000;

/// A whole document, with a newline at its end.
pub(super) fn document(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Object(_) | Value::Array(_) if !is_inline(value) => block(value, 0, 0, &mut out),
        value => {
            out.push_str(&scalar(value));
            out.push('\n');
        }
    }
    out
}

/// Whether a value fits behind its key.
fn is_inline(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => true,
    }
}

/// A container whose first line is already indented. `level` counts nesting, `column` spaces.
fn block(value: &Value, level: usize, column: usize, out: &mut String) {
    match value {
        Value::Object(map) => {
            for (index, (key, inner)) in ordered(map, level).into_iter().enumerate() {
                start_line(index, column, out);
                entry(key, inner, level, column, out);
            }
        }
        Value::Array(items) => {
            for (index, inner) in items.iter().enumerate() {
                start_line(index, column, out);
                out.push_str("- ");
                if is_inline(inner) {
                    end_line(inner, out);
                } else {
                    block(inner, level + 1, column + 2, out);
                }
            }
        }
        other => end_line(other, out),
    }
}

fn entry(key: &str, inner: &Value, level: usize, column: usize, out: &mut String) {
    let key = string(key);
    if key.len() > SHORT_KEY_BYTES {
        out.push_str("? ");
        out.push_str(&key);
        out.push('\n');
        indent(column, out);
    } else {
        out.push_str(&key);
    }
    out.push(':');
    if is_inline(inner) {
        out.push(' ');
        end_line(inner, out);
    } else {
        out.push('\n');
        indent(column + 2, out);
        block(inner, level + 1, column + 2, out);
    }
}

/// The first line of a block continues the line that opened it.
fn start_line(index: usize, column: usize, out: &mut String) {
    if index > 0 {
        indent(column, out);
    }
}

fn end_line(value: &Value, out: &mut String) {
    out.push_str(&scalar(value));
    out.push('\n');
}

fn indent(column: usize, out: &mut String) {
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
            document(&value),
            "a:\n  b:\n    - c: d\n      e: []\n    - - 1\n      - - true\n    - f\ng: {}\n"
        );
    }

    #[test]
    fn a_document_may_be_a_single_value() {
        for value in [json!("x"), json!(""), json!([]), json!({}), json!(["a"]), json!(null)] {
            let back: Value = serde_yaml::from_str(&document(&value)).unwrap();
            assert_eq!(back, value);
        }
    }

    #[test]
    fn long_keys_are_read_back() {
        for length in [1000, 1023, 1024, 1025, 5000] {
            let value = json!({ "k".repeat(length): {"a": ["b"]}, "\u{1}".repeat(length): "c" });
            let back: Value = serde_yaml::from_str(&document(&value)).unwrap();
            assert_eq!(back, value);
        }
    }

    /// Texts that look like something else, and texts of any characters.
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
        fn any_value_is_read_back_as_it_was(value in value()) {
            let text = document(&value);
            let back: Value = serde_yaml::from_str(&text)
                .map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
            prop_assert_eq!(back, value);
        }
    }
}
