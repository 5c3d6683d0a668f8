//! One form for all ways to write the same thing, so that a change without an effect is none.

use serde_json::{Map, Value, json};

use super::text::substitution_text;
use crate::constructs::{ListKind, ResourceType, list_kind, may_be_single};
use crate::expression::{SubstitutionPart, intrinsic, parse_substitution};

/// The form in which the value at that path of a resource is compared: sets are sorted and without
/// repetitions, lists of one are lists, and the same text has the same intrinsic function.
pub(super) fn normal(
    resource_type: Option<ResourceType>,
    path: &mut Vec<String>,
    value: Value,
) -> Value {
    match value {
        Value::Array(items) => list(resource_type, path, items),
        single if may_be_single(&names(path)) => list(resource_type, path, vec![single]),
        Value::Object(_) => match substitution_text(&value) {
            Some(text) => text_value(&text).unwrap_or(value),
            None => object(resource_type, path, value),
        },
        Value::String(text) if is_filter(resource_type, path) => filter(text),
        scalar => scalar,
    }
}

/// The names of a path.
pub(super) fn names(path: &[String]) -> Vec<&str> {
    path.iter().map(String::as_str).collect()
}

/// How the elements of two lists at the same path belong to each other, as their kind says and
/// their elements allow: without a name of its own for each, a keyed list is a set.
pub(super) fn effective_kind(kind: ListKind, lists: &[&[Value]]) -> ListKind {
    let ListKind::Keyed(key) = kind else { return kind };
    let is_keyed = |list: &&[Value]| {
        let mut keys: Vec<&str> =
            list.iter().filter_map(|item| item.get(key).and_then(Value::as_str)).collect();
        keys.sort_unstable();
        keys.dedup();
        keys.len() == list.len()
    };
    if lists.iter().all(is_keyed) { kind } else { ListKind::Set }
}

fn object(resource_type: Option<ResourceType>, path: &mut Vec<String>, value: Value) -> Value {
    let Value::Object(entries) = value else { return value };
    let mut normalized = Map::new();
    for (key, inner) in entries {
        path.push(key);
        let inner = normal(resource_type, path, inner);
        if let Some(key) = path.pop() {
            normalized.insert(key, inner);
        }
    }
    Value::Object(normalized)
}

fn list(resource_type: Option<ResourceType>, path: &mut Vec<String>, items: Vec<Value>) -> Value {
    let kind = effective_kind(list_kind(resource_type, &names(path)), &[&items]);
    let mut normalized = Vec::with_capacity(items.len());
    for (index, item) in items.into_iter().enumerate() {
        // Patterns of paths leave open what an element is called.
        path.push(index.to_string());
        normalized.push(normal(resource_type, path, item));
        path.pop();
    }
    if kind != ListKind::Ordered {
        normalized.sort_by_cached_key(sorted_text);
        normalized.dedup();
    }
    Value::Array(normalized)
}

/// `Fn::Sub`, or something simpler that says the same.
fn text_value(text: &str) -> Option<Value> {
    let parts = parse_substitution(text).ok()?;
    Some(match parts.as_slice() {
        [SubstitutionPart::Name(name)] => json!({ intrinsic::REF: name }),
        [SubstitutionPart::Attribute { logical_id, attribute }] => {
            json!({ intrinsic::GET_ATT: [logical_id, attribute] })
        }
        parts => {
            let plain: Option<String> = parts
                .iter()
                .map(|part| match part {
                    SubstitutionPart::Text(text) => Some(text.as_str()),
                    SubstitutionPart::Name(_) | SubstitutionPart::Attribute { .. } => None,
                })
                .collect();
            plain.map_or_else(|| json!({ intrinsic::SUB: text }), Value::String)
        }
    })
}

/// Whether the text there is itself JSON.
fn is_filter(resource_type: Option<ResourceType>, path: &[String]) -> bool {
    resource_type == Some(ResourceType::EventSourceMapping)
        && matches!(*names(path), ["Properties", "FilterCriteria", "Filters", _, "Pattern"])
}

