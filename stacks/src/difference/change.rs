//! Types of changes between two templates.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use super::permissions::PermissionChanges;
use super::risk::Risk;
use crate::constructs::Update;

/// The severity of a change. The variants are in increasing order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    None,
    /// A resource without data is added, updated in place or removed.
    Update,
    /// A resource without data is replaced or may be replaced.
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
    Add,
    Remove,
    /// Removes the resource from the stack without deleting it.
    Abandon,
    Update,
    MayReplace,
    Replace,
}

/// A changed property of a resource, or another changed field of the template.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PropertyChange {
    /// The path of the changed value as a JSON pointer.
    ///
    /// If the value is part of a resource, the path is relative to the resource, such as
    /// `/Properties/MemorySize`. All other paths start with the name of a section. The path segment
    /// of an element of a keyed list is the element's key. The path segment of an element of a set
    /// is `-`.
    pub path: String,
    /// The value before the change, or `None` if the change adds the property.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Value>,
    /// The value after the change, or `None` if the change removes the property.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<Value>,
    /// How the change affects the resource that contains the value.
    pub update: Update,
}

/// A resource that is added, removed or changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResourceChange {
    pub logical_id: String,
    /// The CloudFormation type of the resource. If the type changes, this is the new type.
    #[serde(rename = "type")]
    pub resource_type: String,
    pub action: ChangeAction,
    pub severity: Severity,
    /// Whether the resource contains customer data.
    pub holds_data: bool,
    /// Risks for the data.
    pub risks: Vec<Risk>,
    /// The logical ids of the referenced resources whose changes also change this resource.
    pub follows: BTreeSet<String>,
    /// The changed properties. Empty if the entire resource is added or removed.
    pub properties: Vec<PropertyChange>,
}

/// Differences between two templates.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Highest severity among all changes.
    pub severity: Severity,
    /// The changed resources, sorted by decreasing severity.
    pub resources: Vec<ResourceChange>,
    pub permissions: PermissionChanges,
    /// The changes to all other parts of the template, such as parameters, outputs and conditions.
    pub sections: Vec<PropertyChange>,
}

impl Difference {
    /// Returns whether the two templates are equivalent.
    pub fn is_empty(&self) -> bool {
        self.severity == Severity::None
    }
}

impl Severity {
    /// Returns the severity's name in JSON.
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
