//! Runs the local stack in the foreground, in the background, or while a single command runs.

mod detached;
mod serve;
mod services;
mod stop;

use cellar_local::LocalError;

use crate::error::SynthError;
pub(crate) use detached::DetachedStack;
pub(crate) use serve::{serve_until_stopped, start_local_cloud};
pub(crate) use services::{FeedTables, LocalFunctions, LocalServices, SnapshotServices};
pub(crate) use stop::stop_running_stack;

impl From<LocalError> for SynthError {
    fn from(cause: LocalError) -> Self {
        let help = cause.help();
        Self::Local { cause, help }
    }
}
