//! Attribute names of the tables, which are single letters because every byte of them is billed
//! (design `2-log.md` §1), and the names that objects in the bucket carry.

/// Partition key of every table but Stream: the log's UUID, on Entry followed by the log-segment number.
pub const PARTITION_KEY: &str = "S";
/// Sort key of every table but Stream: the number of the entry, of the log segment, or a packed position.
pub const SORT_KEY: &str = "N";
/// When the record was created, Unix seconds.
pub const CREATED: &str = "C";

/// Entry: its type, one letter: `S` snapshot, `X` end segment, `E` edits, `I` import.
pub const TYPE: &str = "T";
/// Entry: version of the body's encoding for its type; absent when 1.
pub const VERSION: &str = "V";
/// Entry: the body, postcard.
pub const BODY: &str = "B";
/// Entry: key of an object in S3: the external body, or a snapshot's root.
pub const EXTERNAL: &str = "E";
/// Entry: 8 bytes that identify the client: the idempotency evidence.
pub const CLIENT: &str = "K";
/// Entry: what the client and its sync group are called, postcard; absent without a group.
pub const CLIENT_NAME: &str = "G";
/// Entry: id of the first mutation in the body; the ids are consecutive.
pub const MUTATION: &str = "M";
/// Entry: who made it.
pub const AUTHOR: &str = "U";
/// Entry: what is carried on from the entry before, postcard
/// (see [`Header`](cellar_log::entry::Header)).
pub const HEADER: &str = "h";
/// Entry: the same, of entries from before the summary of the state.
pub const OLD_HEADER: &str = "H";
/// Entry: on a segment's first entry, when the segment was purged, Unix seconds.
pub const TRIMMED: &str = "P";

/// Segment: number of the last entry with a completed snapshot.
pub const LAST_SNAPSHOT: &str = "L";
/// Segment: key of the object with its offloaded entries.
pub const OFFLOADED: &str = "A";

/// Segment: where a fork comes from, on its segment 0; in the list of a log's forks the fork's id.
pub const LINEAGE: &str = "F";
/// List of forks: the position that was forked, packed.
pub const FORKED_AT: &str = "P";

/// Pending snapshot: when it was last written, Unix seconds.
pub const MODIFIED: &str = "M";
/// Pending snapshot: 1 while a worker is on it, otherwise 0.
pub const ACTIVE: &str = "A";
/// Pending snapshot: a number that rises with each write; who writes names the one he has seen.
pub const INCREMENT: &str = "I";
/// Pending snapshot: which rebuild it belongs to, if it makes anew what there is; its root of before
/// is in [`EXTERNAL`].
pub const REBUILD: &str = "R";
/// Pending snapshot: the checkpoint, bytes.
pub const CHECKPOINT: &str = "P";

/// Prefix of the keys of external bodies in the bucket (design `2-log.md` §4).
pub const UPLOADS_PREFIX: &str = "uploads/";
/// Prefix of the keys of snapshots' objects in the bucket (design `3-snapshots.md` §3).
pub const SHEETS_PREFIX: &str = "sheets/";
/// The keys of chunks among them, and of nothing else there; `*` stands for anything.
pub const CHUNKS_PATTERN: &str = "sheets/*/chunks/*";
/// Prefix of the keys of offloaded log segments in the bucket.
pub const OFFLOADED_PREFIX: &str = "offloaded/";
/// Prefix of what the webhook needs in the bucket: its secrets, which stay when tables are restored.
pub const WEBHOOK_PREFIX: &str = "webhook/";
/// Key of the object with the webhook's secrets.
pub const WEBHOOK_SECRETS_KEY: &str = "webhook/secrets.json";
/// Key of the tag that an upload carries until an entry names it.
pub const STATE_TAG: &str = "state";
/// Value of [`STATE_TAG`] until then: the bucket's lifecycle deletes what still has it.
pub const STATE_PENDING: &str = "pending";

/// Stream: partition key, the stream's name.
pub const STREAM: &str = "p";
/// Stream: sort key: [`TIP_INDEX`](crate::limits::TIP_INDEX) for the tip, otherwise the index of a
/// calf's first event. In an unfold, the index of the first event that is not in it.
pub const STREAM_INDEX: &str = "i";
/// Stream, tip: bytes of the items that calved off it.
pub const CALVED_BYTES: &str = "b";
/// Stream, tip: which write made it what it is, 16 bytes.
pub const ETAG: &str = "etag";
/// Stream: index of the event behind the last one of the item.
pub const NEXT_INDEX: &str = "n";
/// Stream, tip: how many events the last write appended.
pub const APPENDED: &str = "a";
/// Stream: the kind of each event, in step with [`EVENTS`]. In an unfold, its own kind.
pub const KINDS: &str = "c";
/// Stream: the events, a list of maps.
pub const EVENTS: &str = "e";
/// Stream, tip: the unfolds, a list of maps.
pub const UNFOLDS: &str = "u";
/// Event and unfold: when it was made, Unix milliseconds.
pub const TIME: &str = "t";
/// Event and unfold: its data; absent if empty.
pub const DATA: &str = "d";
/// Event and unfold: the encoding of its data; absent when 0.
pub const DATA_ENCODING: &str = "D";
/// Event and unfold: what else there is to say of it; absent if empty.
pub const META: &str = "m";
/// Event and unfold: the encoding of that; absent when 0.
pub const META_ENCODING: &str = "M";
/// Event: id of the conversation that it belongs to.
pub const CORRELATION: &str = "x";
/// Event: id of what it came of.
pub const CAUSATION: &str = "y";
/// Event: which append wrote it, 16 bytes.
pub const WRITER: &str = "w";

/// Index: partition key, text: a partition of the feed, the list of its partitions, a stream, or somebody's list of
/// spreadsheets (design `6-catalog-feed.md` §2-3).
pub const INDEX_PARTITION: &str = "p";
/// Index: sort key, text: a place in a partition, a partition, or a spreadsheet.
pub const INDEX_SORT: &str = "i";
/// Index, feed item: bytes of the partition's items up to this one.
pub const PARTITION_BYTES: &str = "b";
/// Index, a partition and its end: id of the feed that goes on there, 8 bytes.
pub const FEED: &str = "f";
/// Index: first partition of the feed that the record belongs to.
pub const FIRST_PARTITION: &str = "o";
/// Index, list: what the spreadsheet is called.
pub const LISTED_NAME: &str = "l";
/// Index, list: what somebody may do with it; absent if it is shared with them no more.
pub const LISTED_ROLE: &str = "r";
/// Index, list: whether it is active, archived or deleted.
pub const LISTED_STATUS: &str = "s";
/// Index, list: since when it is archived or deleted, Unix seconds.
pub const LISTED_AT: &str = "a";
/// Index, list: when it was listed, Unix seconds.
pub const LISTED_CREATED: &str = "C";
