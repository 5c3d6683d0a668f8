//! Limits of event streams, sharing and the feed.

use super::log::MAX_UPLOAD_AGE_S;

/// Maximum length of an event stream's name, in bytes. The name is part of a DynamoDB key, whose
/// size is limited.
pub const MAX_STREAM_NAME_BYTES: usize = 256;
/// Maximum length of the name of an event type, in bytes. It is stored with each event.
pub const MAX_EVENT_KIND_BYTES: usize = 64;
/// Maximum length of an event's correlation id or causation id, in bytes.
pub const MAX_EVENT_ID_BYTES: usize = 128;
/// Maximum uncompressed size of the data of an event, or of the cached state of an event stream, in
/// bytes.
pub const MAX_STREAM_PAYLOAD_BYTES: usize = 1024 * 1024;
/// Sort key of the newest item of an event stream. It is greater than the index of any event, and
/// thus also the maximum number of events in a stream.
pub const TIP_INDEX: u64 = 2_147_483_647;
/// Default maximum total size of the events and cached states in the newest item of an event
/// stream, in bytes. If an append exceeds this limit, older events are moved to a separate item.
pub const TIP_BYTES: usize = 32 * 1024;
/// Default maximum number of events in the newest item of an event stream. If an append exceeds
/// this limit, older events are moved to a separate item.
pub const TIP_EVENTS: usize = 512;
/// Maximum size of an item of an event stream, in bytes as counted by DynamoDB. An append whose own
/// events exceed this limit fails. DynamoDB's own limit is 400 KB.
pub const MAX_STREAM_ITEM_BYTES: usize = 350 * 1024;
/// Maximum number of attempts to append to an event stream while other writers append to it.
pub const MAX_STREAM_WRITE_ATTEMPTS: u32 = 16;
/// Maximum number of attempts to handle a command while other writers append to the same event
/// stream. Each attempt reads the current state.
pub const MAX_DECIDE_ATTEMPTS: u32 = 16;
/// Maximum total size of the events that are read to compute the state of an event stream without a
/// usable cached state, in bytes.
pub const MAX_REBUILD_BYTES: usize = 64 * 1024 * 1024;

/// Maximum length of a spreadsheet's name, in bytes.
pub const MAX_SPREADSHEET_NAME_BYTES: usize = 256;
/// Maximum length of a token issuer, in bytes.
pub const MAX_ISSUER_BYTES: usize = 256;
/// Maximum number of members per spreadsheet. Owners are counted too.
pub const MAX_MEMBERS: usize = 200;
/// Maximum number of unexpired share links per spreadsheet.
pub const MAX_LINKS: usize = 50;
/// Maximum length of a share link's label, in bytes.
pub const MAX_LINK_LABEL_BYTES: usize = 128;
/// Period during which a deleted spreadsheet can be undeleted, in seconds.
pub const DELETED_KEPT_S: u64 = 30 * 24 * 60 * 60;
/// Maximum number of events in the newest item of a spreadsheet's event stream. If an append
/// exceeds this limit, older events are moved to a separate item.
pub const CATALOG_TIP_EVENTS: usize = 12;
/// Lifetime of a cached access list, in milliseconds. A user whose access was revoked may retain
/// access for this long.
pub const LISTING_AGE_MS: u64 = 30_000;
/// Lifetime of a cached access denial, in milliseconds.
pub const LISTING_REFUSAL_AGE_MS: u64 = 1_000;
/// Maximum number of spreadsheets whose access lists are cached by a process.
pub const MAX_CACHED_LISTINGS: usize = 1_024;
/// Maximum number of access denials that are cached by a process.
pub const MAX_CACHED_REFUSALS: usize = 1_024;

/// Maximum number of items in a partition of the feed. The checkpoint of an item is its partition
/// number times this constant, plus its index in the partition.
pub const FEED_PARTITION_ITEMS: u64 = 1_000_000;
/// Total item size in bytes at which a partition of the feed is closed.
pub const FEED_PARTITION_BYTES: u64 = 1024 * 1024;
/// Maximum checkpoint: the largest integer that every JSON parser represents exactly.
pub const MAX_CHECKPOINT: u64 = (1 << 53) - 1;
/// Maximum number of event streams in one feed item.
pub const MAX_FEED_ITEM_SPANS: usize = 128;
/// Maximum number of events in one feed item.
pub const MAX_FEED_ITEM_EVENTS: usize = 1_024;
/// Maximum total length of the stream names in one feed item, in bytes.
pub const MAX_FEED_ITEM_NAME_BYTES: usize = 16 * 1024;
/// Maximum number of event streams for which the indexer caches the index of the last event in the
/// feed.
pub const MAX_CACHED_MARKS: usize = 4_096;
/// Maximum number of attempts to write a feed item or to start a partition of the feed. After the
/// last attempt, the batch of stream records fails and is redelivered.
pub const MAX_INDEX_ATTEMPTS: u32 = 16;
/// Number of feed partitions that are reserved for each incarnation of the tables. A restore starts
/// incarnation N at partition N times this constant, so checkpoints keep increasing.
pub const FEED_PARTITIONS_PER_INCARNATION: u64 = 1_000_000;
/// Maximum number of feed items per response.
pub const MAX_FEED_PAGE_ITEMS: u32 = 1_000;
/// Maximum number of access lists that are read concurrently to find deleted spreadsheets.
pub const PURGE_READS_AT_ONCE: usize = 16;
/// Minimum age at which an unreferenced snapshot object can be deleted, in seconds.
pub const GARBAGE_AGE_S: u64 = 7 * 24 * 60 * 60;
/// Minimum time between the start of a snapshot job and the garbage collection of its objects, in
/// seconds.
pub const MAX_JOB_AGE_S: u64 = 24 * 60 * 60;
/// The log must reference every object of an import or snapshot long before the object is old
/// enough to be deleted as garbage.
const _: () = assert!(GARBAGE_AGE_S > 3 * (MAX_JOB_AGE_S + MAX_UPLOAD_AGE_S));
/// The objects of an import reference each other in a chain of at most five objects: three chunks
/// of the tile index, a tile and a long text. Each object is at most `MAX_UPLOAD_AGE_S` older than
/// the object that references it.
const _: () = assert!(GARBAGE_AGE_S > 5 * MAX_UPLOAD_AGE_S);
/// Maximum number of concurrent reads of snapshot objects during garbage collection.
pub const GARBAGE_READS_AT_ONCE: usize = 16;
/// Maximum number of objects that are deleted concurrently while a spreadsheet is purged.
pub const PURGE_DELETES_AT_ONCE: usize = 16;
/// Maximum number of concurrent writes to spreadsheet lists.
pub const LIST_PUTS_AT_ONCE: usize = 16;
/// Maximum number of spreadsheets per page of a user's spreadsheet list. A full page takes about 8
/// KB, so reading it consumes one read unit.
pub const MAX_LIST_PAGE: u32 = 50;
/// Maximum number of feed items in a response that includes event payloads.
pub const MAX_FEED_EVENTS_ITEMS: u32 = 20;
/// Maximum number of retries of the comparison between the feed and the event streams. Each retry
/// checks whether the missing events have been added to the feed in the meantime.
pub const FEED_SETTLES: u32 = 5;
/// Delay between two comparisons of the feed and the event streams, in milliseconds.
pub const FEED_SETTLE_MS: u64 = 2_000;
