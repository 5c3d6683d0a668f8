//! What changes because something changes to which it refers: a policy names the bucket, and a new
//! bucket has another name.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::change::PropertyChange;
use super::compare::names_of;
use super::document::{Document, known_type};
use crate::constructs::Update;
use crate::expression::{Intrinsic, SubstitutionPart, intrinsic_in, parse_substitution};

/// A reference: a logical id, and the attribute that is asked for.
type Reference = (String, Option<String>);

/// What becomes of resources that are in both templates.
#[derive(Clone, Debug, Default)]
pub(super) struct Changing {
    /// The gravest that happens to it.
    pub(super) update: Option<Update>,
    /// Its own changes.
    pub(super) properties: Vec<PropertyChange>,
    /// The replaced resources that it follows.
    pub(super) follows: BTreeSet<String>,
}

/// Adds to the resources what follows from the others being replaced.
pub(super) fn follow(new: &Document, changing: &mut BTreeMap<String, Changing>) {
    let referring: Vec<(String, String, BTreeSet<Reference>)> = referring_properties(new, changing);
    // Each round makes at least one resource graver, of which there are two steps for each.
    while round(new, &referring, changing) {}
}

/// The properties of resources that are in both templates, with what they refer to.
fn referring_properties(
    new: &Document,
    changing: &BTreeMap<String, Changing>,
) -> Vec<(String, String, BTreeSet<Reference>)> {
    let mut found = Vec::new();
    for logical_id in changing.keys() {
        let properties = new.resources.get(logical_id).and_then(|it| it.get("Properties"));
        for (name, value) in properties.and_then(Value::as_object).into_iter().flatten() {
            let mut references = BTreeSet::new();
            collect(value, &mut references);
            references.retain(|(target, _)| target != logical_id && changing.contains_key(target));
            if !references.is_empty() {
                found.push((logical_id.clone(), name.clone(), references));
            }
        }
    }
    found
}

fn round(
    new: &Document,
    referring: &[(String, String, BTreeSet<Reference>)],
    changing: &mut BTreeMap<String, Changing>,
) -> bool {
    let mut moved = false;
    for (logical_id, property, references) in referring {
        let Some(resource) = new.resources.get(logical_id) else { continue };
        for (target, attribute) in references {
            let Some(cause) = changing.get(target) else { continue };
            let Some(certainty) = new_value(new, target, attribute.as_deref(), cause) else {
                continue;
            };
            let update = known_type(resource)
                .map_or(Update::MayReplace, |known| known.update_of(&[property]));
            // It is no surer than its cause.
            let update = if update == Update::Replace { certainty } else { update };
            let Some(follower) = changing.get_mut(logical_id) else { continue };
            moved |= follower.follows.insert(target.clone());
            if follower.update < Some(update) {
                follower.update = Some(update);
                moved = true;
            }
        }
    }
    moved
}

/// Whether a reference has another value than before: [`Update::Replace`] if it surely has.
fn new_value(
    new: &Document,
    target: &str,
    attribute: Option<&str>,
    cause: &Changing,
) -> Option<Update> {
    let replaced = cause.update.filter(|update| *update != Update::InPlace);
    replaced.or_else(|| {
        let (known, attribute) = (known_type(new.resources.get(target)?)?, attribute?);
        let changed = cause.properties.iter().any(|change| {
            let path = names_of(&change.path);
            let property = path.get(1).map(String::as_str).unwrap_or_default();
            known.attributes_changed_by(property).contains(&attribute)
        });
        changed.then_some(Update::Replace)
    })
}

fn collect(value: &Value, references: &mut BTreeSet<Reference>) {
    match intrinsic_in(value) {
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
            variables.into_iter().flatten().for_each(|(_, value)| collect(value, references));
        }
        // Join, functions that Cellar does not write, and plain values.
        _ => match value {
            Value::Array(items) => items.iter().for_each(|item| collect(item, references)),
            Value::Object(map) => map.values().for_each(|item| collect(item, references)),
            _ => {}
        },
    }
}
