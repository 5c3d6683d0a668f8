//! Measures how time, memory, stored objects and cost grow with the number of cells. `README.md`
//! explains how to run it.
//!
//! [`scenario::measure_size`] imports a sheet into a local stack and runs all steps on it.
//! [`growth`] compares the figures of several sizes, and `picture` draws them.

pub mod command;
pub mod cost_line;
pub mod data;
mod error;
pub mod figures;
pub mod growth;
mod picture;
mod process;
mod report;
pub mod scenario;
mod stack;

pub use error::ScaleError;
pub use picture::draw;
pub use stack::Programs;
