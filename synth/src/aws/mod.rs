//! Access to AWS: clients, the artifact bucket, change sets, stacks, tables, logs and metrics.

mod artifacts;
mod bucket_settings;
mod change_set;
mod connect;
mod data;
mod drift;
mod error;
mod import;
mod logs;
mod manual_changes;
mod metric_sums;
mod queues;
mod signed;
mod stack;
mod tables;
mod validation;

pub(crate) use artifacts::{Artifact, ArtifactBucket, UploadResult};
pub(crate) use change_set::{
    Change, ChangeSet, DesiredStack, PlannedAction, Replacement, RollbackAlarms,
};
pub(crate) use connect::Aws;
pub(crate) use drift::{Drift, DriftReport, PropertyDrift};
pub(crate) use error::{AwsError, denied_action};
pub(crate) use import::{Import, ImportedTable};
pub(crate) use logs::{LogCompleteness, LogEvent, LogQuery, PAGES_MAX, quoted_pattern};
pub(crate) use metric_sums::MetricQuery;
pub(crate) use stack::{DeploymentEvent, Resource, STACK_TYPE, StackState};
pub(crate) use tables::{RestorableRange, TableDescription};
