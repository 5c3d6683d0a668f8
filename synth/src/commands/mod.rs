//! The commands, one file each.

pub(crate) mod archive;
mod archive_report;
pub(crate) mod bundle;
mod changes;
mod confirm;
pub(crate) mod deploy;
mod deploy_aws;
pub(crate) mod destroy;
mod destroy_aws;
mod follow;
pub(crate) mod init;
pub(crate) mod local_cloud;
mod rebuild;
mod remember;
pub(crate) mod reprocess;
mod reprocess_report;
pub(crate) mod runbook;
mod runbook_text;
pub(crate) mod smoke;
pub(crate) mod status;
pub(crate) mod template;
pub(crate) mod token;
