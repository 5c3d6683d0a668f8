//! The models, checked: one binary, to link once.
//!
//! `cargo test -p cellar-models -- --nocapture` prints bounds, states and speed. The long run, with
//! more writers and faults:
//! `cargo test --release -p cellar-models --test models long -- --ignored --nocapture --test-threads 1`.

mod attempts;
mod checking;
mod feed;
mod log;
mod push;
mod rules;
mod snapshots;
mod streams;
