//! Rules of a deployment into AWS, apart from AWS: what a stack's status allows, what needs a yes,
//! what is told of the events, and what was at fault.

mod approval;
mod failure;
mod progress;
mod status;

pub(crate) use approval::{Approval, approval};
pub(crate) use failure::failure;
pub(crate) use progress::{Line, Mark, Progress};
pub(crate) use status::{End, Ground, end, ground};
