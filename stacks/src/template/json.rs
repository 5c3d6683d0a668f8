//! Serializes templates as JSON with an indentation of two spaces. Entries are in the order of
//! [`ordered_entries`].

use serde_json::{Map, Value};

use super::order::ordered_entries;

/// Returns a document as JSON that ends with a newline.
pub(super) fn to_document(value: &Value) -> String {
    let mut output = String::new();
    write_value(value, 0, &mut output);
    output.push('\n');
    output
}

fn write_value(value: &Value, level: usize, output: &mut String) {
    match value {
        Value::Object(map) if !map.is_empty() => write_map(map, level, output),
        Value::Array(items) if !items.is_empty() => write_list(items, level, output),
        // serde_json already writes scalars and empty containers in the required form.
        scalar_or_empty => output.push_str(&scalar_or_empty.to_string()),
    }
}

fn write_map(map: &Map<String, Value>, level: usize, output: &mut String) {
    output.push('{');
    for (index, (key, value)) in ordered_entries(map, level).into_iter().enumerate() {
        start_line(index, level + 1, output);
        output.push_str(&Value::from(key.as_str()).to_string());
        output.push_str(": ");
        write_value(value, level + 1, output);
    }
    output.push('\n');
    write_indent(level, output);
    output.push('}');
}

fn write_list(items: &[Value], level: usize, output: &mut String) {
    output.push('[');
    for (index, item) in items.iter().enumerate() {
        start_line(index, level + 1, output);
        write_value(item, level + 1, output);
    }
    output.push('\n');
    write_indent(level, output);
    output.push(']');
}

/// Writes a comma before every element except the first.
fn start_line(index: usize, level: usize, output: &mut String) {
    output.push_str(if index == 0 { "\n" } else { ",\n" });
    write_indent(level, output);
}

fn write_indent(level: usize, output: &mut String) {
    output.extend(std::iter::repeat_n("  ", level));
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
