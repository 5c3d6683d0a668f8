//! Limits of objects and messages.

/// Maximum length of an object key in bytes, as limited by S3.
pub const MAX_BLOB_KEY_BYTES: usize = 1_024;
/// Maximum size of an object in bytes, as limited by S3 for a single PUT request.
pub const MAX_BLOB_BYTES: u64 = 5 * 1024 * 1024 * 1024;
/// Maximum lifetime of a presigned URL, in seconds.
pub const MAX_PRESIGNED_S: u64 = 15 * 60;
/// Maximum number of objects per page of a listing, as limited by S3.
pub const MAX_LISTED_BLOBS: u16 = 1_000;
/// Maximum size of a queue message in bytes. All supported queue services accept messages of this
/// size.
pub const MAX_MESSAGE_BYTES: usize = 256 * 1024;
/// Maximum length of the reason in a dead letter, in characters.
pub const MAX_DEAD_LETTER_REASON_CHARS: usize = 1_000;
/// Maximum number of messages per receive request, as limited by SQS.
pub const MAX_RECEIVED_MESSAGES: u8 = 10;
/// Maximum visibility timeout of a message in seconds, as limited by SQS (12 hours).
pub const MAX_VISIBILITY_S: u32 = 12 * 60 * 60;
/// Maximum size of a snapshot job's message body, in bytes.
pub const MAX_SNAPSHOT_JOB_BYTES: usize = 1_024;
