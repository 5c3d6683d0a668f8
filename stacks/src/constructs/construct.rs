//! The trait that all constructs implement. It determines what a stack writes to its template.

use serde_json::{Map, Value};

use super::resource_type::ResourceType;

/// A typed resource that can be added to a [`Stack`](crate::stack::Stack).
pub trait Construct: Sized {
    /// The CloudFormation type of the resource.
    const TYPE: ResourceType;

    /// Returns the resource's `Properties`.
    fn properties(self) -> Map<String, Value>;

    /// Returns the action that CloudFormation takes when the resource is removed or replaced.
    /// Returns `None` for resources without data. No policy is then written to the template.
    fn removal_policy(&self) -> Option<RemovalPolicy> {
        None
    }

    /// Returns the ids of the policy statements that allow all resources, each with the reason. The
    /// stack writes ids and reasons to the resource's `Metadata.Reasons`.
    fn wildcard_reasons(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// Action that CloudFormation takes on a resource when its stack is deleted or when an update
/// removes or replaces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemovalPolicy {
    /// Deletes the resource, because its contents can be recreated or are no longer needed.
    Delete,
    /// Retains the resource, because it contains or protects customer data.
    Retain,
    /// Like [`RemovalPolicy::Retain`], except that the resource is deleted if the deployment that
    /// creates it fails.
    ///
    /// Use only for resources that CloudFormation can delete. A table with deletion protection
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

    /// Returns the value of the `UpdateReplacePolicy` attribute. This attribute does not support
    /// `RetainExceptOnCreate`.
    pub const fn update_replace_policy(self) -> &'static str {
        match self {
            Self::Delete => "Delete",
            Self::Retain | Self::RetainExceptOnCreate => "Retain",
        }
    }
}
