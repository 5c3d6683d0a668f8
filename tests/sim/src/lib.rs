//! A deterministic simulator that runs the real engine over simulated services with faults. Every
//! event of a run is a function of the scenario and the seed. `README.md` explains its use.

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
mod replica;
pub mod run;
pub mod scenarios;
mod simulation;
pub mod stream;
pub mod trace;
pub mod witness;
pub mod world;
