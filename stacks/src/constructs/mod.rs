//! A typed struct for each AWS resource type that Cellar uses. CloudFormation property names appear
//! only in this module.
//!
//! Physical resource names cannot be set. With fixed names, there could be only one stack per
//! region, and CloudFormation could not replace resources.

mod alarm;
mod bucket;
mod bucket_policy;
mod construct;
mod dashboard;
mod event_source;
mod function;
mod function_url;
mod handle;
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

pub use alarm::Alarm;
pub use bucket::{Bucket, BucketCors};
pub use bucket_policy::BucketPolicy;
pub use construct::{Construct, RemovalPolicy};
pub use dashboard::{Dashboard, Widget};
pub use event_source::{StreamFilter, StreamSource};
pub use function::{BundleLocation, Function};
pub use function_url::{FunctionUrl, FunctionUrlCors};
pub use handle::Handle;
pub use lifecycle::LifecycleRule;
pub(crate) use lists::{ListKind, POLICY_DOCUMENTS, accepts_single_element, list_kind};
pub use log_group::LogGroup;
pub use metric::{Metric, MonitoredResource};
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
