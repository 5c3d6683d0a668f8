//! The stack that Cellar deploys.

mod alarms;
mod api;
mod dashboard;
mod events;
mod functions;
mod indexer;
mod key;
mod permissions;
mod snapshots;
mod storage;
mod suppressions;
mod webhook;

pub use alarms::SEE_RUNBOOK;
pub use api::REQUEST_HEADERS;
pub use storage::{TABLES, feed_table, tables};

use thiserror::Error;

use crate::config::{Architecture, Config, ConfigProblem};
use crate::constructs::FunctionCode;
use crate::stack::{Output, Parameter, Stack, SynthesisError, SynthesisErrors};
use crate::template::Template;

/// Parameter: the bucket that holds the bundle.
pub const ARTIFACT_BUCKET: &str = "ArtifactBucket";
/// Parameter: the key of the bundle, which holds its hash.
pub const ARTIFACT_KEY: &str = "ArtifactKey";

/// Output: the URL of the API, with a slash at its end.
pub const OUTPUT_API_URL: &str = "ApiUrl";
/// Output: the name of the Entry table.
pub const OUTPUT_ENTRY_TABLE: &str = "EntryTableName";
/// Output: the name of the Segment table.
pub const OUTPUT_SEGMENT_TABLE: &str = "SegmentTableName";
/// Output: the name of the PendingSnapshots table.
pub const OUTPUT_PENDING_SNAPSHOTS_TABLE: &str = "PendingSnapshotsTableName";
/// Output: the name of the EventStream table.
pub const OUTPUT_STREAM_TABLE: &str = "EventStreamTableName";
/// Output: the name of the Feed table.
pub const OUTPUT_INDEX_TABLE: &str = "FeedTableName";
/// Outputs: the names of the tables that hold the customers' data, in the order of [`tables`].
pub const OUTPUT_TABLES: [&str; TABLES] =
    [OUTPUT_ENTRY_TABLE, OUTPUT_SEGMENT_TABLE, OUTPUT_PENDING_SNAPSHOTS_TABLE, OUTPUT_STREAM_TABLE];
/// Output: the name of the bucket.
pub const OUTPUT_BUCKET: &str = "BucketName";
/// Output: the name of the function that serves the API.
pub const OUTPUT_API_FUNCTION: &str = "ApiFunctionName";

/// Output: the URL of the queue of snapshot jobs.
pub const OUTPUT_SNAPSHOT_QUEUE: &str = "SnapshotQueueUrl";

const DESCRIPTION: &str = "Cellar: a spreadsheet backend in your own account";

/// Why there is no template.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CellarStackError {
    /// A value of the configuration is out of bounds.
    #[error("{}", .problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Config {
        /// All that are.
        problems: Vec<ConfigProblem>,
    },
    /// The stack does not hold together: a fault of Cellar itself.
    #[error(transparent)]
    Synthesis(#[from] SynthesisErrors),
}

impl From<SynthesisError> for CellarStackError {
    fn from(error: SynthesisError) -> Self {
        Self::Synthesis(error.into())
    }
}

/// The template of Cellar's stack, for functions on that architecture.
///
/// # Errors
/// [`CellarStackError::Config`], if the configuration was changed after it was parsed and is out
/// of bounds now.
pub fn cellar_stack(
    config: &Config,
    architecture: Architecture,
) -> Result<Template, CellarStackError> {
    let problems = config.problems();
    if !problems.is_empty() {
        return Err(CellarStackError::Config { problems });
    }
    let mut stack = Stack::new(DESCRIPTION);
    stack.tag(&config.tags);
    let storage = storage::add(&mut stack, config)?;
    let code = artifact(&mut stack)?;
    let api = api::add(&mut stack, config, architecture, &storage, &code)?;
    let events = events::add(&mut stack, config, architecture, &storage, &code)?;
    let snapshots =
        snapshots::add(&mut stack, config, architecture, &storage, &events.snapshots, &code)?;
    let indexer = indexer::add(
        &mut stack,
        config,
        architecture,
        &storage,
        &events.change_stream_dead_letters,
        &code,
    )?;
    let webhook = webhook::add(
        &mut stack,
        config,
        architecture,
        &storage,
        &events.change_stream_dead_letters,
        &code,
    )?;
    let parts = alarms::Parts {
        api: &api.function,
        snapshot: &snapshots,
        indexer: &indexer,
        webhook: webhook.as_ref(),
        storage: &storage,
        events: &events,
    };
    alarms::add(&mut stack, config, &parts)?;
    if config.dashboard {
        dashboard::add(&mut stack, &parts)?;
    }
    for (name, description, value) in [
        (OUTPUT_API_URL, "URL of the HTTP API.", api.url.url()),
        (OUTPUT_ENTRY_TABLE, "Name of the Entry table.", storage.entries.name()),
        (OUTPUT_SEGMENT_TABLE, "Name of the Segment table.", storage.segments.name()),
        (
            OUTPUT_PENDING_SNAPSHOTS_TABLE,
            "Name of the PendingSnapshots table.",
            storage.pending_snapshots.name(),
        ),
        (OUTPUT_STREAM_TABLE, "Name of the EventStream table.", storage.streams.name()),
        (OUTPUT_INDEX_TABLE, "Name of the Feed table.", storage.index.name()),
        (OUTPUT_BUCKET, "Name of the bucket.", storage.bucket.name()),
        (
            OUTPUT_API_FUNCTION,
            "Name of the function that serves the HTTP API.",
            api.function.name(),
        ),
        (OUTPUT_SNAPSHOT_QUEUE, "URL of the snapshot job queue.", events.snapshots.url()),
    ] {
        stack.output(name, Output::new(description, value))?;
    }
    Ok(stack.synthesize()?)
}

/// The parameters that say where the bundle is; the caller uploads it first.
fn artifact(stack: &mut Stack) -> Result<FunctionCode, SynthesisError> {
    let bucket = Parameter::text("Bucket that holds the bundle of the functions.");
    let key = Parameter::text("Key of the bundle of the functions.");
    let bucket = stack.parameter(ARTIFACT_BUCKET, bucket)?;
    Ok(FunctionCode { bucket, key: stack.parameter(ARTIFACT_KEY, key)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_changed_out_of_bounds_is_refused() {
        let mut config = Config::default();
        config.api.memory_mb = 1;
        assert_eq!(
            cellar_stack(&config, Architecture::Arm64),
            Err(CellarStackError::Config { problems: vec![ConfigProblem::Memory { value: 1 }] })
        );
    }
}
