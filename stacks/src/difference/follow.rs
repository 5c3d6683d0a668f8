//! Finds resources that change because a referenced resource changes. For example, replacing a
//! bucket also changes every policy that references the bucket.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::change::PropertyChange;
use super::compare::split_json_pointer;
use super::document::{Document, known_type};
use crate::constructs::Update;
use crate::expression::{Reference, references_in};

/// The index of the property name in a path such as `/Properties/NAME`.
const PROPERTY_NAME_INDEX: usize = 1;

#[derive(Clone, Debug, Default)]
pub(super) struct CommonResourceChange {
    /// The most severe effect of all changes on the resource, or `None` if the resource is
    /// unchanged.
    pub(super) update: Option<Update>,
    /// Properties whose definitions changed.
    pub(super) properties: Vec<PropertyChange>,
    /// The logical ids of the referenced resources whose changes also change this resource.
    pub(super) follows: BTreeSet<String>,
}

impl CommonResourceChange {
    /// Records that the resource changes because the resource `cause_id` changes. Returns whether
    /// the record is new, or more severe than before.
    fn record_cause(&mut self, cause_id: &str, update: Update) -> bool {
        let is_new_cause = self.follows.insert(cause_id.to_owned());
        let is_more_severe = self.update.is_none_or(|known_update| known_update < update);
        if is_more_severe {
            self.update = Some(update);
        }
        is_new_cause || is_more_severe
    }
}

/// Whether the value of a `Ref` or `Fn::GetAtt` changes if the template is deployed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueChange {
    Unchanged,
    MayChange,
    Changes,
}

struct ReferringProperty {
    logical_id: String,
    property: String,
    references: BTreeSet<Reference>,
}

/// Adds changes that are caused by changes to referenced resources, until no more changes are
/// found.
///
/// The loop terminates, because each pass adds a cause to a resource or increases the severity of
/// an effect. The number of causes and the severity are bounded.
pub(super) fn propagate_changes(
    new: &Document,
    changes: &mut BTreeMap<String, CommonResourceChange>,
) {
    let referring_properties = find_referring_properties(new, changes);
    let mut has_changed = true;
    while has_changed {
        has_changed = propagate_once(new, &referring_properties, changes);
    }
}

/// Returns the properties that reference another resource, if the resource exists in both
/// templates.
fn find_referring_properties(
    new: &Document,
    changes: &BTreeMap<String, CommonResourceChange>,
) -> Vec<ReferringProperty> {
    let mut referring_properties = Vec::new();
    for logical_id in changes.keys() {
        let Some(resource) = new.resources.get(logical_id) else { continue };
        let properties = resource.get("Properties").and_then(Value::as_object);
        for (property, value) in properties.into_iter().flatten() {
            let mut references = references_in(value);
            references.retain(|reference| {
                reference.logical_id != *logical_id && changes.contains_key(&reference.logical_id)
            });
            if !references.is_empty() {
                let (logical_id, property) = (logical_id.clone(), property.clone());
                referring_properties.push(ReferringProperty { logical_id, property, references });
            }
        }
    }
    referring_properties
}

/// Returns whether a change was added.
fn propagate_once(
    new: &Document,
    referring_properties: &[ReferringProperty],
    changes: &mut BTreeMap<String, CommonResourceChange>,
) -> bool {
    let mut has_changed = false;
    for referring_property in referring_properties {
        for reference in &referring_property.references {
            let Some(cause) = changes.get(&reference.logical_id) else { continue };
            let value_change = referenced_value_change(new, reference, cause);
            let Some(update) = referring_property.update_caused_by(value_change, new) else {
                continue;
            };
            let Some(change) = changes.get_mut(&referring_property.logical_id) else { continue };
            if change.record_cause(&reference.logical_id, update) {
                has_changed = true;
            }
        }
    }
    has_changed
}

impl ReferringProperty {
    /// Returns how a change of a referenced value affects the resource that contains this property.
    /// Returns `None` if the value does not change.
    fn update_caused_by(&self, value_change: ValueChange, new: &Document) -> Option<Update> {
        if value_change == ValueChange::Unchanged {
            return None;
        }
        let resource_type = new.resources.get(&self.logical_id).and_then(known_type);
        let property_update = match resource_type {
            Some(known_type) => known_type.update_of(&[&self.property]),
            None => Update::MayReplace,
        };
        match (property_update, value_change) {
            (Update::Replace, ValueChange::MayChange) => Some(Update::MayReplace),
            _ => Some(property_update),
        }
    }
}

fn referenced_value_change(
    new: &Document,
    reference: &Reference,
    target_change: &CommonResourceChange,
) -> ValueChange {
    match target_change.update {
        Some(Update::Replace) => ValueChange::Changes,
        Some(Update::MayReplace) => ValueChange::MayChange,
        Some(Update::InPlace) | None if changes_attribute(new, reference, target_change) => {
            ValueChange::Changes
        }
        Some(Update::InPlace) | None => ValueChange::Unchanged,
    }
}

fn changes_attribute(
    new: &Document,
    reference: &Reference,
    target_change: &CommonResourceChange,
) -> bool {
    let target_type = new.resources.get(&reference.logical_id).and_then(known_type);
    let (Some(target_type), Some(attribute)) = (target_type, reference.attribute.as_deref()) else {
        return false;
    };
    target_change.properties.iter().any(|change| {
        let path = split_json_pointer(&change.path);
        let property = path.get(PROPERTY_NAME_INDEX).map(String::as_str).unwrap_or_default();
        target_type.attributes_changed_by(property).contains(&attribute)
    })
}
