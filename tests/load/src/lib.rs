//! Load tests over HTTP on a local cloud in a separate process, with measurements and checks.
//! `README.md` explains their use.
//!
//! [`run::run`] starts the cloud, loads it according to a [`plan::Plan`] and returns a
//! [`report::Report`]; [`command`] is the command line for it.

pub mod check;
mod client;
mod cloud;
pub mod command;
mod error;
pub mod measured;
pub mod memory;
mod pace;
pub mod plan;
mod process;
pub mod report;
pub mod run;
mod stored;
mod watch;

pub use cloud::Program;
pub use error::LoadError;
