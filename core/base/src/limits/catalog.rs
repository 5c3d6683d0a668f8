//! Limits of event streams, sharing and the feed.

use super::log::MAX_UPLOAD_AGE_S;

/// Maximum length of an event stream's name, in bytes. Together with the sort key, the name stays
/// well below DynamoDB's key size limit.
pub const MAX_STREAM_NAME_BYTES: usize = 256;
/// Maximum length of the kind of an event or unfold (cached state), in bytes. Each event is stored
/// with its kind.
pub const MAX_EVENT_KIND_BYTES: usize = 64;
/// Maximum length of an event's correlation id or causation id, in bytes.
pub const MAX_EVENT_ID_BYTES: usize = 128;
/// Maximum uncompressed data size per event or unfold (cached state), in bytes.
pub const MAX_STREAM_PAYLOAD_BYTES: usize = 1024 * 1024;
/// Sort key of a stream's tip (newest item). It is greater than the sort key of every event batch,
/// and therefore also limits the number of events per stream.
pub const TIP_INDEX: u64 = 2_147_483_647;
/// Default maximum total size of the events and unfolds (cached states) in a tip (newest item of a
/// stream), in bytes. If exceeded, events are moved to an event batch.
pub const TIP_BYTES: usize = 32 * 1024;
/// Default maximum number of events in a tip (newest item of a stream). If exceeded, events are
/// moved to an event batch.
pub const TIP_EVENTS: usize = 512;
/// Maximum size of a tip or event batch, in bytes as counted by DynamoDB. If a tip would exceed
/// this limit, its older events are moved to an event batch. An append whose own events exceed the
/// limit fails. DynamoDB's own limit is 400 KB.
pub const MAX_STREAM_ITEM_BYTES: usize = 350 * 1024;
/// Maximum number of conditional writes per append to an event stream. Each attempt appends the
/// same events to the current tip.
pub const MAX_STREAM_WRITE_ATTEMPTS: u32 = 16;
/// Maximum number of attempts to handle a command while other writers append to the same event
/// stream.
pub const MAX_DECIDE_ATTEMPTS: u32 = 16;
/// Maximum total size of the events that are read to rebuild a stream's state if no usable unfold
/// (cached state) exists, in bytes.
pub const MAX_REBUILD_BYTES: usize = 64 * 1024 * 1024;

/// Maximum length of a spreadsheet's name, in bytes.
pub const MAX_SPREADSHEET_NAME_BYTES: usize = 256;
/// Maximum length of a token issuer, in bytes.
pub const MAX_ISSUER_BYTES: usize = 256;
/// Maximum number of members per spreadsheet, including its owners.
pub const MAX_MEMBERS: usize = 200;
/// Maximum number of unexpired share links per spreadsheet.
pub const MAX_LINKS: usize = 50;
/// Maximum length of a share link's label, in bytes.
pub const MAX_LINK_LABEL_BYTES: usize = 128;
/// Period during which a deleted spreadsheet can be undeleted, in seconds.
pub const DELETED_KEPT_S: u64 = 30 * 24 * 60 * 60;
/// Maximum number of events in the tip (newest item) of a spreadsheet's catalog stream. If
/// exceeded, events are moved to an event batch.
pub const CATALOG_TIP_EVENTS: usize = 12;
/// Lifetime of a cached access list, in milliseconds. Users may retain access for this long after
/// revocation.
pub const LISTING_AGE_MS: u64 = 30_000;
/// Lifetime of a cached access denial, in milliseconds.
pub const LISTING_REFUSAL_AGE_MS: u64 = 1_000;
/// Maximum number of spreadsheets whose access lists are cached by a process.
pub const MAX_CACHED_LISTINGS: usize = 1_024;
/// Maximum number of cached access denials per process.
pub const MAX_CACHED_REFUSALS: usize = 1_024;

/// Maximum number of items in a feed partition. An item's checkpoint is the partition number times
/// this constant, plus the item's number within the partition.
pub const FEED_PARTITION_ITEMS: u64 = 1_000_000;
/// Total size of a feed partition's items at which the partition is closed, in bytes.
pub const FEED_PARTITION_BYTES: u64 = 1024 * 1024;
/// Maximum checkpoint: the largest integer that every JSON parser represents exactly.
pub const MAX_CHECKPOINT: u64 = (1 << 53) - 1;
/// Maximum number of event streams in one feed item.
pub const MAX_FEED_ITEM_SPANS: usize = 128;
/// Maximum number of events in one feed item.
pub const MAX_FEED_ITEM_EVENTS: usize = 1_024;
/// Maximum total length of the stream names in one feed item, in bytes.
pub const MAX_FEED_ITEM_NAME_BYTES: usize = 16 * 1024;
/// Maximum number of event streams whose indexing high-water marks are cached by the indexer.
pub const MAX_CACHED_MARKS: usize = 4_096;
/// Maximum number of attempts to write a feed item or to start a feed partition. If exceeded, the
/// batch fails and is redelivered.
pub const MAX_INDEX_ATTEMPTS: u32 = 16;
/// Number of feed partitions per incarnation (restore) of the tables. Incarnation N starts at
/// partition N times this constant, so checkpoints keep increasing across restores.
pub const FEED_PARTITIONS_PER_INCARNATION: u64 = 1_000_000;
/// Maximum number of feed items per response.
pub const MAX_FEED_PAGE_ITEMS: u32 = 1_000;
/// Maximum number of concurrent reads of access lists while searching for deleted spreadsheets.
pub const PURGE_READS_AT_ONCE: usize = 16;
/// Minimum age of a snapshot object before it can be deleted, in seconds. Newer objects are
/// retained even if unreferenced.
pub const GARBAGE_AGE_S: u64 = 7 * 24 * 60 * 60;
/// Period after the start of a snapshot job during which its objects are not garbage-collected, in
/// seconds.
pub const MAX_JOB_AGE_S: u64 = 24 * 60 * 60;
/// An import or snapshot must be referenced by the log long before its objects can count as
/// garbage.
const _: () = assert!(GARBAGE_AGE_S > 3 * (MAX_JOB_AGE_S + MAX_UPLOAD_AGE_S));
/// An import's objects form five layers: an entry references up to three layers of tile index
/// chunks, which reference tiles, which reference texts. Each object is at most `MAX_UPLOAD_AGE_S`
/// older than the object that references it.
const _: () = assert!(GARBAGE_AGE_S > 5 * MAX_UPLOAD_AGE_S);
/// Maximum number of concurrent reads of snapshot objects during garbage collection.
pub const GARBAGE_READS_AT_ONCE: usize = 16;
/// Maximum number of concurrent object deletions while a spreadsheet is purged.
pub const PURGE_DELETES_AT_ONCE: usize = 16;
/// Maximum number of concurrent writes of spreadsheet list entries.
pub const LIST_PUTS_AT_ONCE: usize = 16;
/// Maximum number of spreadsheets per page of a spreadsheet list. Reading a full page of about 8 KB
/// consumes one read unit.
pub const MAX_LIST_PAGE: u32 = 50;
/// Maximum number of feed items per response that includes event payloads.
pub const MAX_FEED_EVENTS_ITEMS: u32 = 20;
/// Maximum number of retries of a comparison between the feed and the event streams while some
/// events are not indexed yet.
pub const FEED_SETTLES: u32 = 5;
/// Delay between retries of a comparison between the feed and the event streams, in milliseconds.
pub const FEED_SETTLE_MS: u64 = 2_000;
