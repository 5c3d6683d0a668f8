//! The interface of constructs: what a stack writes into its template for each of them.

use serde_json::{Map, Value};

use super::resource_type::ResourceType;

/// A typed resource that can be added to a [`Stack`](crate::stack::Stack).
pub trait Construct: Sized {
    /// The CloudFormation type of the resource.
    const TYPE: ResourceType;

    /// Returns the `Properties` of the resource.
    fn properties(self) -> Map<String, Value>;

    /// Returns what CloudFormation does with the resource when it is removed or replaced. `None`, for
    /// resources without data, writes no policy into the template.
    fn removal(&self) -> Option<RemovalPolicy> {
        None
    }

    /// Returns pairs of a statement id and a reason, which become the `Metadata.Reasons` of the
    /// resource.
    fn reasons(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// CloudFormation's action on a resource when its stack is deleted or an update replaces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemovalPolicy {
    /// Deletes the resource, whose contents can be recreated or are no longer needed.
    Delete,
    /// Keeps the resource, which contains or protects a customer's data.
    Retain,
    /// Like [`RemovalPolicy::Retain`], but deletes the resource if the deployment that creates it fails.
    ///
    /// Only for resources that CloudFormation can delete: a table with deletion protection would leave
    /// the stack in `ROLLBACK_FAILED`.
    RetainExceptOnCreate,
}

impl RemovalPolicy {
    /// Returns the value of `DeletionPolicy`.
    pub const fn deletion_policy(self) -> &'static str {
        match self {
            Self::Delete => "Delete",
            Self::Retain => "Retain",
            Self::RetainExceptOnCreate => "RetainExceptOnCreate",
        }
    }

    /// Returns the value of `UpdateReplacePolicy`, which has no `RetainExceptOnCreate`.
    pub const fn update_replace_policy(self) -> &'static str {
        match self {
            Self::Delete => "Delete",
            Self::Retain | Self::RetainExceptOnCreate => "Retain",
        }
    }
}
