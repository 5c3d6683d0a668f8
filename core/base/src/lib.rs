//! Base types that all crates of Cellar share: ids, positions, limits and table records.
//!
//! The crates under `core/` implement Cellar's rules without async code, clocks, randomness or I/O;
//! the caller passes in times and random numbers. Each protocol decision is a function `(state,
//! event) -> (state, action)` that the engine, the model checker and the simulator all call.

pub mod backoff;
pub mod base64_text;
pub mod bounded;
pub mod count;
pub mod hexadecimal;
pub mod identity;
pub mod limits;
pub mod position;
pub mod record;
pub mod schema;
pub mod zstd_frames;
