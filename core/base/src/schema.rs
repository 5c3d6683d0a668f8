//! Attribute names of the tables, and key prefixes of objects in the bucket. Names are single
//! letters because every byte of them is billed.

/// Partition key of Entry, Segment and PendingSnapshots: the log's UUID; on Entry followed by the
/// segment number.
pub const PARTITION_KEY: &str = "S";
/// Sort key of Entry, Segment and PendingSnapshots: the number of the entry or segment, or a packed
/// position.
pub const SORT_KEY: &str = "N";
/// Creation time, Unix seconds.
pub const CREATED: &str = "C";

/// Entry: type, one letter: `S` snapshot, `X` end segment, `E` edits, `I` import.
pub const TYPE: &str = "T";
/// Entry: version of the body's encoding; absent when 1.
pub const VERSION: &str = "V";
/// Entry: body, postcard.
pub const BODY: &str = "B";
/// Entry: key of an object in S3: the external body, or the root of a snapshot.
pub const EXTERNAL: &str = "E";
/// Entry: client key, 8 bytes.
pub const CLIENT: &str = "K";
/// Entry: name of the client and its client group, postcard; absent without a group.
pub const CLIENT_NAME: &str = "G";
/// Entry: id of the first mutation in the body; the ids are consecutive.
pub const MUTATION: &str = "M";
/// Entry: author.
pub const AUTHOR: &str = "U";
/// Entry: header, postcard (`cellar_log::entry::Header`).
pub const HEADER: &str = "h";
/// Entry: header of entries that were written before headers contained a summary of the state.
pub const OLD_HEADER: &str = "H";
/// Entry: trim time of a segment, Unix seconds; set on the first entry of the segment.
pub const TRIMMED: &str = "P";

/// Segment: number of the last entry with a finished snapshot.
pub const LAST_SNAPSHOT: &str = "L";
/// Segment: key of the object with the offloaded entries.
pub const OFFLOADED: &str = "A";

/// Segment: source of a fork, on its segment 0; in a fork list, the id of the fork.
pub const LINEAGE: &str = "F";
/// Fork list: position of the fork, packed.
pub const FORKED_AT: &str = "P";

/// Pending snapshot: time of the last write, Unix seconds.
pub const MODIFIED: &str = "M";
/// Pending snapshot: 1 while a worker has claimed it, otherwise 0.
pub const ACTIVE: &str = "A";
/// Pending snapshot: version number, incremented by each write; a write is conditional on the
/// version that it has read.
pub const INCREMENT: &str = "I";
/// Pending snapshot: id of the rebuild if the job replaces an existing snapshot; [`EXTERNAL`] is
/// then the key of the existing root.
pub const REBUILD: &str = "R";
/// Pending snapshot: progress of the snapshot job, bytes.
pub const PROGRESS: &str = "P";

/// Prefix of the keys of external bodies.
pub const UPLOADS_PREFIX: &str = "uploads/";
/// Prefix of the keys of snapshot objects.
pub const SHEETS_PREFIX: &str = "sheets/";
/// Pattern that matches the keys of all chunks and no other keys; `*` matches any text.
pub const CHUNKS_PATTERN: &str = "sheets/*/chunks/*";
/// Prefix of the keys of offloaded log segments.
pub const OFFLOADED_PREFIX: &str = "offloaded/";
/// Prefix of the keys of the webhook's objects. A restore of the tables keeps these objects.
pub const WEBHOOK_PREFIX: &str = "webhook/";
/// Key of the object with the webhook's secrets.
pub const WEBHOOK_SECRETS_KEY: &str = "webhook/secrets.json";
/// Name of the tag that marks an upload as pending until an entry names it.
pub const STATE_TAG: &str = "state";
/// Value of [`STATE_TAG`]; the bucket's lifecycle rule deletes objects with this value.
pub const STATE_PENDING: &str = "pending";

/// EventStream: partition key, the name of the event stream.
pub const STREAM: &str = "p";
/// EventStream: sort key: [`TIP_INDEX`](crate::limits::TIP_INDEX) for the tip, otherwise the index
/// of the first event of an event batch. In an unfold, the index of the first event that the unfold
/// does not include.
pub const STREAM_INDEX: &str = "i";
/// EventStream, tip: total bytes of the event stream's event batches.
pub const BATCH_BYTES: &str = "b";
/// EventStream, tip: id of the last write, 16 bytes.
pub const ETAG: &str = "etag";
/// EventStream: index after the last event of this item.
pub const NEXT_INDEX: &str = "n";
/// EventStream, tip: number of events appended by the last write.
pub const APPENDED: &str = "a";
/// EventStream: kinds of the events, parallel to [`EVENTS`]. In an unfold, the kind of the unfold.
pub const KINDS: &str = "c";
/// EventStream: events, a list of maps.
pub const EVENTS: &str = "e";
/// EventStream, tip: unfolds, a list of maps.
pub const UNFOLDS: &str = "u";
/// Event and unfold: creation time, Unix milliseconds.
pub const TIME: &str = "t";
/// Event and unfold: data; absent if empty.
pub const DATA: &str = "d";
/// Event and unfold: encoding of the data; absent when 0.
pub const DATA_ENCODING: &str = "D";
/// Event and unfold: metadata; absent if empty.
pub const META: &str = "m";
/// Event and unfold: encoding of the metadata; absent when 0.
pub const META_ENCODING: &str = "M";
/// Event: correlation id.
pub const CORRELATION: &str = "x";
/// Event: causation id.
pub const CAUSATION: &str = "y";
/// Event: id of the append that wrote it, 16 bytes.
pub const WRITER: &str = "w";

/// Feed: partition key, text: a feed partition, the list of partitions, an event stream, or a
/// person's spreadsheet list.
pub const FEED_PARTITION_KEY: &str = "p";
/// Feed: sort key, text: a place in a partition, a partition, or a spreadsheet.
pub const FEED_SORT_KEY: &str = "i";
/// Feed item: total bytes of the partition's items up to and including this item.
pub const PARTITION_BYTES: &str = "b";
/// Feed, a partition and its end: generation of the feed, 8 bytes.
pub const FEED: &str = "f";
/// Feed: first partition of the record's generation.
pub const FIRST_PARTITION: &str = "o";
/// Feed, spreadsheet list: name.
pub const LISTED_NAME: &str = "l";
/// Feed, spreadsheet list: role; absent if access was revoked.
pub const LISTED_ROLE: &str = "r";
/// Feed, spreadsheet list: status.
pub const LISTED_STATUS: &str = "s";
/// Feed, spreadsheet list: time of archiving or deletion, Unix seconds.
pub const LISTED_AT: &str = "a";
/// Feed, spreadsheet list: creation time, Unix seconds.
pub const LISTED_CREATED: &str = "C";
