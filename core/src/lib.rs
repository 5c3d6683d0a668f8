//! Cellar's rules: the log protocol, operations, cells, limits and wire types.
//!
//! Pure on purpose: no async, no clock, no randomness and no I/O. Time and random numbers are
//! arguments, and every decision is a function `(state, event) -> (state, action)` that the engine,
//! the model checker and the simulator all call (design `1-overview.md`, `5-quality.md` §2).

pub mod a1;
pub mod access;
pub mod api;
pub mod append;
pub mod axis_map;
pub mod backoff;
mod base64_text;
pub(crate) mod bounded;
pub mod catalog;
pub mod cell;
pub mod cost;
pub mod count;
pub mod entry;
pub mod environment;
pub mod feed;
pub mod forward_read;
pub mod hexadecimal;
pub mod identity;
pub mod invariants;
pub mod limits;
pub mod lineage;
pub mod load;
pub mod oidc;
pub mod operation;
#[cfg(test)]
pub(crate) mod oracle;
pub mod pending_snapshot;
pub mod polling;
pub mod position;
pub mod rebase;
pub mod records;
pub mod relay;
pub mod retention;
pub mod roll;
pub mod schema;
pub mod segment;
pub mod snapshot;
pub mod snapshot_job;
pub mod stream;
pub mod sync;
pub mod transform;
pub mod upkeep;
pub mod webhook;
pub mod workbook;
