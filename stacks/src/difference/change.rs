//! Types of changes between two templates.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use super::permissions::PermissionChanges;
use super::risk::Risk;
use crate::constructs::Update;

/// Severity of a change, from lowest to highest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// No change.
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

/// Action that CloudFormation takes on a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeAction {
    /// Creates the resource.
    Add,
    /// Deletes the resource.
    Remove,
    /// Removes the resource from the stack, but retains it in the account.
    Abandon,
    /// Updates the resource in place.
    Update,
    /// Updates the resource in place or replaces it. Which of the two is unknown.
    MayReplace,
    /// Replaces the resource with a new resource.
    Replace,
}

/// A changed value, which is a resource property or another template field.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PropertyChange {
    /// Path of the value as a JSON pointer. For a value in a resource, the path is relative to the
    /// resource, such as `/Properties/MemorySize`. All other paths start with the section name. An
    /// element of a keyed list is identified by its key, and an element of a set by `-`.
    pub path: String,
    /// Value before the change, or `None` if the property is added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Value>,
    /// Value after the change, or `None` if the property is removed.
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
    /// Logical ids of the changed resources that this resource references and that cause it to
    /// change too.
    pub follows: BTreeSet<String>,
    /// Changed properties. Empty if the whole resource is added or removed.
    pub properties: Vec<PropertyChange>,
}

/// Differences between two templates.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Highest severity among all changes.
    pub severity: Severity,
    /// Changed resources, sorted by decreasing severity.
    pub resources: Vec<ResourceChange>,
    pub permissions: PermissionChanges,
    /// Changes outside of resources, such as changed parameters, outputs and conditions.
    pub sections: Vec<PropertyChange>,
}

impl Difference {
    /// Returns whether there are no differences.
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
