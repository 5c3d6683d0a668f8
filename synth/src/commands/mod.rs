//! The commands, one file each.

pub(crate) mod archive;
mod archive_report;
pub(crate) mod bundle;
mod changes;
pub(crate) mod ci;
mod confirm;
pub(crate) mod cost;
pub(crate) mod deploy;
mod deploy_aws;
pub(crate) mod destroy;
mod destroy_aws;
pub(crate) mod diff;
pub(crate) mod drift;
mod follow;
pub(crate) mod init;
mod interrupt;
pub(crate) mod local_cloud;
pub(crate) mod logs;
mod logs_local;
mod look;
pub(crate) mod plan;
mod prepare;
mod rebuild;
mod remember;
pub(crate) mod reprocess;
mod reprocess_report;
pub(crate) mod runbook;
mod runbook_text;
pub(crate) mod smoke;
pub(crate) mod status;
mod status_aws;
pub(crate) mod template;
pub(crate) mod token;
mod watched;

pub(crate) use interrupt::Stage;
