//! Attribute names in the tables, and key prefixes in the bucket. Attribute names are single
//! letters, because DynamoDB bills their bytes.

/// Partition key of the Entry, Segment and PendingSnapshots tables: the log's UUID. In the Entry
/// table, the segment number follows the UUID.
pub const PARTITION_KEY: &str = "S";
/// Sort key of the Entry, Segment and PendingSnapshots tables: an entry number, a segment number or
/// a packed position.
pub const SORT_KEY: &str = "N";
/// Creation time in seconds since the Unix epoch.
pub const CREATED: &str = "C";

/// Entry table: type of the entry, one letter. The letters are `E` (edits), `I` (import), `S`
/// (snapshot) and `X` (End Segment, the last entry of a segment).
pub const TYPE: &str = "T";
/// Entry table: version of the body's encoding; omitted for version 1.
pub const VERSION: &str = "V";
/// Entry: body, postcard.
pub const BODY: &str = "B";
/// Entry table: S3 object key of the external body or the snapshot root.
pub const EXTERNAL: &str = "E";
/// Entry table: client key (8 bytes).
pub const CLIENT: &str = "K";
/// Entry table: name of the client and its client group, encoded with postcard; omitted for a
/// client without a group.
pub const CLIENT_NAME: &str = "G";
/// Entry table: id of the first mutation in the body. The ids of a body's mutations are
/// consecutive.
pub const MUTATION: &str = "M";
/// Entry: author.
pub const AUTHOR: &str = "U";
/// Entry table: header, encoded with postcard (`cellar_log::entry::Header`).
pub const HEADER: &str = "h";
/// Entry table: header in an older format without a summary of the state.
pub const OLD_HEADER: &str = "H";
/// Entry table: trim time of the segment, in seconds since the Unix epoch. Set on the first entry
/// of a trimmed segment.
pub const TRIMMED: &str = "P";

/// Segment table: number of the last entry with a finished snapshot.
pub const LAST_SNAPSHOT: &str = "L";
/// Segment table: object key of the offloaded entries.
pub const OFFLOADED: &str = "A";

/// Segment table: source of the fork, in the record of segment 0. In a fork list: id of the fork.
pub const LINEAGE: &str = "F";
/// Fork list: packed position of the fork.
pub const FORKED_AT: &str = "P";

/// PendingSnapshots table: time of the last write, in seconds since the Unix epoch.
pub const MODIFIED: &str = "M";
/// PendingSnapshots table: 1 if a worker has claimed the snapshot job, otherwise 0.
pub const ACTIVE: &str = "A";
/// PendingSnapshots table: version number, incremented by each write. Writes are conditional on the
/// version that was read.
pub const INCREMENT: &str = "I";
/// PendingSnapshots table: id of the rebuild. Only present if the snapshot job replaces an existing
/// snapshot. In this case, [`EXTERNAL`] contains the key of the existing root.
pub const REBUILD: &str = "R";
/// PendingSnapshots table: progress of the snapshot job, as bytes.
pub const PROGRESS: &str = "P";

/// Key prefix of external bodies.
pub const UPLOADS_PREFIX: &str = "uploads/";
/// Key prefix of snapshot objects.
pub const SHEETS_PREFIX: &str = "sheets/";
/// Pattern that matches the keys of all chunks and no other keys. A `*` matches any text.
pub const CHUNKS_PATTERN: &str = "sheets/*/chunks/*";
/// Key prefix of offloaded log segments.
pub const OFFLOADED_PREFIX: &str = "offloaded/";
/// Key prefix of the webhook's objects, which are preserved when the tables are restored.
pub const WEBHOOK_PREFIX: &str = "webhook/";
/// Key of the webhook secrets object.
pub const WEBHOOK_SECRETS_KEY: &str = "webhook/secrets.json";
/// Name of the tag that marks an upload as pending until an entry references it.
pub const STATE_TAG: &str = "state";
/// Value of [`STATE_TAG`] on pending uploads. The bucket's lifecycle rule deletes objects with this
/// value.
pub const STATE_PENDING: &str = "pending";

/// EventStream table: partition key, the name of the event stream.
pub const STREAM: &str = "p";
/// EventStream table: sort key. For the tip (newest item), [`TIP_INDEX`](crate::limits::TIP_INDEX).
/// For an event batch, the index of its first event. In an unfold (cached state), the attribute
/// contains the index of the first event that is not included in the unfold.
pub const STREAM_INDEX: &str = "i";
/// EventStream table, tip: total size of the stream's event batches, in bytes.
pub const BATCH_BYTES: &str = "b";
/// EventStream table, tip: id of the last write (16 bytes).
pub const ETAG: &str = "etag";
/// EventStream table: index of the item's last event, plus one.
pub const NEXT_INDEX: &str = "n";
/// EventStream table, tip: number of events appended by the last write.
pub const APPENDED: &str = "a";
/// EventStream table: kinds of the events, in the same order as [`EVENTS`]. In an unfold (cached
/// state): kind of the unfold.
pub const KINDS: &str = "c";
/// EventStream table: events, as a list of maps.
pub const EVENTS: &str = "e";
/// EventStream table, tip: unfolds (cached states), as a list of maps.
pub const UNFOLDS: &str = "u";
/// Event or unfold: creation time in milliseconds since the Unix epoch.
pub const TIME: &str = "t";
/// Event or unfold: data; omitted if empty.
pub const DATA: &str = "d";
/// Event or unfold: encoding of the data; omitted if 0.
pub const DATA_ENCODING: &str = "D";
/// Event or unfold: metadata; omitted if empty.
pub const META: &str = "m";
/// Event or unfold: encoding of the metadata; omitted if 0.
pub const META_ENCODING: &str = "M";
/// Event: correlation id.
pub const CORRELATION: &str = "x";
/// Event: causation id.
pub const CAUSATION: &str = "y";
/// Event: id of the append that wrote the event (16 bytes).
pub const WRITER: &str = "w";

/// Feed table: partition key, a string. Identifies a feed partition, the partition list, an event
/// stream, or a user's spreadsheet list.
pub const FEED_PARTITION_KEY: &str = "p";
/// Feed table: sort key, a string. Identifies an item in a partition, a partition, or a
/// spreadsheet.
pub const FEED_SORT_KEY: &str = "i";
/// Feed item: total size of the partition's items through this item, in bytes.
pub const PARTITION_BYTES: &str = "b";
/// Feed table: id of the feed generation (8 bytes), stored in a partition's record and in its end
/// marker.
pub const FEED: &str = "f";
/// Feed table: number of the first partition in the feed generation to which the record belongs.
pub const FIRST_PARTITION: &str = "o";
/// Spreadsheet list in the Feed table: name of the spreadsheet.
pub const LISTED_NAME: &str = "l";
/// Spreadsheet list in the Feed table: role of the user; omitted if access was revoked.
pub const LISTED_ROLE: &str = "r";
/// Spreadsheet list in the Feed table: status of the spreadsheet.
pub const LISTED_STATUS: &str = "s";
/// Spreadsheet list in the Feed table: time of archiving or deletion, in seconds since the Unix
/// epoch.
pub const LISTED_AT: &str = "a";
/// Spreadsheet list in the Feed table: creation time of the spreadsheet, in seconds since the Unix
/// epoch.
pub const LISTED_CREATED: &str = "C";
