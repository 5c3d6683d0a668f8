//! Compares two templates and returns a typed [`Difference`].
//!
//! Templates are normalized before the comparison: key order, the order of lists that AWS treats as
//! sets, and equivalent notations of a text make no difference. Constructs define whether a change
//! replaces a resource ([`ResourceType::update_of`](crate::constructs::ResourceType::update_of));
//! any change may replace a resource of an unknown type.
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
mod data_risks;
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
use follow::{CommonResourceChange, propagate_changes};
use permissions::TooManyPermissions;

pub use change::{ChangeAction, Difference, PropertyChange, ResourceChange, Severity};
pub use document::{Document, DocumentError};
pub use permissions::{Grant, PermissionChanges, PermissionKind};
pub use risk::Risk;
pub use text::{printable, readable};

/// The reason why two templates could not be compared.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DifferenceError {
    #[error(
        "the template contains more than {} combinations of principal, action and resource, \
         and `{logical_id}` exceeds this limit; list fewer actions and resources",
        limits::PERMISSIONS_MAX
    )]
    TooManyPermissions {
        /// The logical id of the resource whose permissions exceeded the limit.
        logical_id: String,
    },
}

impl Difference {
    /// Returns what changes if `new` is deployed over `old`. If `old` is `None`, all resources are
    /// added.
    ///
    /// # Errors
    /// Returns a [`DifferenceError`] if a template contains more than [`limits::PERMISSIONS_MAX`]
    /// individual permissions.
    pub fn between(old: Option<&Document>, new: &Document) -> Result<Self, DifferenceError> {
        let empty_document = Document::empty();
        let old = old.unwrap_or(&empty_document);
        let permissions = permissions::compare_permissions(old, new).map_err(
            |TooManyPermissions { logical_id }| DifferenceError::TooManyPermissions { logical_id },
        )?;
        let resources = compare_resources(old, new, &permissions);
        let sections = compare_sections(old, new);
        let severity = max_severity(&resources, &permissions, &sections);
        Ok(Self { severity, resources, permissions, sections })
    }
}

/// Returns the changed resources, sorted by decreasing severity.
fn compare_resources(
    old: &Document,
    new: &Document,
    permissions: &PermissionChanges,
) -> Vec<ResourceChange> {
    let mut common_changes = compare_common_resources(old, new);
    propagate_changes(new, &mut common_changes);
    let logical_ids: BTreeSet<&String> = old.resources.keys().chain(new.resources.keys()).collect();
    let mut resource_changes = Vec::new();
    for logical_id in logical_ids {
        let old_resource = old.resources.get(logical_id);
        let new_resource = new.resources.get(logical_id);
        let common_change = common_changes.remove(logical_id).unwrap_or_default();
        let change =
            resource_change(logical_id, old_resource, new_resource, common_change, permissions);
        resource_changes.extend(change);
    }
    resource_changes.sort_by_key(|change| Reverse(change.severity));
    resource_changes
}

/// The keys are logical ids.
fn compare_common_resources(
    old: &Document,
    new: &Document,
) -> BTreeMap<String, CommonResourceChange> {
    let mut changes = BTreeMap::new();
    for (logical_id, new_resource) in &new.resources {
        let Some(old_resource) = old.resources.get(logical_id) else { continue };
        let has_same_type = document::type_name(old_resource) == document::type_name(new_resource);
        let resource_type = if has_same_type { document::known_type(new_resource) } else { None };
        let properties = compare::resource_changes(resource_type, old_resource, new_resource);
        let update = properties.iter().map(|change| change.update).max();
        let change = CommonResourceChange { update, properties, follows: BTreeSet::new() };
        changes.insert(logical_id.clone(), change);
    }
    changes
}

/// Returns the change to a resource, or `None` if the resource is the same in both templates.
fn resource_change(
    logical_id: &str,
    old: Option<&Value>,
    new: Option<&Value>,
    common_change: CommonResourceChange,
    permissions: &PermissionChanges,
) -> Option<ResourceChange> {
    let action = match (old, new) {
        (None, _) => ChangeAction::Add,
        (Some(old_resource), None) => removal_action(old_resource),
        (Some(_), Some(_)) => ChangeAction::from(common_change.update?),
    };
    let risks = data_risks::find_risks(action, old, new);
    let is_broadened = permissions.are_broadened_by(logical_id);
    let severity = resource_severity(&risks, is_broadened, common_change.update);
    Some(ResourceChange {
        logical_id: logical_id.to_owned(),
        resource_type: document::type_name(new.or(old)?).to_owned(),
        action,
        severity,
        holds_data: old.is_some_and(data_risks::holds_data)
            || new.is_some_and(data_risks::holds_data),
        risks,
        follows: common_change.follows,
        properties: common_change.properties,
    })
}

fn resource_severity(risks: &[Risk], is_broadened: bool, update: Option<Update>) -> Severity {
    if !risks.is_empty() {
        return Severity::Destructive;
    }
    if is_broadened {
        return Severity::Broadening;
    }
    match update {
        Some(Update::MayReplace | Update::Replace) => Severity::Replacement,
        Some(Update::InPlace) | None => Severity::Update,
    }
}

fn removal_action(resource: &Value) -> ChangeAction {
    if document::is_retained(document::removal_policy(resource, "DeletionPolicy")) {
        ChangeAction::Abandon
    } else {
        ChangeAction::Remove
    }
}

fn compare_sections(old: &Document, new: &Document) -> Vec<PropertyChange> {
    let section_names: BTreeSet<&String> = old.sections.keys().chain(new.sections.keys()).collect();
    let mut changes = Vec::new();
    for name in section_names {
        let old_section = old.sections.get(name);
        let new_section = new.sections.get(name);
        changes.extend(compare::section_changes(name, old_section, new_section));
    }
    changes
}

fn max_severity(
    resources: &[ResourceChange],
    permissions: &PermissionChanges,
    sections: &[PropertyChange],
) -> Severity {
    let mut highest_severity =
        resources.iter().map(|change| change.severity).max().unwrap_or(Severity::None);
    if !permissions.broadened.is_empty() {
        highest_severity = highest_severity.max(Severity::Broadening);
    }
    if !sections.is_empty() {
        highest_severity = highest_severity.max(Severity::Update);
    }
    highest_severity
}

#[cfg(test)]
mod tests;
