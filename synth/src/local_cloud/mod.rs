//! The local cloud as a process: in the foreground, in the background, and its end.

mod detached;
mod reach;
mod serve;
mod stop;

use cellar_local::LocalError;

use crate::error::SynthError;
pub(crate) use detached::start_detached;
pub(crate) use reach::{Reached, Run};
pub(crate) use serve::{serve, start};
pub(crate) use stop::stop;

impl From<LocalError> for SynthError {
    fn from(cause: LocalError) -> Self {
        let help = cause.help();
        Self::Local { cause, help }
    }
}
