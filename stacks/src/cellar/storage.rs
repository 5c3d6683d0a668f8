//! What holds the customers' data: four tables and a bucket; and a table that is made of theirs.

use cellar_base::schema;

use super::suppressions;
use crate::config::Config;
use crate::constructs::{
    AttributeType, Bucket, BucketCors, BucketPolicy, LifecycleRule, StreamView, Table,
};
use crate::stack::{Handle, Stack, SynthesisError};

/// Days after which an upload that was never completed, or a chunk of an import that was never
/// checked, disappears.
const PENDING_UPLOAD_DAYS: u32 = 3;
/// Days that a replaced or deleted object can still be brought back.
const NONCURRENT_VERSION_DAYS: u32 = 30;
/// Days after which the parts of an unfinished multipart upload disappear.
const MULTIPART_DAYS: u32 = 3;
/// Seconds that a browser may remember which origins are allowed.
pub(super) const CORS_MAX_AGE_S: u32 = 3600;

/// The data of a stack.
pub(super) struct Storage {
    /// The Entry table.
    pub(super) entries: Handle<Table>,
    /// The Segment table.
    pub(super) segments: Handle<Table>,
    /// The PendingSnapshots table.
    pub(super) pending_snapshots: Handle<Table>,
    /// The EventStream table.
    pub(super) streams: Handle<Table>,
    /// The Feed table.
    pub(super) index: Handle<Table>,
    /// The bucket for large entries and snapshots.
    pub(super) bucket: Handle<Bucket>,
}

/// How many tables hold the customers' data.
pub const TABLES: usize = 4;

/// The logical ids of the Entry, the Segment, the PendingSnapshots and the EventStream table of an incarnation. Tables
/// that were restored have ids of their own: under its id, a resource cannot become another. The Stream
/// table is the last: stacks that were deployed before there was one have the others.
#[must_use]
pub fn tables(incarnation: u32) -> [String; TABLES] {
    ["EntryTable", "SegmentTable", "PendingSnapshotsTable", "EventStreamTable"]
        .map(|table| of_incarnation(table, incarnation))
}

/// The logical id of the Feed table of an incarnation. It is made of the EventStream table: a restore to a moment does
/// not bring it back, but has a new one, which is empty until it is made anew.
#[must_use]
pub fn feed_table(incarnation: u32) -> String {
    of_incarnation("FeedTable", incarnation)
}

fn of_incarnation(table: &str, incarnation: u32) -> String {
    match incarnation {
        0 => table.to_owned(),
        restored => format!("{table}Incarnation{restored}"),
    }
}

/// Adds the tables, the bucket and its policy.
pub(super) fn add(stack: &mut Stack, config: &Config) -> Result<Storage, SynthesisError> {
    // The stream feeds the workers that fold the log into snapshots.
    let entries = log_table(config).stream(StreamView::NewImage);
    let id = |table| of_incarnation(table, config.incarnation);
    let entries = stack.add(&id("EntryTable"), entries)?;
    let segments = stack.add(&id("SegmentTable"), log_table(config))?;
    let pending_snapshots = stack.add(&id("PendingSnapshotsTable"), log_table(config))?;
    // The stream feeds the indexer.
    let streams = event_stream_table(config).stream(StreamView::NewImage);
    let streams = stack.add(&id("EventStreamTable"), streams)?;
    // The stream feeds the webhook, if there is one.
    let index = match config.webhook {
        Some(_) => index(config).stream(StreamView::NewImage),
        None => index(config),
    };
    let index = stack.add(&id("FeedTable"), index)?;
    let bucket = stack.add("Bucket", bucket(config))?;
    stack.add("BucketPolicy", BucketPolicy::tls_only(&bucket))?;
    if config.encryption.key().is_none() {
        for table in [&entries, &segments, &pending_snapshots, &streams, &index] {
            suppressions::for_table(stack, table);
        }
    }
    suppressions::for_bucket(stack, &bucket);
    Ok(Storage { entries, segments, pending_snapshots, streams, index, bucket })
}

/// The tables of logs have the same keys.
fn log_table(config: &Config) -> Table {
    let number = (schema::SORT_KEY, AttributeType::Number);
    table(config, (schema::PARTITION_KEY, AttributeType::Binary), number)
}

/// The EventStream table has its own: the name of a stream, and an index in it.
fn event_stream_table(config: &Config) -> Table {
    let number = (schema::STREAM_INDEX, AttributeType::Number);
    table(config, (schema::STREAM, AttributeType::String), number)
}

/// The Feed table has texts, which sort as what they name.
fn index(config: &Config) -> Table {
    let [partition, sort] =
        [schema::FEED_PARTITION_KEY, schema::FEED_SORT_KEY].map(|key| (key, AttributeType::String));
    table(config, partition, sort)
}

/// A table with these keys.
fn table(
    config: &Config,
    (partition, of): (&str, AttributeType),
    (sort, of_sort): (&str, AttributeType),
) -> Table {
    Table::new(partition)
        .sort_key(sort)
        .attribute(partition, of)
        .attribute(sort, of_sort)
        .deletion_protection(config.deletion_protection)
        .encrypted_with(config.encryption.key())
}

fn bucket(config: &Config) -> Bucket {
    let bucket = Bucket::new()
        .encrypted_with(config.encryption.key())
        .lifecycle_rule(LifecycleRule::ExpireTagged {
            id: "expire-pending-uploads".to_owned(),
            key: schema::STATE_TAG.to_owned(),
            value: schema::STATE_PENDING.to_owned(),
            after_days: PENDING_UPLOAD_DAYS,
        })
        .lifecycle_rule(LifecycleRule::ExpireNoncurrent {
            id: "expire-noncurrent-versions".to_owned(),
            after_days: NONCURRENT_VERSION_DAYS,
        })
        .lifecycle_rule(LifecycleRule::AbortMultipart {
            id: "abort-multipart-uploads".to_owned(),
            after_days: MULTIPART_DAYS,
        });
    if config.cors_origins.is_empty() {
        return bucket;
    }
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    bucket.cors(BucketCors {
        origins: config.cors_origins.clone(),
        methods: owned(&["GET", "HEAD", "PUT"]),
        // What a presigned upload signs.
        request_headers: owned(&[
            "content-encoding",
            "content-type",
            "if-none-match",
            "range",
            "x-amz-checksum-sha256",
            "x-amz-tagging",
        ]),
        exposed_headers: owned(&["content-length", "content-range", "etag"]),
        max_age_s: CORS_MAX_AGE_S,
    })
}
