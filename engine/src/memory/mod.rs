//! In-memory ports with the same guarantees as the real services, for tests and the local stack.

mod blobs;
mod clock;
mod feed_table;
mod lists;
mod pending_snapshots;
mod pending_tags;
mod presences;
mod presigned;
mod queue;
mod streams;
mod tables;

pub use blobs::MemoryBlobs;
pub use clock::ManualClock;
pub use feed_table::MemoryFeed;
pub use pending_snapshots::MemoryPendingSnapshots;
pub use pending_tags::MemoryPendingTags;
pub use queue::MemoryQueue;
pub use streams::MemoryStreams;
pub use tables::MemoryTables;
