//! Retention: when and how old segments are offloaded (copied to S3) and trimmed (deleted from the
//! table). By default, all entries stay in the table.
//!
//! A trim always keeps two entries of a segment: its first entry, which is marked as trimmed, and
//! its End Segment (the last entry). Otherwise, a writer with stale data could put an entry into
//! the trimmed segment. That edit would be acknowledged but lost.

mod offloaded;
mod rules;
#[cfg(test)]
mod tests;
mod trim;

pub use offloaded::{OffloadedFault, decode_offloaded, encode_offloaded, offloaded_key};
pub use rules::{KeepReason, Plan, Policy, plan_retention};
pub use trim::{Fences, Trim, TrimAction, TrimEvent, TrimRefusal, Trimmed};
