//! Model checks, in one binary, so that they are linked once.
//!
//! `cargo test -p cellar-models -- --nocapture` prints bounds, states and speed. To run the long
//! checks, with more writers and faults:
//! `cargo test --release -p cellar-models --test models long -- --ignored --nocapture --test-threads 1`.

mod attempts;
mod checking;
mod feed;
mod log;
mod push;
mod rules;
mod snapshots;
mod streams;
