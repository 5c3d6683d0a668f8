//! The commands, one file each.

pub(crate) mod archive;
mod archive_report;
pub(crate) mod ci;
mod confirm;
pub(crate) mod deploy;
pub(crate) mod destroy;
pub(crate) mod diff;
pub(crate) mod init;
pub(crate) mod local_cloud;
mod rebuild;
mod remember;
pub(crate) mod reprocess;
mod reprocess_report;
pub(crate) mod smoke;
pub(crate) mod status;
pub(crate) mod template;
pub(crate) mod token;
