//! The trait for typed resources. It determines what a stack writes to its template for each
//! resource.

use serde_json::{Map, Value};

use super::resource_type::ResourceType;

/// A typed resource that can be added to a [`Stack`](crate::stack::Stack).
pub trait Construct: Sized {
    /// The CloudFormation type of the resource.
    const TYPE: ResourceType;

    /// Returns the resource's `Properties`.
    fn properties(self) -> Map<String, Value>;

    /// Returns the action that CloudFormation takes when the resource is removed or replaced. If
    /// `None`, the template contains no policy, so CloudFormation deletes the resource.
    fn removal_policy(&self) -> Option<RemovalPolicy> {
        None
    }

    /// Returns the id of each policy statement that allows all resources, with the reason for it.
    /// The stack writes both to `Metadata.Reasons` of the resource.
    fn wildcard_reasons(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// The action that CloudFormation takes on a resource when the stack is deleted, or when an update
/// removes or replaces the resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemovalPolicy {
    /// Deletes the resource, because its contents can be recreated or are no longer needed.
    Delete,
    /// Retains the resource, because it contains or protects customer data.
    Retain,
    /// Retains the resource, except if the deployment that creates it fails. In this case, the
    /// resource is deleted.
    ///
    /// Use this only for resources that CloudFormation can delete. A table with deletion protection
    /// would leave the stack in the state `ROLLBACK_FAILED`.
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
