//! What documents promise of the source: each bound of `core/base/src/limits` is tested, and what
//! `SECURITY.md` says is shown by the tests that it names.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests fail by panicking"
)]

mod bounds;
mod security;
mod source;
