//! Event streams: ordered events about one thing, such as a spreadsheet.
//!
//! Events are always appended to the newest item of a stream, which is called the tip. When the tip
//! becomes too large, an append moves its older events to a separate item, called an event batch,
//! in the same transaction. The tip also contains cached states, so that readers need not read the
//! event batches.

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
pub use rebuild::{Dated, Rebuild, RebuildFault, RebuildStep, RebuiltState, newest_first};
pub(crate) use tip::event_count;
pub use tip::{EventBatch, SplitPolicy, Tip};
pub use unfold::Unfold;
