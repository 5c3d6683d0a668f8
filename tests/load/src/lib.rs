//! Load tests over HTTP against a local stack in a separate process, with measurements and checks.
//! `README.md` explains how to use them.
//!
//! [`run::run`] starts the stack, puts it under load according to a [`plan::Plan`] and returns a
//! [`report::Report`]. [`command`] is the command-line interface.

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
