//! What a deployment would change: from two templates to a typed [`Difference`].
//!
//! Templates are compared in a form in which equal things are equal: the order of keys, and of lists
//! that AWS treats as sets, is no change; nor is another way to write the same text. Whether a
//! resource is changed in place or replaced stands beside the constructs
//! ([`ResourceType::update_of`](crate::constructs::ResourceType::update_of)); of types that are not
//! known there, anything may replace them.
//!
//! ```
//! use cellar_stacks::difference::{Difference, Document, Severity};
//! use cellar_stacks::{Architecture, Config, cellar_stack};
//!
//! let old = cellar_stack(&Config::default(), Architecture::Arm64)?;
//! let config = Config { deletion_protection: false, ..Config::default() };
//! let new = cellar_stack(&config, Architecture::Arm64)?;
//! let old = Document::read(&old.to_json())?;
//! let difference = Difference::between(Some(&old), &Document::from(&new))?;
//! assert_eq!(difference.severity, Severity::Destructive);
//! assert_eq!(difference.resources[0].logical_id, "EntryTable");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bounded;
mod change;
mod compare;
mod document;
mod follow;
pub mod limits;
mod normal;
mod permissions;
mod risk;
mod text;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use thiserror::Error;

use crate::constructs::Update;
use follow::Changing;

pub use change::{ChangeAction, Difference, PropertyChange, ResourceChange, Severity};
pub use document::{Document, DocumentError};
pub use permissions::{Grant, PermissionChanges, PermissionKind};
pub use risk::Risk;
pub use text::{printable, readable};

/// Why two templates cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DifferenceError {
    /// More permissions than AWS accepts in any stack.
    #[error(
        "the policies up to that of `{logical_id}` hold more than {} single permissions; name fewer \
         actions and resources",
        limits::PERMISSIONS_MAX
    )]
    TooManyPermissions {
        /// The resource with the first one that is too many.
        logical_id: String,
    },
}

impl Difference {
    /// What a deployment of `new` over `old` changes; without an old one, everything is added.
    ///
    /// # Errors
    /// [`DifferenceError`], if one of them holds more permissions than any real one.
    pub fn between(old: Option<&Document>, new: &Document) -> Result<Self, DifferenceError> {
        let nothing = Document::empty();
        let old = old.unwrap_or(&nothing);
        let permissions = permissions::changes(old, new)?;
        let mut changing = changes_of_both(old, new);
        follow::follow(new, &mut changing);
        let ids: BTreeSet<&String> = old.resources.keys().chain(new.resources.keys()).collect();
        let mut resources: Vec<ResourceChange> = ids
            .into_iter()
            .filter_map(|logical_id| {
                let sides = (old.resources.get(logical_id), new.resources.get(logical_id));
                let changing = changing.remove(logical_id).unwrap_or_default();
                resource_change(logical_id, sides, changing, &permissions)
            })
            .collect();
        resources.sort_by_key(|change| Reverse(change.severity));
        let sections = sections(old, new);
        let severity = severity(&resources, &permissions, &sections);
        Ok(Self { severity, resources, permissions, sections })
    }
}

/// The changes of the resources that are in both.
fn changes_of_both(old: &Document, new: &Document) -> BTreeMap<String, Changing> {
    let both = new.resources.iter().filter_map(|(logical_id, new)| {
        let old = old.resources.get(logical_id)?;
        let known = document::known_type(new).filter(|_| {
            // Of another type, nothing of the old one stays.
            document::type_name(old) == document::type_name(new)
        });
        let properties = compare::resource_changes(known, old, new);
        let update = properties.iter().map(|change| change.update).max();
        let changing = Changing { update, properties, follows: BTreeSet::new() };
        Some((logical_id.clone(), changing))
    });
    both.collect()
}

fn resource_change(
    logical_id: &str,
    (old, new): (Option<&Value>, Option<&Value>),
    changing: Changing,
    permissions: &PermissionChanges,
) -> Option<ResourceChange> {
    let action = match (old, new) {
        (None, _) => ChangeAction::Add,
        (Some(old), None) if document::keeps(document::policy(old, "DeletionPolicy")) => {
            ChangeAction::Abandon
        }
        (Some(_), None) => ChangeAction::Remove,
        (Some(_), Some(_)) => ChangeAction::from(changing.update?),
    };
    let risks = risk::risks(action, old, new);
    let shown = new.or(old)?;
    let severity = if !risks.is_empty() {
        Severity::Destructive
    } else if permissions.are_broadened_by(logical_id) {
        Severity::Broadening
    } else if changing.update > Some(Update::InPlace) {
        Severity::Replacement
    } else {
        Severity::Update
    };
    Some(ResourceChange {
        logical_id: logical_id.to_owned(),
        resource_type: document::type_name(shown).to_owned(),
        action,
        severity,
        holds_data: [old, new].into_iter().flatten().any(risk::holds_data),
        risks,
        follows: changing.follows,
        properties: changing.properties,
    })
}

fn sections(old: &Document, new: &Document) -> Vec<PropertyChange> {
    let names: BTreeSet<&String> = old.sections.keys().chain(new.sections.keys()).collect();
    names
        .into_iter()
        .flat_map(|name| {
            compare::section_changes(name, old.sections.get(name), new.sections.get(name))
        })
        .collect()
}

fn severity(
    resources: &[ResourceChange],
    permissions: &PermissionChanges,
    sections: &[PropertyChange],
) -> Severity {
    let of_resources = resources.iter().map(|change| change.severity);
    let of_permissions = (!permissions.broadened.is_empty()).then_some(Severity::Broadening);
    let of_sections = (!sections.is_empty()).then_some(Severity::Update);
    of_resources.chain(of_permissions).chain(of_sections).max().unwrap_or(Severity::None)
}

#[cfg(test)]
mod tests;
