//! Base types shared by all Cellar crates: ids, positions, limits and table records.
//!
//! The crates under `core/` implement Cellar's rules without async code, clocks, randomness or I/O;
//! callers supply times and random numbers. Each protocol is a state machine `(state, event) ->
//! (state, action)` shared by the engine, the model checker and the simulator.

pub mod backoff;
pub mod base64_text;
pub mod bounded;
pub mod consistency;
pub mod count;
pub mod hexadecimal;
pub mod identity;
pub mod limits;
pub mod position;
pub mod record;
pub mod safety_rules;
pub mod table_attributes;
pub mod zstd_frames;
