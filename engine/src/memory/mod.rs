//! In-memory ports: the same promises, no database and no object store.

mod blobs;
mod presigned;
mod tables;

pub use blobs::MemoryBlobs;
pub use tables::MemoryTables;
