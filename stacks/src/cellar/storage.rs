//! The stack's tables and bucket. The bucket and four tables contain customer data. The Feed table
//! is derived from this data.

use cellar_base::table_attributes;

use super::suppressions;
use crate::config::Config;
use crate::constructs::{
    AttributeType, Bucket, BucketCors, BucketPolicy, Handle, LifecycleRule, StreamView, Table,
};
use crate::expression::Expression;
use crate::stack::{Stack, SynthesisError};

/// The number of days after which S3 deletes an upload that was not confirmed.
const PENDING_UPLOAD_DAYS: u32 = 3;
const NONCURRENT_VERSION_DAYS: u32 = 30;
/// The number of days after which S3 deletes the parts of an unfinished multipart upload.
const MULTIPART_DAYS: u32 = 3;
pub(super) const CORS_MAX_AGE_S: u32 = 3600;
/// The origins of all function URLs of the stack's region, as the text of an `Fn::Sub`.
pub const FUNCTION_URL_ORIGINS: &str = "https://*.lambda-url.${AWS::Region}.on.aws";

pub(super) struct Storage {
    pub(super) entries: Handle<Table>,
    pub(super) segments: Handle<Table>,
    pub(super) pending_snapshots: Handle<Table>,
    pub(super) event_streams: Handle<Table>,
    pub(super) feed: Handle<Table>,
    pub(super) bucket: Handle<Bucket>,
}

/// Number of tables with customer data.
pub const TABLE_COUNT: usize = 4;

/// Returns the logical ids of the tables with customer data.
///
/// Each incarnation has its own ids, because CloudFormation cannot assign an existing id to a
/// different table. The EventStream table is last, because the first release of Cellar did not have
/// it.
#[must_use]
pub fn table_logical_ids(incarnation: u32) -> [String; TABLE_COUNT] {
    ["EntryTable", "SegmentTable", "PendingSnapshotsTable", "EventStreamTable"]
        .map(|table_name| logical_id_of(table_name, incarnation))
}

/// Returns the logical id of the Feed table.
///
/// A restore does not restore the Feed table, because the feed is derived from the EventStream
/// table. The new incarnation starts with an empty Feed table, which is then rebuilt.
#[must_use]
pub fn feed_table_logical_id(incarnation: u32) -> String {
    logical_id_of("FeedTable", incarnation)
}

fn logical_id_of(table_name: &str, incarnation: u32) -> String {
    if incarnation == 0 {
        return table_name.to_owned();
    }
    format!("{table_name}Incarnation{incarnation}")
}

pub(super) fn add_storage(stack: &mut Stack, config: &Config) -> Result<Storage, SynthesisError> {
    let logical_id = |table_name| logical_id_of(table_name, config.incarnation);
    // The relay reads this change stream. If the feed includes log appends, the indexer reads it
    // too.
    let entry_table = define_log_table(config)
        .stream(StreamView::NewImage)
        .max_write_units(config.limits.write_units_per_second);
    let entries = stack.add(&logical_id("EntryTable"), entry_table)?;
    let segments = stack.add(&logical_id("SegmentTable"), define_log_table(config))?;
    let pending_snapshots =
        stack.add(&logical_id("PendingSnapshotsTable"), define_log_table(config))?;
    // Change stream that the indexer reads.
    let event_stream_table = define_event_stream_table(config).stream(StreamView::NewImage);
    let event_streams = stack.add(&logical_id("EventStreamTable"), event_stream_table)?;
    let mut feed_table = define_feed_table(config);
    if config.webhook.is_some() {
        // Change stream that the webhook reads.
        feed_table = feed_table.stream(StreamView::NewImage);
    }
    let feed = stack.add(&logical_id("FeedTable"), feed_table)?;
    let bucket = stack.add("Bucket", define_bucket(config))?;
    stack.add("BucketPolicy", BucketPolicy::tls_only(&bucket))?;
    if config.encryption.key().is_none() {
        for table in [&entries, &segments, &pending_snapshots, &event_streams, &feed] {
            suppressions::suppress_table_rules(stack, table);
        }
    }
    suppressions::suppress_bucket_rules(stack, &bucket);
    Ok(Storage { entries, segments, pending_snapshots, event_streams, feed, bucket })
}

fn define_log_table(config: &Config) -> Table {
    let partition_key = (table_attributes::PARTITION_KEY, AttributeType::Binary);
    let sort_key = (table_attributes::SORT_KEY, AttributeType::Number);
    define_table(config, partition_key, sort_key)
}

/// The partition key is the name of the event stream. The sort key is the index of the item in the
/// stream.
fn define_event_stream_table(config: &Config) -> Table {
    let partition_key = (table_attributes::STREAM, AttributeType::String);
    let sort_key = (table_attributes::STREAM_INDEX, AttributeType::Number);
    define_table(config, partition_key, sort_key)
}

/// The keys are strings that sort in the same order as the values that they encode.
fn define_feed_table(config: &Config) -> Table {
    let partition_key = (table_attributes::FEED_PARTITION_KEY, AttributeType::String);
    let sort_key = (table_attributes::FEED_SORT_KEY, AttributeType::String);
    define_table(config, partition_key, sort_key)
}

fn define_table(
    config: &Config,
    (partition_key, partition_key_type): (&str, AttributeType),
    (sort_key, sort_key_type): (&str, AttributeType),
) -> Table {
    Table::new(partition_key)
        .sort_key(sort_key)
        .attribute(partition_key, partition_key_type)
        .attribute(sort_key, sort_key_type)
        .deletion_protection(config.deletion_protection)
        .encrypted_with(config.encryption.key())
}

fn define_bucket(config: &Config) -> Bucket {
    let bucket = Bucket::new()
        .encrypted_with(config.encryption.key())
        .lifecycle_rule(LifecycleRule::ExpireTagged {
            id: "expire-pending-uploads".to_owned(),
            key: table_attributes::STATE_TAG.to_owned(),
            value: table_attributes::STATE_PENDING.to_owned(),
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
    bucket.cors(presigned_url_cors(&config.cors_origins))
}

/// Returns the CORS settings for web pages that upload and download through presigned URLs: the
/// page that the API function serves, and pages of the configured origins.
///
/// They name the function URLs of the region, because the stack's own URL depends on the bucket.
/// This gives no access to other pages, which need a presigned URL.
fn presigned_url_cors(configured_origins: &[String]) -> BucketCors {
    let to_strings = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let mut origins = vec![Expression::substitution(FUNCTION_URL_ORIGINS)];
    origins.extend(configured_origins.iter().map(|origin| Expression::literal(origin.as_str())));
    BucketCors {
        origins,
        methods: to_strings(&["GET", "HEAD", "PUT"]),
        // The signature of a presigned upload covers these request headers.
        request_headers: to_strings(&[
            "content-encoding",
            "content-type",
            "if-none-match",
            "range",
            "x-amz-checksum-sha256",
            "x-amz-tagging",
        ]),
        exposed_headers: to_strings(&["content-length", "content-range", "etag"]),
        max_age_s: CORS_MAX_AGE_S,
    }
}
