//! A deterministic simulator: the real engine over simulated services that fail. Everything that happens in a run is a function of its scenario and its seed.
//! `README.md` says how to use it.

mod actors;
pub mod batch;
mod bucket;
pub mod checks;
pub mod command;
mod editor;
pub mod fleet;
pub mod kept;
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
