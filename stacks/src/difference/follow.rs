//! Finds changes that follow from other changes. For example, replacing a bucket changes every
//! policy that references it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::change::PropertyChange;
use super::compare::pointer_segments;
use super::document::{Document, known_type};
use crate::constructs::Update;
use crate::expression::{Intrinsic, SubstitutionPart, parse_intrinsic, parse_substitution};

/// Reference target: a logical id and, for `Fn::GetAtt`, an attribute.
type Reference = (String, Option<String>);

/// Changes to a resource that is in both templates.
#[derive(Clone, Debug, Default)]
pub(super) struct RetainedChange {
    /// Most severe effect on the resource, or `None` if it is unchanged.
    pub(super) update: Option<Update>,
    /// Changed properties in the resource definition.
    pub(super) properties: Vec<PropertyChange>,
    /// Logical ids of the changed resources that this resource references.
    pub(super) follows: BTreeSet<String>,
}

/// A property that references other resources.
struct ReferringProperty {
    logical_id: String,
    property: String,
    references: BTreeSet<Reference>,
}

/// Adds changes that follow from changes to other resources, until no more changes are found.
///
/// Each pass adds a followed resource or increases the severity of an effect. Both are bounded, so
/// the loop terminates.
pub(super) fn propagate_changes(new: &Document, changes: &mut BTreeMap<String, RetainedChange>) {
    let referring = find_referring_properties(new, changes);
    while propagate_once(new, &referring, changes) {}
}

/// Returns the properties that reference another resource in both templates.
fn find_referring_properties(
    new: &Document,
    changes: &BTreeMap<String, RetainedChange>,
) -> Vec<ReferringProperty> {
    let mut referring = Vec::new();
    for logical_id in changes.keys() {
        let properties = new.resources.get(logical_id).and_then(|it| it.get("Properties"));
        for (property, value) in properties.and_then(Value::as_object).into_iter().flatten() {
            let mut references = BTreeSet::new();
            collect_references(value, &mut references);
            references.retain(|(target, _)| target != logical_id && changes.contains_key(target));
            if !references.is_empty() {
                let (logical_id, property) = (logical_id.clone(), property.clone());
                referring.push(ReferringProperty { logical_id, property, references });
            }
        }
    }
    referring
}

/// Propagates changes over each reference once. Returns whether a change was added.
fn propagate_once(
    new: &Document,
    referring: &[ReferringProperty],
    changes: &mut BTreeMap<String, RetainedChange>,
) -> bool {
    let mut has_changed = false;
    for ReferringProperty { logical_id, property, references } in referring {
        let Some(resource) = new.resources.get(logical_id) else { continue };
        let property_update =
            known_type(resource).map_or(Update::MayReplace, |known| known.update_of(&[property]));
        for (target, attribute) in references {
            let Some(cause) = changes.get(target) else { continue };
            let Some(certainty) = value_change(new, target, attribute.as_deref(), cause) else {
                continue;
            };
            // If the value may or may not change, the resource may or may not be replaced.
            let update =
                if property_update == Update::Replace { certainty } else { property_update };
            let Some(follower) = changes.get_mut(logical_id) else { continue };
            has_changed |= follower.follows.insert(target.clone());
            if follower.update < Some(update) {
                follower.update = Some(update);
                has_changed = true;
            }
        }
    }
    has_changed
}

/// Returns whether the value of a reference changes: [`Update::Replace`] if it does,
/// [`Update::MayReplace`] if it may, `None` if it does not.
fn value_change(
    new: &Document,
    target: &str,
    attribute: Option<&str>,
    cause: &RetainedChange,
) -> Option<Update> {
    if let Some(update) = cause.update
        && update != Update::InPlace
    {
        return Some(update);
    }
    let target_type = known_type(new.resources.get(target)?)?;
    let attribute = attribute?;
    let attribute_changes = cause.properties.iter().any(|change| {
        let path = pointer_segments(&change.path);
        let property = path.get(1).map(String::as_str).unwrap_or_default();
        target_type.attributes_changed_by(property).contains(&attribute)
    });
    if attribute_changes { Some(Update::Replace) } else { None }
}

fn collect_references(value: &Value, references: &mut BTreeSet<Reference>) {
    match parse_intrinsic(value) {
        Ok(Some(Intrinsic::Reference(logical_id))) => {
            references.insert((logical_id.to_owned(), None));
        }
        Ok(Some(Intrinsic::Attribute { logical_id, attribute })) => {
            references.insert((logical_id.to_owned(), Some(attribute.to_owned())));
        }
        Ok(Some(Intrinsic::Substitution { text, variables })) => {
            for part in parse_substitution(text).unwrap_or_default() {
                match part {
                    SubstitutionPart::Text(_) => {}
                    SubstitutionPart::Name(name) => {
                        references.insert((name, None));
                    }
                    SubstitutionPart::Attribute { logical_id, attribute } => {
                        references.insert((logical_id, Some(attribute)));
                    }
                }
            }
            for (_, value) in variables.into_iter().flatten() {
                collect_references(value, references);
            }
        }
        // `Fn::Join`, functions that Cellar does not use, and plain values.
        _ => match value {
            Value::Array(items) => {
                items.iter().for_each(|item| collect_references(item, references));
            }
            Value::Object(map) => {
                map.values().for_each(|item| collect_references(item, references));
            }
            _ => {}
        },
    }
}
