//! Names of table attributes, and key prefixes of objects. Attribute names are single letters,
//! because DynamoDB bills for the bytes of the names.

/// Partition key of the Entry, Segment and PendingSnapshots tables: the UUID of the log, followed
/// by the segment number in the Entry table.
pub const PARTITION_KEY: &str = "S";
/// Sort key of the Entry, Segment and PendingSnapshots tables: an entry number, a segment number
/// and a packed position, respectively.
pub const SORT_KEY: &str = "N";
/// Creation time in seconds since the Unix epoch.
pub const CREATED: &str = "C";

/// Entry table: type of the entry, as one letter: `E` (edits), `I` (import), `S` (snapshot) or `X`
/// (end of segment).
pub const TYPE: &str = "T";
/// Entry table: version of the body's encoding. The attribute is omitted for version 1.
pub const VERSION: &str = "V";
/// Entry: body, postcard.
pub const BODY: &str = "B";
/// Entry table: S3 key of an entry body that is stored as an object, or of the snapshot root.
pub const EXTERNAL: &str = "E";
/// Entry table: client key (8 bytes).
pub const CLIENT: &str = "K";
/// Entry table: name of the client and its client group, encoded with postcard. The attribute is
/// omitted if the client has no client group.
pub const CLIENT_NAME: &str = "G";
/// Entry table: id of the first mutation in the body. The following mutations have consecutive ids.
pub const MUTATION: &str = "M";
/// Entry: author.
pub const AUTHOR: &str = "U";
/// Entry table: header, encoded with postcard (`cellar_log::entry::Header`).
pub const HEADER: &str = "h";
/// Entry table: header in an older format without a summary of the state.
pub const OLD_HEADER: &str = "H";
/// Entry table: time at which the segment's entries were deleted, in seconds since the Unix epoch.
/// The attribute is set on the first entry of the segment, which is kept.
pub const TRIMMED: &str = "P";

/// Segment table: number of the last entry with a finished snapshot.
pub const LAST_SNAPSHOT: &str = "L";
/// Segment table: object key of the offloaded entries.
pub const OFFLOADED: &str = "A";

/// Segment table: in the record of segment 0, the log from which the log was forked. In a fork
/// list, the id of the fork.
pub const LINEAGE: &str = "F";
/// Fork list: packed position of the fork.
pub const FORKED_AT: &str = "P";

/// Presence: selected sheet, rows and columns (20 bytes).
pub const SELECTION: &str = "R";
/// Presence: packed position whose rows and columns the selection states.
pub const SELECTED_AT: &str = "P";
/// Presence: time of the announcement, in milliseconds since the Unix epoch. It is 0 if the client has
/// left.
pub const SEEN: &str = "T";

/// PendingSnapshots table: time of the last write, in seconds since the Unix epoch.
pub const MODIFIED: &str = "M";
/// PendingSnapshots table: 1 if a worker has claimed the snapshot job, otherwise 0.
pub const ACTIVE: &str = "A";
/// PendingSnapshots table: version number. Each write increments it and requires that it has not
/// changed since it was read.
pub const INCREMENT: &str = "I";
/// PendingSnapshots table: id of the rebuild, if the snapshot job replaces an existing snapshot. In
/// this case, [`EXTERNAL`] contains the key of the existing root.
pub const REBUILD: &str = "R";
/// PendingSnapshots table: encoded progress of the snapshot job.
pub const PROGRESS: &str = "P";

/// Key prefix of external bodies.
pub const UPLOADS_PREFIX: &str = "uploads/";
/// Key prefix of snapshot objects.
pub const SHEETS_PREFIX: &str = "sheets/";
/// Pattern that matches the keys of all chunks and no other keys. `*` matches any string.
pub const CHUNKS_PATTERN: &str = "sheets/*/chunks/*";
/// Key prefix of offloaded log segments.
pub const OFFLOADED_PREFIX: &str = "offloaded/";
/// Key prefix of the webhook's objects, which are preserved when the tables are restored.
pub const WEBHOOK_PREFIX: &str = "webhook/";
/// Key of the webhook secrets object.
pub const WEBHOOK_SECRETS_KEY: &str = "webhook/secrets.json";
/// Name of the object tag that marks an upload as pending until a log entry references it.
pub const STATE_TAG: &str = "state";
/// Value of the object tag [`STATE_TAG`] for pending uploads. A lifecycle rule of the bucket
/// deletes objects with this value.
pub const STATE_PENDING: &str = "pending";

