//! One typed struct per kind of AWS resource. Property names are spelled once, here.
//!
//! None of them takes a physical name: with fixed names a stack could exist only once, and a
//! resource that has to be replaced could not be.

mod alarm;
mod bucket;
mod bucket_policy;
mod dashboard;
mod event_source;
mod function;
mod function_url;
mod lifecycle;
mod lists;
mod log_group;
mod metric;
mod permission;
mod policy;
mod properties;
mod queue;
mod queue_policy;
mod queue_source;
mod resource_type;
mod role;
mod suppression;
mod table;
mod topic;
mod update;

use serde_json::{Map, Value};

pub use alarm::Alarm;
pub use bucket::{Bucket, BucketCors};
pub use bucket_policy::BucketPolicy;
pub use dashboard::{Dashboard, Widget};
pub use event_source::{StreamFilter, StreamSource};
pub use function::{Function, FunctionCode};
pub use function_url::{FunctionUrl, FunctionUrlCors};
pub use lifecycle::LifecycleRule;
pub(crate) use lists::{DOCUMENTS, ListKind, list_kind, may_be_single};
pub use log_group::LogGroup;
pub use metric::{Metric, Watched};
pub use permission::Permission;
pub(crate) use policy::statements_of;
pub use policy::{Effect, Resources, Statement};
pub use queue::Queue;
pub use queue_policy::QueuePolicy;
pub use queue_source::QueueSource;
pub use resource_type::ResourceType;
pub use role::{Role, Service};
pub(crate) use suppression::write_suppressions;
pub use suppression::{Rule, Suppression};
pub use table::{AttributeType, StreamView, Table};
pub use topic::Topic;
pub use update::Update;

/// A kind of resource that can be added to a [`Stack`](crate::stack::Stack).
pub trait Construct: Sized {
    /// The CloudFormation type that it becomes.
    const TYPE: ResourceType;

    /// The resource's `Properties`.
    fn properties(self) -> Map<String, Value>;

    /// What happens to it when the stack or the resource goes, written into the template; nothing
    /// is written for what holds nothing.
    fn removal(&self) -> Option<RemovalPolicy> {
        None
    }

    /// Reasons that belong beside the resource: they become its `Metadata.Reasons`.
    fn reasons(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// What happens to a resource when its stack is deleted or an update replaces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemovalPolicy {
    /// It goes too: what it holds can be made again, or has lost its meaning.
    Delete,
    /// It stays: it holds, or guards, a customer's data.
    Retain,
    /// The same; but if the very deployment that makes it fails, it goes again: it is still empty. Only
    /// for what CloudFormation is able to delete then: a protected table would leave the stack in
    /// `ROLLBACK_FAILED`.
    RetainExceptOnCreate,
}

impl RemovalPolicy {
    /// The name as a `DeletionPolicy`.
    pub const fn deletion_policy(self) -> &'static str {
        match self {
            Self::Delete => "Delete",
            Self::Retain => "Retain",
            Self::RetainExceptOnCreate => "RetainExceptOnCreate",
        }
    }

    /// The name as an `UpdateReplacePolicy`: what is replaced was made before.
    pub const fn update_replace_policy(self) -> &'static str {
        match self {
            Self::Delete => "Delete",
            Self::Retain | Self::RetainExceptOnCreate => "Retain",
        }
    }
}
