//! In-memory ports: the same promises, no database, no object store and no queue service.

mod blobs;
mod clock;
mod index;
mod lists;
mod pending_snapshots;
mod pending_tags;
mod presigned;
mod queue;
mod streams;
mod tables;

pub use blobs::MemoryBlobs;
pub use clock::ManualClock;
pub use index::MemoryIndex;
pub use pending_snapshots::MemoryPendingSnapshots;
pub use pending_tags::MemoryPendingTags;
pub use queue::{MemoryQueue, QueueRules};
pub use streams::MemoryStreams;
pub use tables::MemoryTables;
