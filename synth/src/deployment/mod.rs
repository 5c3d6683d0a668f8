//! Rules of a deployment into AWS, apart from AWS: what a stack's status allows, what needs a yes,
//! whose it is, whether a plan still holds, what is told of the events, which alarms take it back, and
//! what was at fault.

mod approval;
mod failure;
mod ownership;
mod plan;
mod progress;
mod restore;
mod status;
mod watch;

pub(crate) use approval::{Approval, approval};
pub(crate) use failure::{Failure, failure, last_failure};
pub(crate) use ownership::{STACK_TAG, is_ours};
pub(crate) use plan::{Basis, PLAN_VERSION, Plan, StalePlan};
pub(crate) use progress::{DeploymentProgress, Line, Mark};
pub(crate) use restore::{RestoreError, Restoring, restored_name, was_there};
pub(crate) use status::{End, Ground, end, ground};
pub(crate) use watch::watched;
