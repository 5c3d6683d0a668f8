//! Compares two normalized values and records every property that differs.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::change::PropertyChange;
use super::normal::{canonical_json, effective_list_kind, path_segments};
use super::text::substitution_text;
use crate::constructs::{ListKind, ResourceType, Update, list_kind};

/// Path segment for an element of a set.
const SET_ELEMENT: &str = "-";

/// `resource_type` is `None` if this crate has no construct for the type.
pub(super) fn resource_changes(
    resource_type: Option<ResourceType>,
    old: &Value,
    new: &Value,
) -> Vec<PropertyChange> {
    let mut comparison =
        Comparison { subject: Subject::Resource(resource_type), changes: Vec::new() };
    comparison.compare_values(&mut Vec::new(), old, new);
    comparison.changes
}

pub(super) fn section_changes(
    section_name: &str,
    old: Option<&Value>,
    new: Option<&Value>,
) -> Vec<PropertyChange> {
    let mut comparison = Comparison { subject: Subject::Section, changes: Vec::new() };
    let empty_section = Value::Object(Map::new());
    let mut path = vec![section_name.to_owned()];
    match (old, new) {
        (Some(old_section), Some(new_section)) => {
            comparison.compare_values(&mut path, old_section, new_section);
        }
        // An added or removed section is compared with an empty section, so that each of its
        // entries is reported separately.
        (Some(Value::Object(_)), None) | (None, Some(Value::Object(_))) => {
            let old_section = old.unwrap_or(&empty_section);
            let new_section = new.unwrap_or(&empty_section);
            comparison.compare_values(&mut path, old_section, new_section);
        }
        _ => comparison.record_change(&path, old, new),
    }
    comparison.changes
}

#[derive(Clone, Copy)]
enum Subject {
    Resource(Option<ResourceType>),
    Section,
}

struct Comparison {
    subject: Subject,
    changes: Vec<PropertyChange>,
}

impl Comparison {
    fn compare_values(&mut self, path: &mut Vec<String>, old: &Value, new: &Value) {
        if are_equal(old, new) {
            return;
        }
        match (old, new) {
            (Value::Object(old_map), Value::Object(new_map))
                if !is_string_expression(old) && !is_string_expression(new) =>
            {
                self.compare_maps(path, old_map, new_map);
            }
            (Value::Array(old_list), Value::Array(new_list)) => {
                self.compare_lists(path, old_list, new_list);
            }
            _ => self.record_change(path, Some(old), Some(new)),
        }
    }

    fn compare_maps(
        &mut self,
        path: &mut Vec<String>,
        old: &Map<String, Value>,
        new: &Map<String, Value>,
    ) {
        let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        for key in keys {
            self.compare_child(path, key, old.get(key), new.get(key));
        }
    }

    fn compare_child(
        &mut self,
        path: &mut Vec<String>,
        child_name: &str,
        old: Option<&Value>,
        new: Option<&Value>,
    ) {
        path.push(child_name.to_owned());
        match (old, new) {
            (Some(old_child), Some(new_child)) => self.compare_values(path, old_child, new_child),
            // CloudFormation treats an empty map or list in metadata, properties and conditions as
            // missing.
            (Some(only_child), None) | (None, Some(only_child)) if is_empty(only_child) => {}
            (old_child, new_child) => self.record_change(path, old_child, new_child),
        }
        path.pop();
    }

    fn compare_lists(&mut self, path: &mut Vec<String>, old: &[Value], new: &[Value]) {
        let declared_kind = match self.subject {
            Subject::Resource(resource_type) => list_kind(resource_type, &path_segments(path)),
            Subject::Section => ListKind::Ordered,
        };
        match effective_list_kind(declared_kind, &[old, new]) {
            ListKind::Ordered => self.compare_ordered_lists(path, old, new),
            ListKind::Set => self.compare_sets(path, old, new),
            ListKind::Keyed(key) => self.compare_keyed_lists(path, key, old, new),
        }
    }

    /// Compares lists whose order matters, after removing their common prefix and suffix.
    ///
    /// If the remaining lists have the same length, each old element is compared with the new
    /// element at the same index. Otherwise, all remaining old elements are recorded as removed,
    /// and all remaining new elements as added.
    fn compare_ordered_lists(&mut self, path: &mut Vec<String>, old: &[Value], new: &[Value]) {
        let prefix_len = count_equal_pairs(old.iter(), new.iter());
        let old_rest = old.get(prefix_len..).unwrap_or_default();
        let new_rest = new.get(prefix_len..).unwrap_or_default();
        let suffix_len = count_equal_pairs(old_rest.iter().rev(), new_rest.iter().rev());
        let old_middle = old_rest.get(..old_rest.len() - suffix_len).unwrap_or_default();
        let new_middle = new_rest.get(..new_rest.len() - suffix_len).unwrap_or_default();
        if old_middle.len() == new_middle.len() {
            for (index, (old_item, new_item)) in
                (prefix_len..).zip(old_middle.iter().zip(new_middle))
            {
                self.compare_child(path, &index.to_string(), Some(old_item), Some(new_item));
            }
            return;
        }
        for (index, old_item) in (prefix_len..).zip(old_middle) {
            self.record_list_element(path, &index.to_string(), Some(old_item), None);
        }
        for (index, new_item) in (prefix_len..).zip(new_middle) {
            self.record_list_element(path, &index.to_string(), None, Some(new_item));
        }
    }

