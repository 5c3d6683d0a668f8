//! What a comparison finds.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use super::permissions::PermissionChanges;
use super::risk::Risk;
use crate::constructs::Update;

/// How grave a change is. The later ones are the graver ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// There is none.
    None,
    /// Something is added, changed in place, or removed that holds no data.
    Update,
    /// A resource is replaced, or may be.
    Replacement,
    /// Somebody may do something that was not allowed before.
    Broadening,
    /// Data is removed, replaced, or less protected than before.
    Destructive,
}

/// What CloudFormation does to a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeAction {
    /// Makes it.
    Add,
    /// Deletes it.
    Remove,
    /// Leaves it where it is, and manages it no longer.
    Abandon,
    /// Changes it in place.
    Update,
    /// Changes it in place or replaces it.
    MayReplace,
    /// Replaces it by a new one.
    Replace,
}

/// One property, or another field, with another value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PropertyChange {
    /// Where it is, much like a JSON pointer: in a resource `/Properties/MemorySize`, elsewhere
    /// from the section on. An element of a set has the place `-`, one that has a name of its own
    /// stands under that.
    pub path: String,
    /// What it was; absent if it was not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Value>,
    /// What it will be; absent if it will not be there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<Value>,
    /// What the change does to the resource.
    pub update: Update,
}

/// A resource that is added, removed or changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResourceChange {
    /// Its logical id.
    pub logical_id: String,
    /// Its type, of two the new one.
    #[serde(rename = "type")]
    pub resource_type: String,
    /// What happens to it.
    pub action: ChangeAction,
    /// How grave that is.
    pub severity: Severity,
    /// Whether it holds a customer's data.
    pub holds_data: bool,
    /// What may become of the data.
    pub risks: Vec<Risk>,
    /// Resources that are replaced, and to which it refers: it changes with them.
    pub follows: BTreeSet<String>,
    /// Its changed properties; none of a resource that is added or removed as a whole.
    pub properties: Vec<PropertyChange>,
}

/// What differs between two templates.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The gravest of all.
    pub severity: Severity,
    /// Resources, the gravest first.
    pub resources: Vec<ResourceChange>,
    /// What may be done by whom.
    pub permissions: PermissionChanges,
    /// Parameters, outputs, conditions and other sections.
    pub sections: Vec<PropertyChange>,
}

impl Difference {
    /// Whether there is no difference.
    pub fn is_empty(&self) -> bool {
        self.severity == Severity::None
    }
}

impl Severity {
    /// Its name, as JSON has it.
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