/// EventStream table: partition key. It is the name of the event stream.
pub const STREAM: &str = "p";
/// EventStream table: sort key. It is the index of the item's first event, or
/// [`TIP_INDEX`](crate::limits::TIP_INDEX) in the newest item. In a cached state, the attribute
/// contains the index of the first event that is not included.
pub const STREAM_INDEX: &str = "i";
/// EventStream table, newest item: total size of the stream's older items, in bytes.
pub const BATCH_BYTES: &str = "b";
/// EventStream table, newest item: id of the last write (16 bytes).
pub const ETAG: &str = "etag";
/// EventStream table: index after the item's last event.
pub const NEXT_INDEX: &str = "n";
/// EventStream table, newest item: number of events that the last write appended.
pub const APPENDED: &str = "a";
/// EventStream table: types of the events, in the same order as [`EVENTS`]. In a cached state: type
/// of the state.
pub const KINDS: &str = "c";
/// EventStream table: the events, as a list of maps.
pub const EVENTS: &str = "e";
/// EventStream table, newest item: cached states, as a list of maps.
pub const UNFOLDS: &str = "u";
/// Event or cached state: creation time in milliseconds since the Unix epoch.
pub const TIME: &str = "t";
/// Event or unfold: data; omitted if empty.
pub const DATA: &str = "d";
/// Event or cached state: encoding of the data. The attribute is omitted if it is 0.
pub const DATA_ENCODING: &str = "D";
/// Event or cached state: metadata. The attribute is omitted if it is empty.
pub const META: &str = "m";
/// Event or cached state: encoding of the metadata. The attribute is omitted if it is 0.
pub const META_ENCODING: &str = "M";
/// Event: correlation id.
pub const CORRELATION: &str = "x";
/// Event: causation id.
pub const CAUSATION: &str = "y";
/// Event: id of the append that wrote the event (16 bytes).
pub const WRITER: &str = "w";

/// Feed table: partition key, a string that identifies a feed partition, the list of partitions, an
/// event stream, or the spreadsheet list of a user.
pub const FEED_PARTITION_KEY: &str = "p";
/// Feed table: sort key, a string that identifies an item within its feed partition or list.
pub const FEED_SORT_KEY: &str = "i";
/// Feed item: total size of the items in the partition up to and including this one, in bytes.
pub const PARTITION_BYTES: &str = "b";
/// Feed table: id of the feed generation (8 bytes). It is stored in the record of a partition and
/// in the item that closes the partition.
pub const FEED: &str = "f";
/// Feed table: number of the first partition of the feed generation.
pub const FIRST_PARTITION: &str = "o";
/// Feed table, spreadsheet list: name of the spreadsheet.
pub const LISTED_NAME: &str = "l";
/// Feed table, spreadsheet list: role of the user. The attribute is omitted if access was revoked.
pub const LISTED_ROLE: &str = "r";
/// Feed table, spreadsheet list: status of the spreadsheet.
pub const LISTED_STATUS: &str = "s";
/// Feed table, spreadsheet list: time at which the spreadsheet was archived or deleted, in seconds
/// since the Unix epoch.
pub const LISTED_AT: &str = "a";
/// Feed table, spreadsheet list: creation time of the spreadsheet, in seconds since the Unix epoch.
pub const LISTED_CREATED: &str = "C";
/// Feed table, spreadsheet list: id of the source, if the spreadsheet is a fork.
pub const LISTED_SOURCE: &str = "F";
