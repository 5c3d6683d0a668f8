//! Ports: traits through which the engine accesses tables, objects, queues and clocks.

mod blob_key;
mod blob_versions;
mod blobs;
mod clock;
mod entries;
mod feed_table;
mod jobs;
mod lists;
mod pending_snapshots;
mod pending_tags;
mod pokes;
mod presences;
mod presigned;
mod retention;
mod segments;
mod streams;
mod webhook;

pub use blob_key::{BlobKey, BlobKeyError};
pub use blob_versions::{BlobVersions, ListedVersion, VersionMarker, VersionPage};
pub use blobs::{
    BlobHead, BlobInspection, BlobPage, Blobs, GetOutcome, KeepOutcome, ListedBlob, NewBlob,
    PutNewOutcome, STATE_PENDING, STATE_TAG, Sha256,
};
pub use clock::{Clock, Random};
pub use entries::{Entries, Page, PutOutcome};
pub use feed_table::{FeedTable, FeedWriteOutcome};
pub use jobs::{
    Jobs, QueueRules, Receipt, Received, check_message_body, check_receive_count, check_visibility,
};
pub use lists::{ListPage, Lists};
pub use pending_snapshots::{PendingSnapshots, WriteOutcome};
pub use pending_tags::PendingTags;
pub use pokes::{FollowError, NoPokes, Pokes, Subscription};
pub use presences::{PresenceOutcome, Presences};
pub use presigned::{PresignedRequest, UploadGrant, check_valid_s};
pub use retention::{Retention, ScanKey, SegmentPage};
pub use segments::{CreateOutcome, ForkPage, ForkRecords, Segments};
pub use streams::{AllStreams, StreamOutcome, StreamPage, StreamScanKey, Streams};
pub use webhook::{DeliveryRejected, WebhookProgresses, WebhookSender};

use std::fmt;

pub use cellar_base::consistency::ReadConsistency;
use cellar_base::record::RecordError;

/// Error of a port request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PortError {
    /// Whether a retry may succeed.
    pub temporary: bool,
    /// Whether nothing was written because the disk is full. Only the local stack has such errors.
    pub storage_full: bool,
    /// Cause of the error for operators. The API does not return it to clients.
    pub message: String,
}

impl PortError {
    /// Creates an error after which a retry may succeed, such as a timeout, a throttled request or
    /// a lost connection.
    #[must_use]
    pub fn temporary(message: impl Into<String>) -> Self {
        Self { temporary: true, storage_full: false, message: message.into() }
    }

    /// Creates an error after which a retry cannot succeed, such as a denied permission, a missing
    /// table or an unreadable record.
    #[must_use]
    pub fn permanent(message: impl Into<String>) -> Self {
        Self { temporary: false, storage_full: false, message: message.into() }
    }

    /// Creates an error of a full disk, to which nothing was written.
    #[must_use]
    pub fn storage_full(message: impl Into<String>) -> Self {
        Self { temporary: false, storage_full: true, message: message.into() }
    }

    /// Converts any error to a permanent error, which is not retried.
    #[must_use]
    pub fn from_permanent(error: impl fmt::Display) -> Self {
        Self::permanent(error.to_string())
    }
}

/// Unreadable records are permanent errors.
impl From<RecordError> for PortError {
    fn from(error: RecordError) -> Self {
        Self::permanent(error.to_string())
    }
}
