//! Compares two normalized values and reports each changed property.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::change::PropertyChange;
use super::normal::{effective_kind, names, sorted_text};
use super::text::substitution_text;
use crate::constructs::{ListKind, ResourceType, Update, list_kind};

/// Path segment of a set element.
const SET_ELEMENT: &str = "-";

/// Returns the changes between two versions of a resource. `resource_type` is `None` for types
/// without a construct.
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

/// Returns the changes between two versions of a section.
pub(super) fn section_changes(
    name: &str,
    old: Option<&Value>,
    new: Option<&Value>,
) -> Vec<PropertyChange> {
    let mut comparison = Comparison { subject: Subject::Section, changes: Vec::new() };
    let empty = Value::Object(Map::new());
    let mut path = vec![name.to_owned()];
    match (old, new) {
        // If a whole section is added or removed, each of its entries is reported separately.
        (Some(old @ Value::Object(_)), None) => comparison.compare_values(&mut path, old, &empty),
        (None, Some(new @ Value::Object(_))) => comparison.compare_values(&mut path, &empty, new),
        (Some(old), Some(new)) => comparison.compare_values(&mut path, old, new),
        (old, new) => comparison.record_change(&path, old, new),
    }
    comparison.changes
}

/// The template part that contains the compared values.
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
        if is_equal(old, new) {
            return;
        }
        match (old, new) {
            (Value::Object(old_map), Value::Object(new_map)) if !is_text(old) && !is_text(new) => {
                self.compare_maps(path, old_map, new_map);
            }
            (Value::Array(old), Value::Array(new)) => self.compare_lists(path, old, new),
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
            self.compare_entries(path, key, old.get(key), new.get(key));
        }
    }

    fn compare_entries(
        &mut self,
        path: &mut Vec<String>,
        name: &str,
        old: Option<&Value>,
        new: Option<&Value>,
    ) {
        path.push(name.to_owned());
        match (old, new) {
            (Some(old), Some(new)) => self.compare_values(path, old, new),
            // CloudFormation treats empty metadata, properties and conditions like missing ones.
            (Some(only), None) | (None, Some(only)) if is_empty(only) => {}
            (old, new) => self.record_change(path, old, new),
        }
        path.pop();
    }

    fn compare_lists(&mut self, path: &mut Vec<String>, old: &[Value], new: &[Value]) {
        let kind = match self.subject {
            Subject::Resource(resource_type) => list_kind(resource_type, &names(path)),
            Subject::Section => ListKind::Ordered,
        };
        match effective_kind(kind, &[old, new]) {
            ListKind::Ordered => self.compare_ordered(path, old, new),
            ListKind::Set => self.compare_sets(path, old, new),
            ListKind::Keyed(key) => self.compare_keyed(path, key, old, new),
        }
    }

    /// Compares ordered lists after stripping their common prefix and suffix. Remaining elements
    /// are compared pairwise if both sides have the same number, and otherwise reported as removed
    /// and added.
    fn compare_ordered(&mut self, path: &mut Vec<String>, old: &[Value], new: &[Value]) {
        let is_equal_pair = |pair: &(&Value, &Value)| is_equal(pair.0, pair.1);
        let prefix_len = old.iter().zip(new).take_while(is_equal_pair).count();
        let max_suffix_len = old.len().min(new.len()) - prefix_len;
        let reversed_pairs = old.iter().rev().zip(new.iter().rev());
        let suffix_len = reversed_pairs.take(max_suffix_len).take_while(is_equal_pair).count();
        let removed_count = old.len() - prefix_len - suffix_len;
        let added_count = new.len() - prefix_len - suffix_len;
        if removed_count == added_count {
            let pairs = old.iter().zip(new).enumerate().skip(prefix_len).take(removed_count);
            for (index, (old, new)) in pairs {
                self.compare_entries(path, &index.to_string(), Some(old), Some(new));
            }
            return;
        }
        for (index, value) in old.iter().enumerate().skip(prefix_len).take(removed_count) {
            self.record_element(path, &index.to_string(), Some(value), None);
        }
        for (index, value) in new.iter().enumerate().skip(prefix_len).take(added_count) {
            self.record_element(path, &index.to_string(), None, Some(value));
        }
    }

    fn compare_sets(&mut self, path: &mut Vec<String>, old: &[Value], new: &[Value]) {
        let by_text = |list: &[Value]| -> BTreeMap<String, Value> {
            list.iter().map(|value| (sorted_text(value), value.clone())).collect()
        };
        let (mut removed, mut added) = (by_text(old), by_text(new));
        removed.retain(|text, _| added.remove(text).is_none());
        let removed: Vec<&Value> = removed.values().collect();
        let added: Vec<&Value> = added.values().collect();
        // If a single map was replaced, the old and new maps are compared entry by entry.
        if let ([old], [new]) = (removed.as_slice(), added.as_slice())
            && old.is_object()
            && new.is_object()
        {
            self.compare_entries(path, SET_ELEMENT, Some(old), Some(new));
            return;
        }
        for value in removed {
            self.record_element(path, SET_ELEMENT, Some(value), None);
        }
        for value in added {
            self.record_element(path, SET_ELEMENT, None, Some(value));
        }
    }

    fn compare_keyed(
        &mut self,
        path: &mut Vec<String>,
        key_name: &str,
        old: &[Value],
        new: &[Value],
    ) {
        let (old, new) = (elements_by_key(old, key_name), elements_by_key(new, key_name));
        let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        for key in keys {
            match (old.get(key), new.get(key)) {
                (Some(old), Some(new)) => self.compare_entries(path, key, Some(old), Some(new)),
                (old, new) => self.record_element(path, key, old, new),
            }
        }
    }

    /// Records an added or removed list element. Unlike a map entry, it is recorded even if it is
    /// empty.
    fn record_element(
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
            path: to_pointer(path),
            old: old.cloned(),
            new: new.cloned(),
            update: self.update_of(&names(path)),
        });
    }

    /// Returns the effect of a change at `path` on the resource.
    fn update_of(&self, path: &[&str]) -> Update {
        let Subject::Resource(resource_type) = self.subject else { return Update::InPlace };
        match path {
            ["Properties", path @ ..] => resource_type
                .map_or(Update::MayReplace, |resource_type| resource_type.update_of(path)),
            ["Type"] => Update::Replace,
            // A different condition can add or remove the resource.
            ["Condition"] => Update::MayReplace,
            _ => Update::InPlace,
        }
    }
}

