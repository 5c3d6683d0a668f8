//! Types of changes between two templates.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use super::permissions::PermissionChanges;
use super::risk::Risk;
use crate::constructs::Update;

/// Severity of a change. The variants are in order of increasing severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// No change.
    None,
    /// A resource that contains no data is added, changed in place, or removed.
    Update,
    /// A resource that contains no data is replaced, or may be replaced.
    Replacement,
    /// A permission is added or broadened.
    Broadening,
    /// Data is removed, replaced, or less protected than before.
    Destructive,
}

/// The action that CloudFormation takes on a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeAction {
    /// Creates the resource.
    Add,
    /// Deletes the resource.
    Remove,
    /// Removes the resource from the stack without deleting it.
    Abandon,
    /// Changes the resource in place.
    Update,
    /// Changes the resource in place or replaces it; it is not known which of the two.
    MayReplace,
    /// Replaces the resource with a new one.
    Replace,
}

/// A changed value: a property of a resource, or another field of the template.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PropertyChange {
    /// Path in the style of a JSON pointer. In a resource, the path is relative to the resource,
    /// such as `/Properties/MemorySize`; elsewhere, it starts with the section. List elements that
    /// have a name appear under their name, elements of sets as `-`.
    pub path: String,
    /// Old value; `None` if the property is added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Value>,
    /// New value; `None` if the property is removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<Value>,
    /// Effect of the change on the resource that contains the value.
    pub update: Update,
}

/// A resource that is added, removed or changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResourceChange {
    pub logical_id: String,
    /// CloudFormation type of the resource. If the type changes, this is the new type.
    #[serde(rename = "type")]
    pub resource_type: String,
    pub action: ChangeAction,
    pub severity: Severity,
    /// Whether the resource contains customer data.
    pub holds_data: bool,
    /// Risks for the data.
    pub risks: Vec<Risk>,
    /// Logical ids of the changed resources to which this resource refers and because of which it
    /// changes too.
    pub follows: BTreeSet<String>,
    /// Changed properties. Empty if the whole resource is added or removed.
    pub properties: Vec<PropertyChange>,
}

/// The differences between two templates.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The highest severity of all changes.
    pub severity: Severity,
    /// Changed resources, in order of decreasing severity.
    pub resources: Vec<ResourceChange>,
    pub permissions: PermissionChanges,
    /// Changes outside of resources: parameters, outputs, conditions and other sections.
    pub sections: Vec<PropertyChange>,
}

impl Difference {
    /// Returns whether there are no differences.
    pub fn is_empty(&self) -> bool {
        self.severity == Severity::None
    }
}

impl Severity {
    /// Returns the name that is used in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Update => "update",
            Self::Replacement => "replacement",
            Self::Broadening => "broadening",
            Self::Destructive => "destructive",
        }
    }
}

impl From<Update> for ChangeAction {
    fn from(update: Update) -> Self {
        match update {
            Update::InPlace => Self::Update,
            Update::MayReplace => Self::MayReplace,
            Update::Replace => Self::Replace,
        }
    }
}
