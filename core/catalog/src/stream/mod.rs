//! Event streams: short logs of the events about a single subject, such as a spreadsheet.
//!
//! A single item, the tip, contains a stream's latest events. The tip also contains unfolds: cached
//! states, with which readers need not read the earlier events. Every event is first written to the
//! tip. If new events would make the tip too large, the write that appends them also moves the
//! earlier events from the tip to a separate item, an event batch, in the same transaction.

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
pub(crate) use tip::event_count;
pub use tip::{EventBatch, SplitPolicy, Tip};
pub use unfold::Unfold;
