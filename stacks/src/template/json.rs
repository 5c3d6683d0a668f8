//! Writes JSON with two spaces a level, in the order of [`ordered`].

use serde_json::Value;

use super::order::ordered;

/// A whole document, with a newline at its end.
pub(super) fn document(value: &Value) -> String {
    let mut out = String::new();
    write(value, 0, &mut out);
    out.push('\n');
    out
}

fn write(value: &Value, level: usize, out: &mut String) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            let entries = ordered(map, level).into_iter().map(|(key, inner)| (Some(key), inner));
            block('{', '}', entries, level, out);
        }
        Value::Array(items) if !items.is_empty() => {
            block('[', ']', items.iter().map(|inner| (None, inner)), level, out);
        }
        // Scalars and empty containers: serde_json's own text, which cannot fail.
        value => out.push_str(&value.to_string()),
    }
}

fn block<'a>(
    open: char,
    close: char,
    entries: impl Iterator<Item = (Option<&'a String>, &'a Value)>,
    level: usize,
    out: &mut String,
) {
    out.push(open);
    for (index, (key, inner)) in entries.enumerate() {
        out.push_str(if index == 0 { "\n" } else { ",\n" });
        indent(level + 1, out);
        if let Some(key) = key {
            out.push_str(&Value::from(key.as_str()).to_string());
            out.push_str(": ");
        }
        write(inner, level + 1, out);
    }
    out.push('\n');
    indent(level, out);
    out.push(close);
}

fn indent(level: usize, out: &mut String) {
    out.extend(std::iter::repeat_n("  ", level));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_text_is_that_of_serde_json_where_the_order_agrees() {
        let value = json!({
            "a": [1, [], {}, {"b": "c\"\n\u{1}é"}],
            "b": {"x": null, "y": true, "z": [["deep"]]},
        });
        assert_eq!(document(&value), format!("{value:#}\n"));
        assert_eq!(document(&json!("x")), "\"x\"\n");
    }
}
