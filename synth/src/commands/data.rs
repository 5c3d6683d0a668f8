//! Direct access to the tables, bucket and queue of a local stack or a stack in AWS.

use std::sync::Arc;

use cellar_engine::feed::{Auditor, FeedReader};
use cellar_engine::meter::Meter;
use cellar_engine::system::{SystemClock, SystemRandom};
use cellar_runtime::dynamodb::{
    self, DynamoFeed, DynamoPendingSnapshots, DynamoStreams, DynamoTables,
};
use cellar_runtime::indexer::IndexerPorts;
use cellar_runtime::s3::{self, S3Blobs};
use cellar_runtime::sqs::{self, SqsQueue};
use cellar_stacks::FeedScope;
use cellar_stacks::cellar::{
    OUTPUT_API_URL, OUTPUT_BUCKET, OUTPUT_ENTRY_TABLE, OUTPUT_EVENT_STREAM_TABLE,
    OUTPUT_FEED_TABLE, OUTPUT_PENDING_SNAPSHOTS_TABLE, OUTPUT_SEGMENT_TABLE, OUTPUT_SNAPSHOT_QUEUE,
};

use super::observed::{StackLocation, deployed_cellar_stack};
use crate::aws::{Aws, StackState};
use crate::cli::LocationArguments;
use crate::error::{MaintenanceError, SynthError};
use crate::local_cloud::{FeedTables, LocalFunctions, LocalServices, SnapshotServices};
use crate::project::{ConfigSelection, Project};

pub(super) struct StackData {
    /// The Entry table and the Segment table.
    pub(super) tables: Arc<DynamoTables>,
    pub(super) blobs: Arc<S3Blobs>,
    /// `None` if the running local stack is an earlier version, which has no snapshots.
    pub(super) snapshots: Option<SnapshotServices>,
    /// `None` if the local stack was started only for this command.
    pub(super) running_url: Option<String>,
    feed_scope: FeedScope,
    /// `None` if the stack was deployed by a version without a feed.
    feed: Option<FeedTables>,
    local: Option<LocalServices>,
}

impl StackData {
    /// If the local stack is selected and not running, starts it for this command. In that case,
    /// `functions` determines whether its functions run.
    pub(super) async fn open(
        config_selection: ConfigSelection<'_>,
        location: &LocationArguments,
        functions: LocalFunctions,
    ) -> Result<Self, SynthError> {
        match StackLocation::selected_by(config_selection, location)? {
            StackLocation::Local => {
                Self::open_local(&Project::find(config_selection)?, functions).await
            }
            StackLocation::Aws => Self::open_aws(&Project::find(config_selection)?, location).await,
        }
    }

    async fn open_local(project: &Project, functions: LocalFunctions) -> Result<Self, SynthError> {
        let local = LocalServices::open(project, functions).await?;
        let meter = Arc::new(Meter::default());
        Ok(Self {
            tables: local.tables(&meter),
            blobs: local.blobs(&meter),
            snapshots: local.snapshots(&meter),
            running_url: local.running_url.clone(),
            feed: local.feed(&meter),
            feed_scope: project.config.feed,
            local: Some(local),
        })
    }

    async fn open_aws(project: &Project, location: &LocationArguments) -> Result<Self, SynthError> {
        let aws = Aws::connect(&project.config, location.endpoint_url.as_deref()).await?;
        let stack = deployed_cellar_stack(project, &aws).await?;
        let meter = Arc::new(Meter::default());
        let dynamodb = dynamodb::client(&aws.config);
        let tables = DynamoTables::named(
            stack_output(&stack, OUTPUT_ENTRY_TABLE)?,
            stack_output(&stack, OUTPUT_SEGMENT_TABLE)?,
            dynamodb.clone(),
            Arc::clone(&meter),
        );
        let pending_snapshots = DynamoPendingSnapshots::named(
            stack_output(&stack, OUTPUT_PENDING_SNAPSHOTS_TABLE)?,
            dynamodb.clone(),
            Arc::clone(&meter),
        );
        let snapshot_queue_url = stack_output(&stack, OUTPUT_SNAPSHOT_QUEUE)?;
        let snapshot_queue = SqsQueue::new(sqs::client(&aws.config, &meter), snapshot_queue_url);
        let feed = feed_tables(&stack, &dynamodb, &meter, project.config.incarnation);
        let bucket = stack_output(&stack, OUTPUT_BUCKET)?.to_owned();
        let api_url = stack_output(&stack, OUTPUT_API_URL)?;
        Ok(Self {
            tables: Arc::new(tables),
            blobs: Arc::new(S3Blobs::new(bucket, s3::client(&aws.config), meter)),
            snapshots: Some(SnapshotServices {
                pending: Arc::new(pending_snapshots),
                jobs: Arc::new(snapshot_queue),
            }),
            running_url: Some(aws.reachable_url(api_url)),
            feed,
            feed_scope: project.config.feed,
            local: None,
        })
    }

    pub(super) fn auditor(&self) -> Result<Auditor, SynthError> {
        let FeedTables { streams, feed, incarnation } = self.feed()?;
        let clock = Arc::new(SystemClock);
        let random = Arc::new(SystemRandom);
        let ports = IndexerPorts {
            index: Arc::clone(feed) as _,
            lists: Arc::clone(feed) as _,
            streams: Arc::clone(streams) as _,
            clock: Arc::clone(&clock) as _,
            random: Arc::clone(&random) as _,
        };
        let indexer = ports.build(*incarnation);
        let feed_reader = FeedReader::new(Arc::clone(feed) as _, *incarnation);
        let auditor = Auditor::new(streams, feed_reader, indexer, clock, random);
        let indexed_logs = match self.feed_scope {
            FeedScope::Everything => Some(Arc::clone(&self.tables) as _),
            FeedScope::Catalog => None,
        };
        Ok(auditor.with_entries(Arc::clone(&self.tables) as _, indexed_logs))
    }

    pub(super) fn feed(&self) -> Result<&FeedTables, SynthError> {
        self.feed.as_ref().ok_or_else(|| MaintenanceError::NoFeedTable.into())
    }

    /// Stops the local stack if [`Self::open`] has started it.
    pub(super) async fn close(self) {
        if let Some(local) = self.local {
            local.close().await;
        }
    }
}

fn feed_tables(
    stack: &StackState,
    dynamodb: &aws_sdk_dynamodb::Client,
    meter: &Arc<Meter>,
    incarnation: u32,
) -> Option<FeedTables> {
    let stream_table = stack.outputs.get(OUTPUT_EVENT_STREAM_TABLE)?;
    let feed_table = stack.outputs.get(OUTPUT_FEED_TABLE)?;
    let streams = DynamoStreams::named(stream_table, dynamodb.clone(), Arc::clone(meter));
    let feed = DynamoFeed::named(feed_table, dynamodb.clone(), Arc::clone(meter));
    Some(FeedTables { streams: Arc::new(streams), feed: Arc::new(feed), incarnation })
}

fn stack_output<'a>(
    stack: &'a StackState,
    output_name: &'static str,
) -> Result<&'a str, SynthError> {
    let value = stack.outputs.get(output_name).map(String::as_str);
    value.ok_or(SynthError::NoOutput { output: output_name })
}
