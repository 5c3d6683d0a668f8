//! Base types shared by all Cellar crates: ids, positions, limits and table records.
//!
//! The crates under `core/` contain no async code, clocks, randomness or I/O. Callers pass in the
//! current time and random numbers. Each protocol is a state machine that maps a state and an event
//! to a new state and an action. The engine, the model checker and the simulator share these state
//! machines.

pub mod backoff;
pub mod base64_text;
pub mod bounded;
pub mod consistency;
pub mod count;
pub mod duration;
pub mod hexadecimal;
pub mod identity;
pub mod limits;
pub mod position;
pub mod record;
pub mod safety_rules;
pub mod table_attributes;
pub mod unexpected_event;
pub mod zstd_frames;
