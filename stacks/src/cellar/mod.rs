//! The stack that Cellar deploys.

mod alarms;
mod api;
mod dashboard;
mod events;
mod functions;
mod indexer;
mod key;
mod permissions;
mod place;
mod snapshots;
mod storage;
mod suppressions;
mod webhook;

pub use alarms::SEE_RUNBOOK;
pub use api::REQUEST_HEADERS;
pub use place::StackPlace;
pub use storage::{FUNCTION_URL_ORIGINS, TABLE_COUNT, feed_table_logical_id, table_logical_ids};

use thiserror::Error;

use crate::config::{Architecture, Config, ConfigProblem};
use crate::constructs::BundleLocation;
use crate::stack::{Stack, SynthesisError, SynthesisErrors};
use crate::template::{Output, Parameter, Template};
use api::Api;
use events::Queues;
use functions::FunctionContext;
use storage::Storage;

/// The name of the template parameter for the S3 bucket that contains the Lambda bundle.
pub const ARTIFACT_BUCKET: &str = "ArtifactBucket";
/// The name of the template parameter for the S3 key of the Lambda bundle. The S3 key contains the
/// bundle's hash.
pub const ARTIFACT_KEY: &str = "ArtifactKey";

/// The name of the stack output for the API URL. The URL ends with a slash.
pub const OUTPUT_API_URL: &str = "ApiUrl";
/// The name of the stack output for the physical name of the Entry table.
pub const OUTPUT_ENTRY_TABLE: &str = "EntryTableName";
/// The name of the stack output for the physical name of the Segment table.
pub const OUTPUT_SEGMENT_TABLE: &str = "SegmentTableName";
/// The name of the stack output for the physical name of the PendingSnapshots table.
pub const OUTPUT_PENDING_SNAPSHOTS_TABLE: &str = "PendingSnapshotsTableName";
/// The name of the stack output for the physical name of the EventStream table.
pub const OUTPUT_EVENT_STREAM_TABLE: &str = "EventStreamTableName";
/// The name of the stack output for the physical name of the Feed table.
pub const OUTPUT_FEED_TABLE: &str = "FeedTableName";
/// The stack outputs for the physical names of the tables with customer data, in the order of
/// [`table_logical_ids`].
pub const OUTPUT_TABLES: [&str; TABLE_COUNT] = [
    OUTPUT_ENTRY_TABLE,
    OUTPUT_SEGMENT_TABLE,
    OUTPUT_PENDING_SNAPSHOTS_TABLE,
    OUTPUT_EVENT_STREAM_TABLE,
];
/// The name of the stack output for the physical name of the bucket.
pub const OUTPUT_BUCKET: &str = "BucketName";
/// The name of the stack output for the physical name of the API function.
pub const OUTPUT_API_FUNCTION: &str = "ApiFunctionName";
/// The name of the stack output for the URL of the snapshot queue.
pub const OUTPUT_SNAPSHOT_QUEUE: &str = "SnapshotQueueUrl";

/// The reason why the template could not be created.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CellarStackError {
    #[error("{}", .problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Config {
        /// All out-of-bounds values.
        problems: Vec<ConfigProblem>,
    },
    /// The stack is invalid, which indicates a bug in Cellar.
    #[error(transparent)]
    Synthesis(#[from] SynthesisErrors),
}

impl From<SynthesisError> for CellarStackError {
    fn from(error: SynthesisError) -> Self {
        Self::Synthesis(error.into())
    }
}

/// Returns the CloudFormation template of the Cellar stack. All functions run on the CPU
/// architecture `architecture`.
///
/// # Errors
/// Returns [`CellarStackError::Config`] if a configuration value is out of bounds. This cannot
/// happen if the configuration was parsed and not modified afterwards.
pub fn cellar_stack(
    config: &Config,
    architecture: Architecture,
) -> Result<Template, CellarStackError> {
    let problems = config.problems();
    if !problems.is_empty() {
        return Err(CellarStackError::Config { problems });
    }
    let mut stack = Stack::new(&StackPlace::of(config).describe());
    stack.add_tags(&config.tags);
    let storage = storage::add_storage(&mut stack, config)?;
    let bundle = add_bundle_parameters(&mut stack)?;
    let context = FunctionContext { config, architecture, storage: &storage, bundle: &bundle };
    let api = api::add_api(&mut stack, context)?;
    let queues = events::add_queues(&mut stack, config)?;
    let dead_letters = &queues.change_stream_dead_letters;
    let relay = events::add_relay(&mut stack, context, &queues)?;
    let snapshot_function =
        snapshots::add_snapshot_function(&mut stack, context, &queues.snapshot_jobs)?;
    let indexer_function = indexer::add_indexer(&mut stack, context, dead_letters)?;
    let webhook_function = webhook::add_webhook(&mut stack, context, dead_letters)?;
    let resources = alarms::StackResources {
        api: &api.function,
        snapshot: &snapshot_function,
        indexer: &indexer_function,
        webhook: webhook_function.as_ref(),
        storage: &storage,
        relay: &relay,
        queues: &queues,
    };
    alarms::add_alarms(&mut stack, config, &resources)?;
    if config.dashboard {
        dashboard::add_dashboard(&mut stack, &resources)?;
    }
    add_outputs(&mut stack, &api, &storage, &queues)?;
    Ok(stack.synthesize()?)
}

fn add_outputs(
    stack: &mut Stack,
    api: &Api,
    storage: &Storage,
    queues: &Queues,
) -> Result<(), SynthesisError> {
    for (output_name, description, value) in [
        (OUTPUT_API_URL, "URL of the HTTP API.", api.url.url()),
        (OUTPUT_ENTRY_TABLE, "Name of the Entry table.", storage.entries.name()),
        (OUTPUT_SEGMENT_TABLE, "Name of the Segment table.", storage.segments.name()),
        (
            OUTPUT_PENDING_SNAPSHOTS_TABLE,
            "Name of the PendingSnapshots table.",
            storage.pending_snapshots.name(),
        ),
        (OUTPUT_EVENT_STREAM_TABLE, "Name of the EventStream table.", storage.event_streams.name()),
        (OUTPUT_FEED_TABLE, "Name of the Feed table.", storage.feed.name()),
        (OUTPUT_BUCKET, "Name of the bucket.", storage.bucket.name()),
        (
            OUTPUT_API_FUNCTION,
            "Name of the function that serves the HTTP API.",
            api.function.name(),
        ),
        (OUTPUT_SNAPSHOT_QUEUE, "URL of the snapshot job queue.", queues.snapshot_jobs.url()),
    ] {
        stack.add_output(output_name, Output::new(description, value))?;
    }
    Ok(())
}

/// The bundle must be uploaded before the stack is deployed.
fn add_bundle_parameters(stack: &mut Stack) -> Result<BundleLocation, SynthesisError> {
    let bucket_parameter = Parameter::text("S3 bucket of the Lambda bundle.");
    let key_parameter = Parameter::text("S3 key of the Lambda bundle.");
    Ok(BundleLocation {
        bucket: stack.add_parameter(ARTIFACT_BUCKET, bucket_parameter)?,
        object_key: stack.add_parameter(ARTIFACT_KEY, key_parameter)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_changed_out_of_bounds_is_rejected() {
        let mut config = Config::default();
        config.api.memory_mb = 1;
        assert_eq!(
            cellar_stack(&config, Architecture::Arm64),
            Err(CellarStackError::Config { problems: vec![ConfigProblem::Memory { value: 1 }] })
        );
    }
}
