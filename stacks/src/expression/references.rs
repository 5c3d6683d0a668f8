//! Finds the resources and parameters that a value references.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Intrinsic, SubstitutionPart, parse_intrinsic, parse_substitution};

/// A `Ref`, an `Fn::GetAtt`, or a placeholder of an `Fn::Sub`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Reference {
    pub(crate) logical_id: String,
    /// The attribute that `Fn::GetAtt` reads, or `None` for a `Ref`.
    pub(crate) attribute: Option<String>,
}

impl Reference {
    fn to_resource(logical_id: &str) -> Self {
        Self { logical_id: logical_id.to_owned(), attribute: None }
    }

    fn to_attribute(logical_id: &str, attribute: &str) -> Self {
        Self { logical_id: logical_id.to_owned(), attribute: Some(attribute.to_owned()) }
    }
}

/// Returns all references in a value, at any depth.
pub(crate) fn references_in(value: &Value) -> BTreeSet<Reference> {
    let mut references = BTreeSet::new();
    collect_references(value, &mut references);
    references
}

fn collect_references(value: &Value, references: &mut BTreeSet<Reference>) {
    match parse_intrinsic(value) {
        Ok(Some(Intrinsic::Reference(logical_id))) => {
            references.insert(Reference::to_resource(logical_id));
        }
        Ok(Some(Intrinsic::Attribute { logical_id, attribute })) => {
            references.insert(Reference::to_attribute(logical_id, attribute));
        }
        Ok(Some(Intrinsic::Substitution { text, variables })) => {
            references.extend(placeholder_references(text));
            if let Some(variables) = variables {
                collect_references_in_all(variables.values(), references);
            }
        }
        // All other values, including `Fn::Join`, are searched for nested references.
        _ => match value {
            Value::Array(items) => collect_references_in_all(items, references),
            Value::Object(entries) => collect_references_in_all(entries.values(), references),
            _ => {}
        },
    }
}

fn collect_references_in_all<'a>(
    values: impl IntoIterator<Item = &'a Value>,
    references: &mut BTreeSet<Reference>,
) {
    for value in values {
        collect_references(value, references);
    }
}

fn placeholder_references(text: &str) -> Vec<Reference> {
    let mut references = Vec::new();
    for part in parse_substitution(text).unwrap_or_default() {
        match part {
            SubstitutionPart::Text(_) => {}
            SubstitutionPart::Name(name) => references.push(Reference::to_resource(&name)),
            SubstitutionPart::Attribute { logical_id, attribute } => {
                references.push(Reference::to_attribute(&logical_id, &attribute));
            }
        }
    }
    references
}
