//! Normalizes template values. Equivalent notations have the same normal form, so a change from one
//! notation to another is not reported.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::text::substitution_text;
use crate::constructs::{ListKind, ResourceType, accepts_single_element, list_kind};
use crate::expression::{SubstitutionPart, intrinsic, parse_substitution};

/// Returns the normal form of the value at `path` in a resource.
///
/// - Sets are sorted, and duplicates are removed.
/// - A single value becomes a list if the property also accepts a list.
/// - An intrinsic function is replaced by the simplest equivalent one.
pub(super) fn normalize(
    resource_type: Option<ResourceType>,
    path: &mut Vec<String>,
    value: Value,
) -> Value {
    match value {
        Value::Array(items) => normalize_list(resource_type, path, items),
        single_item if accepts_single_element(&path_segments(path)) => {
            normalize_list(resource_type, path, vec![single_item])
        }
        Value::Object(_) => match substitution_text(&value) {
            Some(text) => simplest_intrinsic(&text).unwrap_or(value),
            None => normalize_map(resource_type, path, value),
        },
        Value::String(text) if is_filter_pattern(resource_type, path) => {
            normalize_filter_pattern(text)
        }
        scalar => scalar,
    }
}

pub(super) fn path_segments(path: &[String]) -> Vec<&str> {
    path.iter().map(String::as_str).collect()
}

/// Returns how `lists` are compared. Lists of kind `Keyed` are compared as sets if the elements of
/// a list do not all have different keys.
pub(super) fn effective_list_kind(kind: ListKind, lists: &[&[Value]]) -> ListKind {
    let ListKind::Keyed(key_name) = kind else { return kind };
    let have_unique_keys = lists.iter().all(|list| has_unique_keys(list, key_name));
    if have_unique_keys { kind } else { ListKind::Set }
}

fn has_unique_keys(list: &[Value], key_name: &str) -> bool {
    let keys = list.iter().filter_map(|item| item.get(key_name)?.as_str());
    let unique_keys: BTreeSet<&str> = keys.collect();
    unique_keys.len() == list.len()
}

fn normalize_map(
    resource_type: Option<ResourceType>,
    path: &mut Vec<String>,
    value: Value,
) -> Value {
    let Value::Object(entries) = value else { return value };
    let mut normalized_entries = Map::new();
    for (key, entry_value) in entries {
        path.push(key.clone());
        let normalized_value = normalize(resource_type, path, entry_value);
        path.pop();
        normalized_entries.insert(key, normalized_value);
    }
    Value::Object(normalized_entries)
}

fn normalize_list(
    resource_type: Option<ResourceType>,
    path: &mut Vec<String>,
    items: Vec<Value>,
) -> Value {
    let kind = effective_list_kind(list_kind(resource_type, &path_segments(path)), &[&items]);
    let mut normalized_items = Vec::with_capacity(items.len());
    for (index, item) in items.into_iter().enumerate() {
        // A path pattern accepts any name for a list element, so the index is used as the name.
        path.push(index.to_string());
        normalized_items.push(normalize(resource_type, path, item));
        path.pop();
    }
    if kind != ListKind::Ordered {
        normalized_items.sort_by_cached_key(canonical_json);
        normalized_items.dedup();
    }
    Value::Array(normalized_items)
}

/// Returns the simplest expression that is equivalent to an `Fn::Sub` of `text`: a literal, a
/// `Ref`, an `Fn::GetAtt`, or the `Fn::Sub` itself. Returns `None` if `text` is malformed.
fn simplest_intrinsic(text: &str) -> Option<Value> {
    let parts = parse_substitution(text).ok()?;
    let simplest = match parts.as_slice() {
        [SubstitutionPart::Name(name)] => json!({ intrinsic::REF: name }),
        [SubstitutionPart::Attribute { logical_id, attribute }] => {
            json!({ intrinsic::GET_ATT: [logical_id, attribute] })
        }
        parts => match literal_text(parts) {
            Some(literal) => Value::String(literal),
            None => json!({ intrinsic::SUB: text }),
        },
    };
    Some(simplest)
}

