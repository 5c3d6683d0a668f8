//! Tests of the simulator: its parts work as described, equal seeds give equal runs, each scenario
//! passes a hundred seeds and shows all its rare events, and all seeds that ever failed pass.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod arguments;
mod batch;
mod determinism;
mod ports;
mod progress;
mod random;
mod replica;
mod scenarios;
mod seeds;
mod stream;
mod trace;
