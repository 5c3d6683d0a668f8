//! The trait implemented by all constructs, which determines what a stack writes to its template.

use serde_json::{Map, Value};

use super::resource_type::ResourceType;

/// A typed resource that can be added to a [`Stack`](crate::stack::Stack).
pub trait Construct: Sized {
    /// The CloudFormation type of the resource.
    const TYPE: ResourceType;

    /// Returns the resource's `Properties`.
    fn properties(self) -> Map<String, Value>;

    /// Returns CloudFormation's action when the resource is removed or replaced. `None` writes no
    /// policy to the template, and is used for resources without data.
    fn removal_policy(&self) -> Option<RemovalPolicy> {
        None
    }

    /// Returns pairs of statement id and reason, which the stack writes to the resource's
    /// `Metadata.Reasons`.
    fn wildcard_reasons(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// CloudFormation's action on a resource that is deleted with its stack or replaced by an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemovalPolicy {
    /// Deletes the resource, whose contents can be recreated or are no longer needed.
    Delete,
    /// Retains the resource, which contains or protects customer data.
    Retain,
    /// Like [`RemovalPolicy::Retain`], but deletes the resource if the deployment that creates it
    /// fails.
    ///
    /// Use only for resources that CloudFormation can delete: a table with deletion protection
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