/// Returns the concatenated parts, or `None` if a part is not literal text.
fn literal_text(parts: &[SubstitutionPart]) -> Option<String> {
    let texts = parts.iter().map(|part| match part {
        SubstitutionPart::Text(text) => Some(text.as_str()),
        SubstitutionPart::Name(_) | SubstitutionPart::Attribute { .. } => None,
    });
    texts.collect()
}

/// A filter pattern is JSON in a string.
fn is_filter_pattern(resource_type: Option<ResourceType>, path: &[String]) -> bool {
    resource_type == Some(ResourceType::EventSourceMapping)
        && matches!(*path_segments(path), ["Properties", "FilterCriteria", "Filters", _, "Pattern"])
}

/// Returns a string that is not JSON unchanged.
fn normalize_filter_pattern(text: String) -> Value {
    match serde_json::from_str::<Value>(&text) {
        Ok(pattern) => Value::String(canonical_json(&pattern)),
        Err(_) => Value::String(text),
    }
}

/// Returns the value as compact JSON with sorted keys.
pub(super) fn canonical_json(value: &Value) -> String {
    match value {
        Value::Object(entries) => {
            let sorted_entries: BTreeMap<&String, &Value> = entries.iter().collect();
            let entry_texts: Vec<String> = sorted_entries
                .into_iter()
                .map(|(key, value)| format!("{}:{}", json!(key), canonical_json(value)))
                .collect();
            format!("{{{}}}", entry_texts.join(","))
        }
        Value::Array(items) => {
            let item_texts: Vec<String> = items.iter().map(canonical_json).collect();
            format!("[{}]", item_texts.join(","))
        }
        scalar => scalar.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal_form(resource_type: ResourceType, value: Value) -> Value {
        normalize(Some(resource_type), &mut Vec::new(), value)
    }

    #[test]
    fn equivalent_statements_have_the_same_normal_form() {
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
        let queue = |value| normal_form(ResourceType::QueuePolicy, value);
        assert_eq!(queue(one), queue(other));
    }

    #[test]
    fn nested_sets_are_sorted() {
        let with = |one: Value, other: Value| {
            let statement = |actions: Value| json!({"Effect": "Allow", "Action": actions});
            let statements = json!([statement(one), statement(other)]);
            normal_form(
                ResourceType::Role,
                json!({"Properties": {"AssumeRolePolicyDocument": {"Statement": statements}}}),
            )
        };
        let one = with(json!(["a", "b", "a"]), json!(["c", "d"]));
        assert_eq!(one, with(json!(["d", "c"]), json!(["b", "a"])));
        assert_ne!(one, with(json!(["d", "a"]), json!(["b", "c"])));
    }

    #[test]
    fn the_principal_everyone_stays_a_string() {
        let value = json!({"Properties": {"PolicyDocument": {"Statement": [{"Principal": "*"}]}}});
        assert_eq!(normal_form(ResourceType::QueuePolicy, value.clone()), value);
    }

    #[test]
    fn text_without_references_becomes_a_literal() {
        for value in [json!({"Fn::Join": ["-", ["a", "b"]]}), json!({"Fn::Sub": "a-b"})] {
            let value = normal_form(ResourceType::Alarm, json!({"Properties": {"A": value}}));
            assert_eq!(value, json!({"Properties": {"A": "a-b"}}));
        }
        let literal = json!({"Properties": {"A": {"Fn::Sub": "${!a}"}}});
        assert_eq!(normal_form(ResourceType::Alarm, literal)["Properties"]["A"], "${a}");
    }

    #[test]
    fn a_filter_is_compared_as_json() {
        let with = |pattern: &str| {
            let filters = json!([{"Pattern": pattern}]);
            let value = json!({"Properties": {"FilterCriteria": {"Filters": filters}}});
            normal_form(ResourceType::EventSourceMapping, value)
        };
        assert_eq!(with(r#"{"b": 1, "a": [2]}"#), with(r#"{"a":[2],"b":1}"#));
        assert_ne!(with(r#"{"a": 1}"#), with(r#"{"a": 2}"#));
        assert_ne!(with("not json"), with("no json"));
    }

    #[test]
    fn ordered_lists_keep_their_order() {
        let value =
            json!({"Properties": {"KeySchema": [{"AttributeName": "b"}, {"AttributeName": "a"}]}});
        assert_eq!(normal_form(ResourceType::Table, value.clone()), value);
    }
}
