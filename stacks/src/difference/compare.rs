//! Compares two values in normal form, property by property.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::change::PropertyChange;
use super::normal::{effective_kind, names, sorted_text};
use super::text::substitution_text;
use crate::constructs::{ListKind, ResourceType, Update, list_kind};

/// The place of an element in a set.
const ANYWHERE: &str = "-";

/// The changes between two resources; `None` is a type without a construct.
pub(super) fn resource_changes(
    resource_type: Option<ResourceType>,
    old: &Value,
    new: &Value,
) -> Vec<PropertyChange> {
    let mut comparison =
        Comparison { subject: Subject::Resource(resource_type), found: Vec::new() };
    comparison.values(&mut Vec::new(), old, new);
    comparison.found
}

/// The changes between two sections of that name.
pub(super) fn section_changes(
    name: &str,
    old: Option<&Value>,
    new: Option<&Value>,
) -> Vec<PropertyChange> {
    let mut comparison = Comparison { subject: Subject::Section, found: Vec::new() };
    let empty = Value::Object(Map::new());
    let mut path = vec![name.to_owned()];
    match (old, new) {
        // A section that is there at once: its entries one by one.
        (Some(old @ Value::Object(_)), None) => comparison.values(&mut path, old, &empty),
        (None, Some(new @ Value::Object(_))) => comparison.values(&mut path, &empty, new),
        (Some(old), Some(new)) => comparison.values(&mut path, old, new),
        (old, new) => comparison.change(&path, old, new),
    }
    comparison.found
}

/// What is compared.
#[derive(Clone, Copy)]
enum Subject {
    Resource(Option<ResourceType>),
    Section,
}

struct Comparison {
    subject: Subject,
    found: Vec<PropertyChange>,
}

impl Comparison {
    fn values(&mut self, path: &mut Vec<String>, old: &Value, new: &Value) {
        match (old, new) {
            (old, new) if is_same(old, new) => {}
            (Value::Object(one), Value::Object(other)) if is_plain(old) && is_plain(new) => {
                self.entries(path, one, other);
            }
            (Value::Array(old), Value::Array(new)) => self.lists(path, old, new),
            _ => self.change(path, Some(old), Some(new)),
        }
    }

    fn entries(
        &mut self,
        path: &mut Vec<String>,
        old: &Map<String, Value>,
        new: &Map<String, Value>,
    ) {
        let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        for key in keys {
            self.optional(path, key, old.get(key), new.get(key));
        }
    }

    fn optional(
        &mut self,
        path: &mut Vec<String>,
        name: &str,
        old: Option<&Value>,
        new: Option<&Value>,
    ) {
        path.push(name.to_owned());
        match (old, new) {
            (Some(old), Some(new)) => self.values(path, old, new),
            // CloudFormation takes metadata, properties and conditions that are empty as absent.
            (Some(one), None) | (None, Some(one)) if is_empty(one) => {}
            (old, new) => self.change(path, old, new),
        }
        path.pop();
    }

    fn lists(&mut self, path: &mut Vec<String>, old: &[Value], new: &[Value]) {
        let kind = match self.subject {
            Subject::Resource(resource_type) => list_kind(resource_type, &names(path)),
            Subject::Section => ListKind::Ordered,
        };
        match effective_kind(kind, &[old, new]) {
            ListKind::Ordered => self.ordered(path, old, new),
            ListKind::Set => self.sets(path, old, new),
            ListKind::Keyed(key) => self.keyed(path, key, old, new),
        }
    }

    /// What is the same at both ends does not count; what is between them is compared place by
    /// place if there is as much of it.
    fn ordered(&mut self, path: &mut Vec<String>, old: &[Value], new: &[Value]) {
        let same = |pair: &(&Value, &Value)| is_same(pair.0, pair.1);
        let start = old.iter().zip(new).take_while(same).count();
        let shorter = old.len().min(new.len()).saturating_sub(start);
        let end = old.iter().rev().zip(new.iter().rev()).take(shorter).take_while(same).count();
        let middle = |list: &[Value]| list.len().saturating_sub(start).saturating_sub(end);
        let (removed, added) = (middle(old), middle(new));
        if removed == added {
            let pairs = old.iter().zip(new).enumerate().skip(start).take(removed);
            for (index, (old, new)) in pairs {
                self.optional(path, &index.to_string(), Some(old), Some(new));
            }
            return;
        }
        for (index, value) in old.iter().enumerate().skip(start).take(removed) {
            self.element(path, &index.to_string(), Some(value), None);
        }
        for (index, value) in new.iter().enumerate().skip(start).take(added) {
            self.element(path, &index.to_string(), None, Some(value));
        }
    }

