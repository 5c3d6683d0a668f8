//! Types of the changes that a comparison finds.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use super::permissions::PermissionChanges;
use super::risk::Risk;
use crate::constructs::Update;

/// Severity of a change, in increasing order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// No change.
    None,
    /// A resource is added, changed in place, or removed; it contains no data.
    Update,
    /// A resource is or may be replaced; it contains no data.
    Replacement,
    /// A permission is added or extended.
    Broadening,
    /// Data is removed, replaced, or less protected than before.
    Destructive,
}

/// The action of CloudFormation on a resource.
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
    /// Changes the resource in place or replaces it.
    MayReplace,
    /// Replaces the resource by a new one.
    Replace,
}

/// A property of a resource, or another field of a template, whose value changes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PropertyChange {
    /// Path in the style of a JSON pointer, relative to the resource (`/Properties/MemorySize`) or, outside
    /// of resources, starting with the section. List elements with a name appear under that name, elements
    /// of sets as `-`.
    pub path: String,
    /// Old value; `None` if the property is added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Value>,
    /// New value; `None` if the property is removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<Value>,
    /// Effect of the change on the resource.
    pub update: Update,
}

/// A resource that is added, removed or changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResourceChange {
    pub logical_id: String,
    /// CloudFormation type; the new one if the type changes.
    #[serde(rename = "type")]
    pub resource_type: String,
    pub action: ChangeAction,
    pub severity: Severity,
    /// Whether the resource contains a customer's data.
    pub holds_data: bool,
    /// Risks for the data.
    pub risks: Vec<Risk>,
    /// Logical ids of replaced resources to which the resource refers, so that it changes too.
    pub follows: BTreeSet<String>,
    /// Changed properties; empty if the whole resource is added or removed.
    pub properties: Vec<PropertyChange>,
}

/// The differences between two templates.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The highest severity of all changes.
    pub severity: Severity,
    /// Changed resources, most severe first.
    pub resources: Vec<ResourceChange>,
    pub permissions: PermissionChanges,
    /// Changes of parameters, outputs, conditions and other sections.
    pub sections: Vec<PropertyChange>,
}

impl Difference {
    /// Returns whether the templates are equal.
    pub fn is_empty(&self) -> bool {
        self.severity == Severity::None
    }
}

impl Severity {
    /// Returns the name, as in JSON.
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
