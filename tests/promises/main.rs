//! Checks documents against the source: each limit is tested, the README shows a working example, `SECURITY.md` and the threat table name
//! existing tests, and the generated pages of `docs/reference` are up to date.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests fail by panicking"
)]

mod bounds;
mod examples;
mod reference;
mod security;
mod source;
