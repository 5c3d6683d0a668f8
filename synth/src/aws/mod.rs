//! AWS, as far as deploying and watching need it: the clients, the bucket of the bundles, change sets,
//! stacks, and what these log and measure.

mod artifacts;
mod bucket_settings;
mod change_set;
mod connect;
mod data;
mod drift;
mod error;
mod import;
mod logs;
mod metrics;
mod queues;
mod signed;
mod stack;
mod tables;

pub(crate) use artifacts::{Artifact, Found, Uploaded};
pub(crate) use change_set::{Change, ChangeSet, PlannedAction, Replacement, Wanted, Watch};
pub(crate) use connect::Aws;
pub(crate) use drift::{Drift, Drifts, PropertyDrift};
pub(crate) use error::{AwsError, denied_action};
pub(crate) use import::Import;
pub(crate) use logs::{LogEvent, PAGES_MAX, Wish, pattern_of};
pub(crate) use metrics::Query;
pub(crate) use stack::{DeploymentEvent, Resource, StackState};
pub(crate) use tables::Recoverable;
