//! Bounds of event streams, sharing and the feed.

use super::log::MAX_UPLOAD_AGE_S;

/// Maximum bytes of the name of an event stream. Name and sort key together stay far below
/// DynamoDB's limit for keys.
pub const MAX_STREAM_NAME_BYTES: usize = 256;
/// Maximum bytes of the kind of an event or unfold. Every event stores its kind.
pub const MAX_EVENT_KIND_BYTES: usize = 64;
/// Maximum bytes of an event's correlation id, and of its causation id.
pub const MAX_EVENT_ID_BYTES: usize = 128;
/// Maximum bytes of the data of an event or unfold before compression.
pub const MAX_STREAM_PAYLOAD_BYTES: usize = 1024 * 1024;
/// Sort key of a stream's tip. It is larger than that of every event batch, so it is also the
/// maximum number of events in a stream.
pub const TIP_INDEX: u64 = 2_147_483_647;
/// Default bytes of events and unfolds in a tip above which its events are split off into an event
/// batch.
pub const TIP_BYTES: usize = 32 * 1024;
/// Default number of events in a tip above which they are split off into an event batch.
pub const TIP_EVENTS: usize = 512;
/// Maximum bytes of a tip or event batch as DynamoDB counts them. An append that exceeds this limit
/// by itself is refused. DynamoDB's own limit is 400 KB.
pub const MAX_STREAM_ITEM_BYTES: usize = 350 * 1024;
/// Maximum number of conditional writes of one append to an event stream, each with the same events
/// on top of the current tip.
pub const MAX_STREAM_WRITE_ATTEMPTS: u32 = 16;
/// Maximum number of attempts to decide a command while other writers append to the same event
/// stream.
pub const MAX_DECIDE_ATTEMPTS: u32 = 16;
/// Maximum bytes of events from which the state of an event stream is rebuilt when no usable unfold
/// exists.
pub const MAX_REBUILD_BYTES: usize = 64 * 1024 * 1024;

/// Maximum bytes of a spreadsheet's name.
pub const MAX_SPREADSHEET_NAME_BYTES: usize = 256;
/// Maximum bytes of the issuer of a token.
pub const MAX_ISSUER_BYTES: usize = 256;
/// Maximum number of members of one spreadsheet, including its owners.
pub const MAX_MEMBERS: usize = 200;
/// Maximum number of share links of one spreadsheet that have not expired.
pub const MAX_LINKS: usize = 50;
/// Maximum bytes of a share link's label.
pub const MAX_LINK_LABEL_BYTES: usize = 128;
/// Seconds for which a deleted spreadsheet can be undeleted.
pub const DELETED_KEPT_S: u64 = 30 * 24 * 60 * 60;
/// Number of events in the tip of a spreadsheet's catalog stream above which they are split off
/// into an event batch.
pub const CATALOG_TIP_EVENTS: usize = 12;
/// Milliseconds for which a process caches who may access a spreadsheet. A person may keep access
/// for this time after it was revoked.
pub const LISTING_AGE_MS: u64 = 30_000;
/// Milliseconds for which a process caches that access to a spreadsheet was denied.
pub const LISTING_REFUSAL_AGE_MS: u64 = 1_000;
/// Maximum number of spreadsheets whose access list a process caches.
pub const MAX_CACHED_LISTINGS: usize = 1_024;
/// Maximum number of denied accesses that a process caches.
pub const MAX_CACHED_REFUSALS: usize = 1_024;

/// Maximum number of items of a feed partition. The checkpoint of an item is the number of its
/// partition times this constant, plus the number of the item in the partition.
pub const FEED_PARTITION_ITEMS: u64 = 1_000_000;
/// Bytes of items after which a feed partition ends.
pub const FEED_PARTITION_BYTES: u64 = 1024 * 1024;
/// Largest checkpoint: the largest integer that every JSON parser represents exactly.
pub const MAX_CHECKPOINT: u64 = (1 << 53) - 1;
/// Maximum number of event streams in one feed item.
pub const MAX_FEED_ITEM_SPANS: usize = 128;
/// Maximum number of events in one feed item.
pub const MAX_FEED_ITEM_EVENTS: usize = 1_024;
/// Maximum bytes of the stream names in one feed item.
pub const MAX_FEED_ITEM_NAME_BYTES: usize = 16 * 1024;
/// Maximum number of event streams for which the indexer caches how far they are indexed.
pub const MAX_CACHED_MARKS: usize = 4_096;
/// Maximum number of attempts to write a feed item or to start a feed partition. After that, the
/// indexer leaves its batch to the next delivery.
pub const MAX_INDEX_ATTEMPTS: u32 = 16;
/// Feed partitions per incarnation of the tables. Incarnation N starts at partition N times this
/// constant, so that checkpoints from before a restore are lower than all later ones.
pub const FEED_PARTITIONS_PER_INCARNATION: u64 = 1_000_000;
/// Maximum number of feed items in one reply.
pub const MAX_FEED_PAGE_ITEMS: u32 = 1_000;
/// Maximum number of access lists that are read concurrently in the search for deleted
/// spreadsheets.
pub const PURGE_READS_AT_ONCE: usize = 16;
/// Seconds for which every snapshot object is kept, referenced or not.
pub const GARBAGE_AGE_S: u64 = 7 * 24 * 60 * 60;
/// Seconds after the start of a snapshot job during which the objects of its snapshot are not
/// collected as garbage.
pub const MAX_JOB_AGE_S: u64 = 24 * 60 * 60;
/// The log names an import or a snapshot long before its objects count as garbage.
const _: () = assert!(GARBAGE_AGE_S > 3 * (MAX_JOB_AGE_S + MAX_UPLOAD_AGE_S));
/// The objects of an import form five layers: an entry names at most three layers of tile index
/// chunks, these name tiles, and tiles name texts. Each object is at most `MAX_UPLOAD_AGE_S` older
/// than the object that names it.
const _: () = assert!(GARBAGE_AGE_S > 5 * MAX_UPLOAD_AGE_S);
/// Maximum number of snapshot objects that are read concurrently in the search for garbage.
pub const GARBAGE_READS_AT_ONCE: usize = 16;
/// Maximum number of objects of a purged spreadsheet that are deleted concurrently.
pub const PURGE_DELETES_AT_ONCE: usize = 16;
/// Maximum number of entries of spreadsheet lists that are written concurrently.
pub const LIST_PUTS_AT_ONCE: usize = 16;
/// Maximum number of spreadsheets examined for one page of a spreadsheet list: about 8 KB, one read
/// unit.
pub const MAX_LIST_PAGE: u32 = 50;
/// Maximum number of feed items in one reply with payloads.
pub const MAX_FEED_EVENTS_ITEMS: u32 = 20;
/// Maximum number of times that a comparison of the feed with the event streams is repeated to wait
/// for events that are not indexed yet.
pub const FEED_SETTLES: u32 = 5;
/// Milliseconds between two comparisons of the feed with the event streams.
pub const FEED_SETTLE_MS: u64 = 2_000;
