//! Bounds of objects and messages.

/// Bytes of an object's key, as S3 has it.
pub const MAX_BLOB_KEY_BYTES: usize = 1_024;
/// Bytes of one object: what S3 takes in a single PUT.
pub const MAX_BLOB_BYTES: u64 = 5 * 1024 * 1024 * 1024;
/// Seconds for which a presigned URL is valid (design `2-log.md` §4).
pub const MAX_PRESIGNED_S: u64 = 15 * 60;
/// Objects that one page of a list has, as S3 has it.
pub const MAX_LISTED_BLOBS: u16 = 1_000;
/// Bytes of a message in a queue: what every queue service takes, and far above any job.
pub const MAX_MESSAGE_BYTES: usize = 256 * 1024;
/// Messages that one request to a queue receives (SQS).
pub const MAX_RECEIVED_MESSAGES: u8 = 10;
/// Seconds that a received message may be hidden from others (SQS: 12 hours).
pub const MAX_VISIBILITY_S: u32 = 12 * 60 * 60;
/// Bytes of a snapshot job's body.
pub const MAX_SNAPSHOT_JOB_BYTES: usize = 1_024;