    fn sets(&mut self, path: &mut Vec<String>, old: &[Value], new: &[Value]) {
        let texts = |list: &[Value]| -> BTreeMap<String, Value> {
            list.iter().map(|value| (sorted_text(value), value.clone())).collect()
        };
        let (mut removed, mut added) = (texts(old), texts(new));
        removed.retain(|text, _| added.remove(text).is_none());
        let (removed, added): (Vec<_>, Vec<_>) =
            (removed.values().collect(), added.values().collect());
        // One that takes the place of one: what differs in it.
        if let ([one], [other]) = (removed.as_slice(), added.as_slice())
            && (one.is_object() && other.is_object())
        {
            self.optional(path, ANYWHERE, Some(one), Some(other));
            return;
        }
        for value in removed {
            self.element(path, ANYWHERE, Some(value), None);
        }
        for value in added {
            self.element(path, ANYWHERE, None, Some(value));
        }
    }

    fn keyed(&mut self, path: &mut Vec<String>, key: &str, old: &[Value], new: &[Value]) {
        let by_key = |list| -> BTreeMap<String, Value> { by_key(list, key) };
        let (old, new) = (by_key(old), by_key(new));
        let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        for key in keys {
            match (old.get(key), new.get(key)) {
                (Some(old), Some(new)) => self.optional(path, key, Some(old), Some(new)),
                (old, new) => self.element(path, key, old, new),
            }
        }
    }

    /// An element of a list, which is there even when it is empty.
    fn element(
        &mut self,
        path: &mut Vec<String>,
        name: &str,
        old: Option<&Value>,
        new: Option<&Value>,
    ) {
        path.push(name.to_owned());
        self.change(path, old, new);
        path.pop();
    }

    fn change(&mut self, path: &[String], old: Option<&Value>, new: Option<&Value>) {
        self.found.push(PropertyChange {
            path: pointer(path),
            old: old.cloned(),
            new: new.cloned(),
            update: self.update(&names(path)),
        });
    }

    fn update(&self, path: &[&str]) -> Update {
        let Subject::Resource(resource_type) = self.subject else { return Update::InPlace };
        match path {
            ["Properties", path @ ..] => resource_type
                .map_or(Update::MayReplace, |resource_type| resource_type.update_of(path)),
            ["Type"] => Update::Replace,
            // A resource may come or go with its condition.
            ["Condition"] => Update::MayReplace,
            _ => Update::InPlace,
        }
    }
}

fn by_key(list: &[Value], key: &str) -> BTreeMap<String, Value> {
    list.iter()
        .filter_map(|value| Some((value.get(key)?.as_str()?.to_owned(), value.clone())))
        .collect()
}

/// CloudFormation takes `"true"` for `true` and `"30"` for `30`.
fn is_same(old: &Value, new: &Value) -> bool {
    match (old, new) {
        (Value::String(text), Value::Bool(bool)) | (Value::Bool(bool), Value::String(text)) => {
            text == if *bool { "true" } else { "false" }
        }
        (Value::String(text), Value::Number(number))
        | (Value::Number(number), Value::String(text)) => {
            let written = number.to_string();
            *text == written
        }
        _ => old == new,
    }
}

/// Whether a map is none that stands for a text.
fn is_plain(value: &Value) -> bool {
    substitution_text(value).is_none()
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// A path as one text, escaped as JSON pointers are.
fn pointer(path: &[String]) -> String {
    path.iter().map(|name| format!("/{}", name.replace('~', "~0").replace('/', "~1"))).collect()
}

/// The names of such a path.
pub(super) fn names_of(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(|name| name.replace("~1", "/").replace("~0", "~")).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::needless_pass_by_value, reason = "values as json! gives them")]

    use serde_json::json;

    use super::super::normal::normal;
    use super::*;

    /// The changes of a resource's properties as `path old -> new`.
    fn changes(resource_type: ResourceType, old: Value, new: Value) -> Vec<String> {
        let normal =
            |value| normal(Some(resource_type), &mut Vec::new(), json!({ "Properties": value }));
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
    fn each_property_is_named() {
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
        assert_eq!(names_of("/a/A~1~0"), ["a", "A/~"]);
    }

    #[test]
    fn what_has_no_effect_is_no_change() {
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
    fn elements_of_sets_come_and_go_alone() {
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
    fn one_nameless_statement_for_another_is_compared_inside() {
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
    fn ordered_lists_show_what_is_between_the_common_ends() {
        let layers = |layers: &[&str]| json!({ "Layers": layers });
        let function =
            |old: &[&str], new: &[&str]| changes(ResourceType::Function, layers(old), layers(new));
        assert_eq!(function(&["a", "b"], &["b", "a"]).len(), 2, "their order counts");
        assert_eq!(function(&["a", "b", "c"], &["a", "x", "c"]), [r#"/Layers/1 "b" -> "x""#]);
        assert_eq!(function(&["a", "c"], &["a", "b", "c"]), [r#"/Layers/1 absent -> "b""#]);
        assert_eq!(function(&["a", "a"], &["a"]), [r#"/Layers/1 "a" -> absent"#]);
    }
}
