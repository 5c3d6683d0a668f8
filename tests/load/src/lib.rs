//! Load over HTTP on a local cloud that is a process of its own:
//! measured, and checked afterwards. `README.md` says how to use it.
//!
//! [`run::run`] starts the cloud, drives it by a [`plan::Plan`] and gives a [`report::Report`];
//! [`command`] is the same for people.

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
