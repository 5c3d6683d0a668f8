//! Types of HTTP requests and responses, and logic shared by servers and clients.

#![deny(missing_docs)]

pub mod cost;
pub mod environment;
pub mod polling;
pub mod rebase;
pub mod sync;
pub mod time;
pub mod trace;
pub mod wire;
