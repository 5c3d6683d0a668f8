//! Streams: short logs of events about one thing, kept as tip documents (design `6-catalog-feed.md` §1).
//!
//! The newest events of a stream are in one item, its tip, together with unfolds: states that were made
//! of the events, which spare a reader the earlier ones. Every event is written to the tip first; when a
//! tip grows too large, its events move to an item of their own, a calf, in the same transaction that
//! writes the next ones.

pub mod append;
mod decider;
mod etag;
mod event;
mod name;
mod payload;
mod rebuild;
#[cfg(test)]
pub(crate) mod tests;
mod tip;
mod unfold;

pub use append::{Append, Proposal, Update, Write};
pub use decider::{Decider, Encoded, UnreadableEvent};
pub use etag::Etag;
pub use event::{InvalidEvent, Kind, StreamEvent, WriterId};
pub use name::{InvalidStreamName, StreamName};
pub use payload::{Payload, PayloadError};
pub use rebuild::{Dated, Need, Rebuild, RebuildFault, Rebuilt, newest_first};
pub use tip::{Calf, CalvePolicy, Tip};
pub use unfold::Unfold;
