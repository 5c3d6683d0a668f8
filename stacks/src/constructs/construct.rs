//! The trait of all constructs, which defines what a stack writes into its template.

use serde_json::{Map, Value};

use super::resource_type::ResourceType;

/// A typed resource that can be added to a [`Stack`](crate::stack::Stack).
pub trait Construct: Sized {
    /// The CloudFormation type of the resource.
    const TYPE: ResourceType;

    /// Returns the `Properties` of the resource.
    fn properties(self) -> Map<String, Value>;

    /// Returns the action of CloudFormation when the resource is removed or replaced. `None` is for
    /// resources without data and writes no policy into the template.
    fn removal(&self) -> Option<RemovalPolicy> {
        None
    }

    /// Returns pairs of a statement id and a reason. The stack writes them into `Metadata.Reasons`
    /// of the resource.
    fn reasons(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// The action of CloudFormation on a resource when the stack is deleted or an update replaces the
/// resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemovalPolicy {
    /// Deletes the resource. Its contents can be recreated or are no longer needed.
    Delete,
    /// Keeps the resource, which contains or protects a customer's data.
    Retain,
    /// Like [`RemovalPolicy::Retain`], but deletes the resource if the deployment that creates it
    /// fails.
    ///
    /// Use this policy only for resources that CloudFormation can delete. A table with deletion
    /// protection would leave the stack in the state `ROLLBACK_FAILED`.
    RetainExceptOnCreate,
}

impl RemovalPolicy {
    /// Returns the value of the `DeletionPolicy` attribute.
    pub const fn deletion_policy(self) -> &'static str {
        match self {
            Self::Delete => "Delete",
            Self::Retain => "Retain",
            Self::RetainExceptOnCreate => "RetainExceptOnCreate",
        }
    }

    /// Returns the value of the `UpdateReplacePolicy` attribute, which does not support
    /// `RetainExceptOnCreate`.
    pub const fn update_replace_policy(self) -> &'static str {
        match self {
            Self::Delete => "Delete",
            Self::Retain | Self::RetainExceptOnCreate => "Retain",
        }
    }
}