    fn compare_sets(&mut self, path: &mut Vec<String>, old: &[Value], new: &[Value]) {
        let old_elements = index_by_canonical_json(old);
        let new_elements = index_by_canonical_json(new);
        let removed_elements = elements_missing_in(&new_elements, &old_elements);
        let added_elements = elements_missing_in(&old_elements, &new_elements);
        // If one map is removed and one map is added, they are compared entry by entry instead. The
        // result is more precise.
        if let ([old_map @ Value::Object(_)], [new_map @ Value::Object(_)]) =
            (removed_elements.as_slice(), added_elements.as_slice())
        {
            self.compare_child(path, SET_ELEMENT, Some(old_map), Some(new_map));
            return;
        }
        for element in removed_elements {
            self.record_list_element(path, SET_ELEMENT, Some(element), None);
        }
        for element in added_elements {
            self.record_list_element(path, SET_ELEMENT, None, Some(element));
        }
    }

    fn compare_keyed_lists(
        &mut self,
        path: &mut Vec<String>,
        key_name: &str,
        old: &[Value],
        new: &[Value],
    ) {
        let old_elements = index_by_key(old, key_name);
        let new_elements = index_by_key(new, key_name);
        let keys: BTreeSet<&str> =
            old_elements.keys().chain(new_elements.keys()).copied().collect();
        for key in keys {
            match (old_elements.get(key).copied(), new_elements.get(key).copied()) {
                (Some(old_element), Some(new_element)) => {
                    self.compare_child(path, key, Some(old_element), Some(new_element));
                }
                (old_element, new_element) => {
                    self.record_list_element(path, key, old_element, new_element);
                }
            }
        }
    }

    /// Unlike an empty map entry, an empty list element is also recorded.
    fn record_list_element(
        &mut self,
        path: &mut Vec<String>,
        name: &str,
        old: Option<&Value>,
        new: Option<&Value>,
    ) {
        path.push(name.to_owned());
        self.record_change(path, old, new);
        path.pop();
    }

    fn record_change(&mut self, path: &[String], old: Option<&Value>, new: Option<&Value>) {
        self.changes.push(PropertyChange {
            path: to_json_pointer(path),
            old: old.cloned(),
            new: new.cloned(),
            update: self.update_of(&path_segments(path)),
        });
    }

    fn update_of(&self, path: &[&str]) -> Update {
        let Subject::Resource(resource_type) = self.subject else { return Update::InPlace };
        match path {
            ["Properties", property_path @ ..] => match resource_type {
                Some(known_type) => known_type.update_of(property_path),
                None => Update::MayReplace,
            },
            ["Type"] => Update::Replace,
            // If a resource's condition changes, the resource may be added or removed.
            ["Condition"] => Update::MayReplace,
            _ => Update::InPlace,
        }
    }
}

/// Returns how many elements at the start of both lists are equal.
fn count_equal_pairs<'a>(
    old: impl Iterator<Item = &'a Value>,
    new: impl Iterator<Item = &'a Value>,
) -> usize {
    old.zip(new).take_while(|(old_item, new_item)| are_equal(old_item, new_item)).count()
}

fn index_by_key<'a>(list: &'a [Value], key_name: &str) -> BTreeMap<&'a str, &'a Value> {
    let mut elements = BTreeMap::new();
    for element in list {
        if let Some(key) = element.get(key_name).and_then(Value::as_str) {
            elements.insert(key, element);
        }
    }
    elements
}

fn index_by_canonical_json(list: &[Value]) -> BTreeMap<String, &Value> {
    list.iter().map(|element| (canonical_json(element), element)).collect()
}

/// Returns the elements that the set `other` does not contain, sorted by their canonical JSON.
fn elements_missing_in<'a>(
    other: &BTreeMap<String, &Value>,
    elements: &BTreeMap<String, &'a Value>,
) -> Vec<&'a Value> {
    let missing_elements = elements.iter().filter(|(text, _)| !other.contains_key(*text));
    missing_elements.map(|(_, element)| *element).collect()
}

/// Returns whether CloudFormation treats two values as equal. For example, the string `"true"` is
/// equal to `true`, and `"30"` is equal to `30`.
fn are_equal(old: &Value, new: &Value) -> bool {
    match (old, new) {
        (Value::String(text), Value::Bool(boolean))
        | (Value::Bool(boolean), Value::String(text)) => *text == boolean.to_string(),
        (Value::String(text), Value::Number(number))
        | (Value::Number(number), Value::String(text)) => *text == number.to_string(),
        _ => old == new,
    }
}

