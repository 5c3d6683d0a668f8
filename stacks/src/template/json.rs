//! JSON serialization with two-space indentation. Entries are in the order of [`ordered`].

use serde_json::Value;

use super::order::ordered;

/// Returns a document as JSON with a trailing newline.
pub(super) fn to_document(value: &Value) -> String {
    let mut out = String::new();
    write_value(value, 0, &mut out);
    out.push('\n');
    out
}

fn write_value(value: &Value, level: usize, out: &mut String) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            let entries = ordered(map, level).into_iter().map(|(key, inner)| (Some(key), inner));
            write_container('{', '}', entries, level, out);
        }
        Value::Array(items) if !items.is_empty() => {
            write_container('[', ']', items.iter().map(|inner| (None, inner)), level, out);
        }
        // serde_json already writes scalars and empty containers in the required form.
        value => out.push_str(&value.to_string()),
    }
}

fn write_container<'a>(
    open: char,
    close: char,
    entries: impl Iterator<Item = (Option<&'a String>, &'a Value)>,
    level: usize,
    out: &mut String,
) {
    out.push(open);
    for (index, (key, inner)) in entries.enumerate() {
        out.push_str(if index == 0 { "\n" } else { ",\n" });
        write_indent(level + 1, out);
        if let Some(key) = key {
            out.push_str(&Value::from(key.as_str()).to_string());
            out.push_str(": ");
        }
        write_value(inner, level + 1, out);
    }
    out.push('\n');
    write_indent(level, out);
    out.push(close);
}

fn write_indent(level: usize, out: &mut String) {
    out.extend(std::iter::repeat_n("  ", level));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn writes_the_same_text_as_serde_json_for_sorted_keys() {
        let value = json!({
            "a": [1, [], {}, {"b": "c\"\n\u{1}é"}],
            "b": {"x": null, "y": true, "z": [["deep"]]},
        });
        assert_eq!(to_document(&value), format!("{value:#}\n"));
        assert_eq!(to_document(&json!("x")), "\"x\"\n");
    }
}
