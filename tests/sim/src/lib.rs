//! A deterministic simulator that runs the real engine over simulated services with faults. The
//! scenario and the seed determine every event of a run. `README.md` explains how to use it.

mod actors;
pub mod batch;
mod bucket;
pub mod checks;
pub mod command;
mod editor;
pub mod failed_seeds;
pub mod fleet;
mod network;
mod operations;
mod pipeline;
pub mod plan;
mod ports;
pub mod process;
pub mod random;
pub mod rare;
mod reading;
pub mod replica;
pub mod run;
pub mod scenarios;
mod simulation;
pub mod stream;
pub mod trace;
pub mod witness;
pub mod world;
