//! AWS, as far as deploying needs it: the clients, the bucket of the bundles, change sets and stacks.

mod artifacts;
mod change_set;
mod connect;
mod data;
mod drift;
mod error;
mod stack;

pub(crate) use artifacts::{Artifact, Uploaded};
pub(crate) use change_set::{Action, Change, ChangeSet, Replacement, Wanted, Watch};
pub(crate) use connect::Aws;
pub(crate) use drift::{Drift, Drifts, PropertyDrift};
pub(crate) use error::{AwsError, denied_action};
pub(crate) use stack::{Event, Resource, StackState};
