//! What each reader promises of bytes that nobody has checked: it
//! reads them or refuses them, without a panic, without an end that never comes, and without more
//! memory than it says.
//!
//! Each [`Reader`] is called by a test with the corpus in `tests/fuzz-corpus`, and by a fuzzer of its
//! name in `tests/fuzz`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a promise that is not kept is a panic"
)]

mod csv;
mod entries;
mod feed;
mod merge;
mod parts;
mod pieces;
mod request;
mod snapshots;
mod streams;
#[cfg(test)]
mod tests;
mod token;
mod workbook;

use std::sync::{Mutex, PoisonError};

use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;
/// Memory is counted for the whole process.
static ONE: Mutex<()> = Mutex::new(());

/// A reader of bytes that nobody has checked.
#[derive(Debug, Clone, Copy)]
pub struct Reader {
    /// The name of its corpus and of its fuzzer.
    pub name: &'static str,
    /// Whether bytes are read, not refused; panics if a promise is not kept.
    pub read: fn(&[u8]) -> bool,
    /// Bytes of memory that it takes at most, whatever it is given.
    pub memory_bytes: usize,
}

const MB: usize = 1 << 20;

/// Tiles of a snapshot: `MAX_TILE_CELLS`, and the same again to compare with.
pub const CHUNK: Reader = Reader { name: "chunk", read: snapshots::chunk, memory_bytes: 128 * MB };
/// Parts of a level's index, and the other chunks that roots name.
pub const INDEX: Reader = Reader { name: "index", read: snapshots::index, memory_bytes: 128 * MB };
/// Roots.
pub const ROOT: Reader = Reader { name: "root", read: snapshots::root, memory_bytes: 128 * MB };
/// Objects as they are stored, compressed.
pub const STORED: Reader =
    Reader { name: "stored", read: snapshots::stored, memory_bytes: 32 * MB };
/// Bodies of entries.
pub const ENTRY: Reader = Reader { name: "entry", read: entries::body, memory_bytes: 128 * MB };
/// Bodies of entries in objects.
pub const EXTERNAL: Reader =
    Reader { name: "external", read: entries::external_body, memory_bytes: 256 * MB };
/// Csv files.
pub const CSV: Reader = Reader { name: "csv", read: csv::read, memory_bytes: 64 * MB };
/// Workbooks: xlsx, xlsb and ods.
pub const WORKBOOK: Reader =
    Reader { name: "workbook", read: workbook::read, memory_bytes: 256 * MB };
/// Tokens: at most `MAX_TOKEN_BYTES`, and what is made here to sign and compare them.
pub const TOKEN: Reader = Reader { name: "token", read: token::read, memory_bytes: MB };
/// Requests to the API: `MAX_PUSH_BYTES`, what becomes of them in the log, and an answer.
pub const REQUEST: Reader = Reader { name: "request", read: request::read, memory_bytes: 64 * MB };
/// Merges of levels, and where they are taken up again.
pub const MERGE: Reader = Reader { name: "merge", read: merge::read, memory_bytes: 128 * MB };

/// Tips of streams of the catalog: `MAX_REBUILD_BYTES` of events, and what they come to.
pub const STREAM: Reader = Reader { name: "stream", read: streams::tip, memory_bytes: 256 * MB };
/// Items of the feed: `MAX_STREAM_PAYLOAD_BYTES` of spans, and each of their events in a set here.
pub const FEED: Reader = Reader { name: "feed", read: feed::item, memory_bytes: 256 * MB };

/// All of them.
pub const READERS: [Reader; 13] = [
    CHUNK, INDEX, ROOT, STORED, ENTRY, EXTERNAL, CSV, WORKBOOK, TOKEN, REQUEST, MERGE, STREAM, FEED,
];

impl Reader {
    /// Whether bytes are read, not refused; panics if a promise is not kept.
    pub fn check(&self, bytes: &[u8]) -> bool {
        let _one_at_a_time = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        MEMORY.reset_peak_usage();
        let before = MEMORY.current_usage();
        let is_read = (self.read)(bytes);
        let taken = MEMORY.peak_usage().saturating_sub(before);
        let (name, allowed) = (self.name, self.memory_bytes);
        assert!(taken <= allowed, "{name}: {taken} bytes of memory, {allowed} are allowed");
        is_read
    }
}
