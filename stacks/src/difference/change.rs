//! Types of changes between two templates.

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
    /// A resource without data is added, updated in place, or removed.
    Update,
    /// A resource without data is replaced, or may be replaced.
    Replacement,
    /// A permission is added or broadened.
    Broadening,
    /// Data is removed, replaced, or less protected than before.
    Destructive,
}

/// CloudFormation's action on a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeAction {
    /// Creates the resource.
    Add,
    /// Deletes the resource.
    Remove,
    /// Removes the resource from the stack but retains it in the account.
    Abandon,
    /// Updates the resource in place.
    Update,
    /// Updates the resource in place or replaces it; it is unknown which.
    MayReplace,
    /// Replaces the resource with a new one.
    Replace,
}

/// A changed value: a resource property or another template field.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PropertyChange {
    /// Path in JSON pointer style. In a resource, the path is relative to the resource, such as
    /// `/Properties/MemorySize`; elsewhere, it starts with the section. Named list elements appear
    /// under their name, set elements as `-`.
    pub path: String,
    /// Old value, or `None` if the property is added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Value>,
    /// New value, or `None` if the property is removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<Value>,
    /// Effect on the resource that contains the value.
    pub update: Update,
}

/// A resource that is added, removed or changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResourceChange {
    pub logical_id: String,
    /// CloudFormation type of the resource; the new type if the type changes.
    #[serde(rename = "type")]
    pub resource_type: String,
    pub action: ChangeAction,
    pub severity: Severity,
    /// Whether the resource contains customer data.
    pub holds_data: bool,
    /// Risks for the data.
    pub risks: Vec<Risk>,
    /// Logical ids of the changed resources that this resource references and that cause it to
    /// change too.
    pub follows: BTreeSet<String>,
    /// Changed properties; empty if the whole resource is added or removed.
    pub properties: Vec<PropertyChange>,
}

/// The differences between two templates.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Highest severity of all changes.
    pub severity: Severity,
    /// Changed resources, by decreasing severity.
    pub resources: Vec<ResourceChange>,
    pub permissions: PermissionChanges,
    /// Changes outside resources: parameters, outputs, conditions and other sections.
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
