//! Test support that several crates share: a running local stack with tokens, proxies that inject
//! faults, and an AWS emulator.
//!
//! All functions panic on failure, as tests do.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "support code of tests fails like a test"
)]

pub mod budgets;
pub mod cells;
pub mod cloud;
pub mod edits;
pub mod emulator;
pub mod fast_clock;
pub mod faulty_proxy;
pub mod forwarding;
pub mod issuer;
pub mod old_logs;
pub mod proxy;
pub mod python;
pub mod receiver;
pub mod snapshots;
pub mod urls;
