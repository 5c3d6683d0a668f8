//! The local cloud as a process: in the foreground, in the background, and its end.

mod detached;
mod reach;
mod serve;
mod stop;

pub(crate) use detached::start_detached;
pub(crate) use reach::{Reached, Run};
pub(crate) use serve::{serve, start};
pub(crate) use stop::stop;
