//! Bounds of event streams, sharing and the feed.

use super::log::MAX_UPLOAD_AGE_S;

/// Bytes of the name of an event stream. With the sort key, far below DynamoDB's limit for a
/// partition key.
pub const MAX_STREAM_NAME_BYTES: usize = 256;
/// Bytes of the kind of an event or unfold: every event repeats it.
pub const MAX_EVENT_KIND_BYTES: usize = 64;
/// Bytes of an event's correlation id and causation id, each.
pub const MAX_EVENT_ID_BYTES: usize = 128;
/// Bytes of the data of an event or unfold before compression.
pub const MAX_STREAM_PAYLOAD_BYTES: usize = 1024 * 1024;
/// Sort key of a stream's tip, above that of every event batch; also the largest number of events in a
/// stream.
pub const TIP_INDEX: u64 = 2_147_483_647;
/// Default bytes of events and unfolds in a tip above which its events are split off.
pub const TIP_BYTES: usize = 32 * 1024;
/// Default number of events in a tip above which they are split off.
pub const TIP_EVENTS: usize = 512;
/// Bytes of a tip or event batch as DynamoDB counts them; a single append that exceeds them is refused.
/// DynamoDB's own limit is 400 KB.
pub const MAX_STREAM_ITEM_BYTES: usize = 350 * 1024;
/// Writes of one append before it gives up, each with the same events on the same tip.
pub const MAX_STREAM_WRITE_ATTEMPTS: u32 = 16;
/// Attempts to decide a command while others append, before it gives up.
pub const MAX_DECIDE_ATTEMPTS: u32 = 16;
/// Bytes of events from which one state may be rebuilt, if no unfold or origin ends the search.
pub const MAX_REBUILD_BYTES: usize = 64 * 1024 * 1024;

/// Bytes of a spreadsheet's name.
pub const MAX_SPREADSHEET_NAME_BYTES: usize = 256;
/// Bytes of the issuer of a token.
pub const MAX_ISSUER_BYTES: usize = 256;
/// Members of one spreadsheet, including its owners.
pub const MAX_MEMBERS: usize = 200;
/// Share links of one spreadsheet that have not expired.
pub const MAX_LINKS: usize = 50;
/// Bytes of a share link's label.
pub const MAX_LINK_LABEL_BYTES: usize = 128;
/// Seconds for which a deleted spreadsheet can be undeleted.
pub const DELETED_KEPT_S: u64 = 30 * 24 * 60 * 60;
/// Events in the tip of a spreadsheet's stream in the catalog above which they are split off.
pub const CATALOG_TIP_EVENTS: usize = 12;
/// Milliseconds for which a process caches a listing: how long a person keeps access after it was
/// revoked.
pub const LISTING_AGE_MS: u64 = 30_000;
/// Milliseconds for which a process caches a refusal.
pub const LISTING_REFUSAL_AGE_MS: u64 = 1_000;
/// Listings that a process caches.
pub const MAX_KNOWN_LISTINGS: usize = 1_024;
/// Refusals that a process caches.
pub const MAX_KNOWN_REFUSALS: usize = 1_024;

/// Items of a feed partition: a checkpoint is the partition times this number, plus the item's
/// place.
pub const FEED_PARTITION_ITEMS: u64 = 1_000_000;
/// Bytes after which a feed partition ends.
pub const FEED_PARTITION_BYTES: u64 = 1024 * 1024;
/// Largest checkpoint: the largest integer that every JSON parser represents exactly.
pub const MAX_CHECKPOINT: u64 = (1 << 53) - 1;
/// Event streams in one feed item.
pub const MAX_FEED_ITEM_SPANS: usize = 128;
/// Events in one feed item.
pub const MAX_FEED_ITEM_EVENTS: usize = 1_024;
/// Bytes of the stream names in one feed item.
pub const MAX_FEED_ITEM_NAME_BYTES: usize = 16 * 1024;
/// Event streams whose mark a process caches.
pub const MAX_KNOWN_MARKS: usize = 4_096;
/// Attempts to put an item or to begin a partition, before the indexer leaves its batch to the next
/// delivery.
pub const MAX_INDEX_ATTEMPTS: u32 = 16;
/// Feed partitions per incarnation of the tables. Incarnation N starts at N times this number, so
/// that a checkpoint from before a restore lies before the feed.
pub const FEED_PARTITIONS_PER_INCARNATION: u64 = 1_000_000;
/// Feed items in one reply.
pub const MAX_FEED_PAGE_ITEMS: u32 = 1_000;
/// Listings read concurrently in the search for deleted spreadsheets.
pub const PURGE_READS_AT_ONCE: usize = 16;
/// Seconds for which every snapshot object is kept, referenced or not.
pub const GARBAGE_AGE_S: u64 = 7 * 24 * 60 * 60;
/// Seconds after the start of a job during which the objects of its snapshot are not garbage.
pub const MAX_JOB_AGE_S: u64 = 24 * 60 * 60;
/// An import or a snapshot is named in the log long before its objects count as garbage.
const _: () = assert!(GARBAGE_AGE_S > 3 * (MAX_JOB_AGE_S + MAX_UPLOAD_AGE_S));
/// An entry of an import names at most three layers of tile index chunks, then tiles, then texts.
/// Each is at most `MAX_UPLOAD_AGE_S` older than the object that names it.
const _: () = assert!(GARBAGE_AGE_S > 5 * MAX_UPLOAD_AGE_S);
/// Snapshot objects read concurrently in the search for garbage.
pub const GARBAGE_READS_AT_ONCE: usize = 16;
/// Objects of a purged spreadsheet deleted concurrently.
pub const PURGE_DELETES_AT_ONCE: usize = 16;
/// Lines of spreadsheet lists written concurrently.
pub const LIST_PUTS_AT_ONCE: usize = 16;
/// Spreadsheets examined for one page of a spreadsheet list: about 8 KB, one read unit.
pub const MAX_LIST_PAGE: u32 = 50;
/// Feed items in one reply with payloads.
pub const MAX_FEED_EVENTS_ITEMS: u32 = 20;
/// Repetitions of a comparison of the feed with its event streams, to wait for events in transit.
pub const FEED_SETTLES: u32 = 5;
/// Milliseconds between these repetitions.
pub const FEED_SETTLE_MS: u64 = 2_000;
