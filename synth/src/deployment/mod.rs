//! Decisions about deployments to AWS, without I/O: which changes need confirmation, which stacks
//! belong to Cellar, in which regions a stack can be deployed, which operations a stack status
//! permits, how the stack is protected, how tables are deleted, and how stack events are reported.

mod approval;
mod failure;
mod ownership;
mod phase;
mod plan;
mod progress;
mod protection;
mod regions;
mod restore;
mod status;
mod table_deletion;
mod watch;

pub(crate) use approval::{Approval, required_approval};
pub(crate) use failure::{DeploymentFailure, first_failure, last_operation_failure};
pub(crate) use ownership::{STACK_TAG, is_cellar_stack};
pub(crate) use phase::DeploymentPhase;
pub(crate) use plan::{PLAN_VERSION, Plan, PlanBasis, StalePlan};
pub(crate) use progress::{DeploymentProgress, EventLine, EventMark};
pub(crate) use protection::ProtectionChange;
pub(crate) use regions::has_function_urls;
pub(crate) use restore::{
    RestoreError, StackResource, TableRestore, existed_at, restored_table_name,
};
pub(crate) use status::{OperationResult, StackCondition, operation_result, stack_condition};
pub(crate) use table_deletion::{MAX_TABLE_READS, TableDeletionStep, next_deletion_step};
pub(crate) use watch::{RollbackAlarmNames, rollback_alarm_candidates};