/// A pattern with its keys sorted.
fn filter(text: String) -> Value {
    match serde_json::from_str::<Value>(&text) {
        Ok(pattern) => Value::String(sorted_text(&pattern)),
        Err(_) => Value::String(text),
    }
}

/// JSON with sorted keys, whatever order a map has.
pub(super) fn sorted_text(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            let entries: Vec<String> = entries
                .into_iter()
                .map(|(key, inner)| format!("{}:{}", Value::from(key.as_str()), sorted_text(inner)))
                .collect();
            format!("{{{}}}", entries.join(","))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(sorted_text).collect();
            format!("[{}]", items.join(","))
        }
        scalar => scalar.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal_of(resource_type: ResourceType, value: Value) -> Value {
        normal(Some(resource_type), &mut Vec::new(), value)
    }

    #[test]
    fn a_statement_is_the_same_however_it_is_written() {
        let one = json!({"Properties": {"PolicyDocument": {"Statement": {
            "Effect": "Allow", "Action": "a:B", "Principal": {"AWS": "x"},
            "Resource": {"Fn::Join": ["", [{"Fn::GetAtt": ["Q", "Arn"]}, "/*"]]},
            "Condition": {"StringLike": {"k": "v"}},
        }}}});
        let other = json!({"Properties": {"PolicyDocument": {"Statement": [{
            "Effect": "Allow", "Action": ["a:B", "a:B"], "Principal": {"AWS": ["x"]},
            "Resource": [{"Fn::Sub": "${Q.Arn}/*"}],
            "Condition": {"StringLike": {"k": ["v"]}},
        }]}}});
        let queue = |value| normal_of(ResourceType::QueuePolicy, value);
        assert_eq!(queue(one), queue(other));
    }

    #[test]
    fn sets_in_sets_have_one_order() {
        let with = |one: Value, other: Value| {
            let statement = |actions: Value| json!({"Effect": "Allow", "Action": actions});
            let statements = json!([statement(one), statement(other)]);
            normal_of(
                ResourceType::Role,
                json!({"Properties": {"AssumeRolePolicyDocument": {"Statement": statements}}}),
            )
        };
        let one = with(json!(["a", "b", "a"]), json!(["c", "d"]));
        assert_eq!(one, with(json!(["d", "c"]), json!(["b", "a"])));
        assert_ne!(one, with(json!(["d", "a"]), json!(["b", "c"])));
    }

    #[test]
    fn everybody_is_a_word_and_no_list() {
        let value = json!({"Properties": {"PolicyDocument": {"Statement": [{"Principal": "*"}]}}});
        assert_eq!(normal_of(ResourceType::QueuePolicy, value.clone()), value);
    }

    #[test]
    fn text_without_references_is_text() {
        for value in [json!({"Fn::Join": ["-", ["a", "b"]]}), json!({"Fn::Sub": "a-b"})] {
            let value = normal_of(ResourceType::Alarm, json!({"Properties": {"A": value}}));
            assert_eq!(value, json!({"Properties": {"A": "a-b"}}));
        }
        let literal = json!({"Properties": {"A": {"Fn::Sub": "${!a}"}}});
        assert_eq!(normal_of(ResourceType::Alarm, literal)["Properties"]["A"], "${a}");
    }

    #[test]
    fn a_filter_is_compared_as_json() {
        let with = |pattern: &str| {
            let filters = json!([{"Pattern": pattern}]);
            let value = json!({"Properties": {"FilterCriteria": {"Filters": filters}}});
            normal_of(ResourceType::EventSourceMapping, value)
        };
        assert_eq!(with(r#"{"b": 1, "a": [2]}"#), with(r#"{"a":[2],"b":1}"#));
        assert_ne!(with(r#"{"a": 1}"#), with(r#"{"a": 2}"#));
        assert_ne!(with("not json"), with("no json"));
    }

    #[test]
    fn lists_whose_order_counts_stay() {
        let value =
            json!({"Properties": {"KeySchema": [{"AttributeName": "b"}, {"AttributeName": "a"}]}});
        assert_eq!(normal_of(ResourceType::Table, value.clone()), value);
    }
}
