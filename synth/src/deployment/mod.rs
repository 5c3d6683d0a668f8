//! Decisions about deployments to AWS, without I/O: which changes need confirmation, which stacks
//! belong to Cellar, which operations a stack status permits, and how stack events are reported.

mod approval;
mod failure;
mod ownership;
mod phase;
mod plan;
mod progress;
mod restore;
mod status;
mod watch;

pub(crate) use approval::{Approval, required_approval};
pub(crate) use failure::{DeploymentFailure, first_failure, last_operation_failure};
pub(crate) use ownership::{STACK_TAG, is_cellar_stack};
pub(crate) use phase::DeploymentPhase;
pub(crate) use plan::{PLAN_VERSION, Plan, PlanBasis, StalePlan};
pub(crate) use progress::{DeploymentProgress, EventLine, EventMark};
pub(crate) use restore::{
    RestoreError, StackResource, TableRestore, existed_at, restored_table_name,
};
pub(crate) use status::{OperationResult, StackCondition, operation_result, stack_condition};
pub(crate) use watch::rollback_alarm_names;