/// Returns whether a value is a string or an intrinsic function that returns a string.
fn is_string_expression(value: &Value) -> bool {
    substitution_text(value).is_some()
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn to_json_pointer(path: &[String]) -> String {
    path.iter().map(|name| format!("/{}", name.replace('~', "~0").replace('/', "~1"))).collect()
}

pub(super) fn split_json_pointer(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(|name| name.replace("~1", "/").replace("~0", "~")).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::needless_pass_by_value, reason = "values as json! gives them")]

    use serde_json::json;

    use super::super::normal::normalize;
    use super::*;

    /// Returns the changed properties of a resource in the form `path old -> new`.
    fn changes(resource_type: ResourceType, old: Value, new: Value) -> Vec<String> {
        let normal =
            |value| normalize(Some(resource_type), &mut Vec::new(), json!({ "Properties": value }));
        let (old, new) = (normal(old), normal(new));
        let shown =
            |value: Option<Value>| value.map_or("absent".to_owned(), |v| canonical_json(&v));
        resource_changes(Some(resource_type), &old, &new)
            .into_iter()
            .map(|change| {
                let path = change.path.strip_prefix("/Properties").unwrap().to_owned();
                format!("{path} {} -> {}", shown(change.old), shown(change.new))
            })
            .collect()
    }

    #[test]
    fn each_changed_property_is_reported() {
        let old = json!({"Timeout": 1, "Handler": "a", "Environment": {"Variables": {"A/~": "1"}}});
        let new = json!({"Timeout": 2, "Role": "r", "Environment": {"Variables": {"A/~": "2"}}});
        assert_eq!(
            changes(ResourceType::Function, old, new),
            [
                r#"/Environment/Variables/A~1~0 "1" -> "2""#,
                r#"/Handler "a" -> absent"#,
                r#"/Role absent -> "r""#,
                "/Timeout 1 -> 2",
            ]
        );
        assert_eq!(split_json_pointer("/a/A~1~0"), ["a", "A/~"]);
    }

    #[test]
    fn changes_without_an_effect_are_ignored() {
        let role = |policies: Value| json!({ "Policies": policies });
        let statement = |sid: &str, action: Value| json!({"Sid": sid, "Action": action});
        let policy = |name: &str, statements: Value| json!({"PolicyName": name, "PolicyDocument": {"Statement": statements}});
        let old = role(json!([
            policy("a", json!([statement("x", json!(["b", "a"])), statement("y", json!("c"))])),
            policy("b", json!([])),
        ]));
        let new = role(json!([
            policy("b", json!([])),
            policy("a", json!([statement("y", json!(["c"])), statement("x", json!(["a", "b"]))])),
        ]));
        assert!(changes(ResourceType::Role, old, new).is_empty());
        let definition = |name: &str| json!({"AttributeName": name, "AttributeType": "S"});
        let old = json!({"AttributeDefinitions": [definition("a"), definition("b")],
            "Tags": [{"Key": "k", "Value": "1"}, {"Key": "l", "Value": "2"}]});
        let new = json!({"AttributeDefinitions": [definition("b"), definition("a")],
            "Tags": [{"Key": "l", "Value": "2"}, {"Key": "k", "Value": "1"}]});
        assert!(changes(ResourceType::Table, old, new).is_empty());
        let (old, new) = (json!({"Timeout": "30", "X": {}}), json!({"Timeout": 30}));
        assert!(changes(ResourceType::Function, old, new).is_empty());
    }

    #[test]
    fn elements_of_sets_are_added_and_removed_alone() {
        let statement = |actions: Value| {
            json!({"Policies": [{"PolicyName": "p", "PolicyDocument": {
                "Statement": [{"Sid": "s", "Action": actions}]}}]})
        };
        assert_eq!(
            changes(ResourceType::Role, statement(json!(["a", "b"])), statement(json!(["b", "c"]))),
            [
                r#"/Policies/p/PolicyDocument/Statement/s/Action/- "a" -> absent"#,
                r#"/Policies/p/PolicyDocument/Statement/s/Action/- absent -> "c""#,
            ]
        );
    }

    #[test]
    fn a_single_replaced_statement_is_compared_inside() {
        let trust = |service: &str| {
            json!({"AssumeRolePolicyDocument": {"Statement": [
                {"Action": "sts:AssumeRole", "Principal": {"Service": service}}]}})
        };
        assert_eq!(
            changes(ResourceType::Role, trust("a"), trust("b")),
            [
                r#"/AssumeRolePolicyDocument/Statement/-/Principal/Service/- "a" -> absent"#,
                r#"/AssumeRolePolicyDocument/Statement/-/Principal/Service/- absent -> "b""#,
            ]
        );
    }

    #[test]
    fn ordered_lists_ignore_the_common_prefix_and_suffix() {
        let layers = |layers: &[&str]| json!({ "Layers": layers });
        let function =
            |old: &[&str], new: &[&str]| changes(ResourceType::Function, layers(old), layers(new));
        assert_eq!(function(&["a", "b"], &["b", "a"]).len(), 2, "their order counts");
        assert_eq!(function(&["a", "b", "c"], &["a", "x", "c"]), [r#"/Layers/1 "b" -> "x""#]);
        assert_eq!(function(&["a", "c"], &["a", "b", "c"]), [r#"/Layers/1 absent -> "b""#]);
        assert_eq!(function(&["a", "a"], &["a"]), [r#"/Layers/1 "a" -> absent"#]);
    }
}
