//! Bounds of objects and messages.

/// Maximum bytes of an object key: S3's limit.
pub const MAX_BLOB_KEY_BYTES: usize = 1_024;
/// Maximum bytes of one object: S3's limit for a single PUT.
pub const MAX_BLOB_BYTES: u64 = 5 * 1024 * 1024 * 1024;
/// Maximum seconds for which a presigned URL is valid.
pub const MAX_PRESIGNED_S: u64 = 15 * 60;
/// Maximum number of objects on one page of a listing: S3's limit.
pub const MAX_LISTED_BLOBS: u16 = 1_000;
/// Maximum bytes of a queue message: a size that every queue service accepts, far more than a job
/// needs.
pub const MAX_MESSAGE_BYTES: usize = 256 * 1024;
/// Maximum number of messages that one request to a queue receives: SQS's limit.
pub const MAX_RECEIVED_MESSAGES: u8 = 10;
/// Maximum seconds for which a received message may be invisible: SQS's limit, 12 hours.
pub const MAX_VISIBILITY_S: u32 = 12 * 60 * 60;
/// Maximum bytes of the body of a snapshot job.
pub const MAX_SNAPSHOT_JOB_BYTES: usize = 1_024;
