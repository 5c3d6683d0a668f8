//! Bounds of event streams, sharing and the feed.

use super::log::MAX_UPLOAD_AGE_S;

/// Bytes of the name of a stream: with the sort key far below what DynamoDB takes of a partition key.
pub const MAX_STREAM_NAME_BYTES: usize = 256;
/// Bytes of the kind of an event or an unfold: each event repeats it.
pub const MAX_EVENT_KIND_BYTES: usize = 64;
/// Bytes of an event's correlation, and of its causation.
pub const MAX_EVENT_ID_BYTES: usize = 128;
/// Bytes of the data of an event or an unfold before they are compressed.
pub const MAX_STREAM_PAYLOAD_BYTES: usize = 1024 * 1024;
/// Index of a stream's tip, above that of every calf: how many events a stream can have.
pub const TIP_INDEX: u64 = 2_147_483_647;
/// Bytes of events and unfolds in a tip above which its events calve, if a program says nothing.
pub const TIP_BYTES: usize = 32 * 1024;
/// Events in a tip above which they calve, if a program says nothing.
pub const TIP_EVENTS: usize = 512;
/// Bytes of a tip or a calf, as DynamoDB counts them: an append that alone makes more is refused. It
/// takes 400 KB.
pub const MAX_STREAM_ITEM_BYTES: usize = 350 * 1024;
/// Writes of one append before it gives up, each of the same events on the same tip.
pub const MAX_STREAM_WRITE_ATTEMPTS: u32 = 16;
/// How often a command is decided again because others appended, before it gives up.
pub const MAX_DECIDE_ATTEMPTS: u32 = 16;
/// Bytes of events that one state may be made of, if no unfold and no origin ends the way back.
pub const MAX_REBUILD_BYTES: usize = 64 * 1024 * 1024;

/// Bytes of what a spreadsheet is called.
pub const MAX_SPREADSHEET_NAME_BYTES: usize = 256;
/// Bytes of the issuer of a token.
pub const MAX_ISSUER_BYTES: usize = 256;
/// People with whom one spreadsheet is shared, its owners among them.
pub const MAX_MEMBERS: usize = 200;
/// Links of one spreadsheet that have not ended.
pub const MAX_LINKS: usize = 50;
/// Bytes of what a link is for.
pub const MAX_LINK_LABEL_BYTES: usize = 128;
/// Seconds for which a deleted spreadsheet can be restored.
pub const DELETED_KEPT_S: u64 = 30 * 24 * 60 * 60;
/// Events in the tip of a spreadsheet's stream in the catalog above which they calve.
pub const CATALOG_TIP_EVENTS: usize = 12;
/// Milliseconds for which a process goes on what the catalog said: how long somebody may go on with
/// whom a spreadsheet is not shared any more.
pub const LISTING_AGE_MS: u64 = 30_000;
/// Milliseconds for which a process refuses somebody by what the catalog said.
pub const LISTING_REFUSAL_AGE_MS: u64 = 1_000;
/// Listings that a process keeps.
pub const MAX_KNOWN_LISTINGS: usize = 1_024;
/// Refusals that a process keeps.
pub const MAX_KNOWN_REFUSALS: usize = 1_024;

/// Places in a partition of the feed: what a checkpoint's incarnation is multiplied by (design `6-catalog-feed.md` §3).
pub const FEED_PARTITION_ITEMS: u64 = 1_000_000;
/// Bytes after which a partition of the feed ends.
pub const FEED_PARTITION_BYTES: u64 = 1024 * 1024;
/// Largest checkpoint: the largest whole number that every program can hold.
pub const MAX_CHECKPOINT: u64 = (1 << 53) - 1;
/// Most streams that one item of the feed names.
pub const MAX_FEED_ITEM_SPANS: usize = 128;
/// Most events that one item of the feed names.
pub const MAX_FEED_ITEM_EVENTS: usize = 1_024;
/// Most bytes of the names of streams in one item of the feed.
pub const MAX_FEED_ITEM_NAME_BYTES: usize = 16 * 1024;
/// Most streams of which a process remembers how far they are indexed.
pub const MAX_KNOWN_MARKS: usize = 4_096;
/// How often an indexer tries to put an item, or to begin a partition, before its batch is delivered again.
pub const MAX_INDEX_ATTEMPTS: u32 = 16;
/// Feed partitions per incarnation of the tables: incarnation N starts at N times this number,
/// a checkpoint of before a restore is then one of before the feed.
pub const FEED_PARTITIONS_PER_INCARNATION: u64 = 1_000_000;
/// Most items in one reply of the feed.
pub const MAX_FEED_PAGE_ITEMS: u32 = 1_000;
/// Listings that a look for deleted spreadsheets reads at the same time.
pub const PURGE_READS_AT_ONCE: usize = 16;
/// Seconds for which an object of snapshots stays, whoever needs it (design `3-snapshots.md` §3).
pub const GARBAGE_AGE_S: u64 = 7 * 24 * 60 * 60;
/// Seconds after its job began from which a snapshot's objects may seem to be garbage.
pub const MAX_JOB_AGE_S: u64 = 24 * 60 * 60;
/// What an import or a snapshot has written is named long before it seems to be garbage.
const _: () = assert!(GARBAGE_AGE_S > 3 * (MAX_JOB_AGE_S + MAX_UPLOAD_AGE_S));
/// In an import, an entry names at most three layers of chunks of an index, then tiles, then texts. Each
/// is at most `MAX_UPLOAD_AGE_S` older than what names it.
const _: () = assert!(GARBAGE_AGE_S > 5 * MAX_UPLOAD_AGE_S);
/// Objects of snapshots that a look for garbage reads at the same time.
pub const GARBAGE_READS_AT_ONCE: usize = 16;
/// Objects of a purged spreadsheet that are deleted at the same time.
pub const PURGE_DELETES_AT_ONCE: usize = 16;
/// Entries of people's lists that are written at the same time.
pub const LIST_PUTS_AT_ONCE: usize = 16;
/// Most spreadsheets that one page of somebody's list looks at: about 8 KB, one read unit.
pub const MAX_LIST_PAGE: u32 = 50;
/// Most items in one reply of the feed that tells what the events say.
pub const MAX_FEED_EVENTS_ITEMS: u32 = 20;
/// How often a comparison of the feed with its streams looks again for what is on its way.
pub const FEED_SETTLES: u32 = 5;
/// After how long it does, milliseconds.
pub const FEED_SETTLE_MS: u64 = 2_000;