fn elements_by_key(list: &[Value], key: &str) -> BTreeMap<String, Value> {
    list.iter()
        .filter_map(|value| Some((value.get(key)?.as_str()?.to_owned(), value.clone())))
        .collect()
}

/// Returns whether CloudFormation treats two values as equal: it accepts, for example, the string
/// `"true"` for `true` and `"30"` for `30`.
fn is_equal(old: &Value, new: &Value) -> bool {
    match (old, new) {
        (Value::String(text), Value::Bool(bool)) | (Value::Bool(bool), Value::String(text)) => {
            text == if *bool { "true" } else { "false" }
        }
        (Value::String(text), Value::Number(number))
        | (Value::Number(number), Value::String(text)) => *text == number.to_string(),
        _ => old == new,
    }
}

/// Returns whether a value is a string or an intrinsic function that returns a string.
fn is_text(value: &Value) -> bool {
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

/// Formats path segments as a JSON pointer.
fn to_pointer(path: &[String]) -> String {
    path.iter().map(|name| format!("/{}", name.replace('~', "~0").replace('/', "~1"))).collect()
}

/// Splits a JSON pointer into its unescaped segments.
pub(super) fn pointer_segments(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(|name| name.replace("~1", "/").replace("~0", "~")).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::needless_pass_by_value, reason = "values as json! gives them")]

    use serde_json::json;

    use super::super::normal::normalize;
    use super::*;

    /// Returns a resource's changed properties, each in the form `path old -> new`.
    fn changes(resource_type: ResourceType, old: Value, new: Value) -> Vec<String> {
        let normal =
            |value| normalize(Some(resource_type), &mut Vec::new(), json!({ "Properties": value }));
        let (old, new) = (normal(old), normal(new));
        let shown = |value: Option<Value>| value.map_or("absent".to_owned(), |v| sorted_text(&v));
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
        assert_eq!(pointer_segments("/a/A~1~0"), ["a", "A/~"]);
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
