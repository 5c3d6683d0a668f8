//! The data of a stack, for commands that work on it directly: on this machine, or in AWS.

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

use super::watched::{Place, own_deployed_stack};
use crate::aws::{Aws, StackState};
use crate::cli::WhereArguments;
use crate::error::SynthError;
use crate::local_cloud::{Reached, Run};
use crate::project::{Named, Project};

/// The tables, the bucket and the queue of a stack.
pub(super) struct Data {
    /// Its Entry table and its Segment table.
    pub(super) tables: Arc<DynamoTables>,
    /// Its bucket.
    pub(super) blobs: Arc<S3Blobs>,
    /// Its table of pending snapshots and its queue of snapshot jobs; none in a local cloud of a version
    /// that had none.
    pub(super) snapshots: Option<(Arc<DynamoPendingSnapshots>, Arc<SqsQueue>)>,
    /// The URL of the stack whose functions do what is asked for; none if nobody does when this ends.
    pub(super) running: Option<String>,
    /// What is to be in the feed.
    feed: FeedScope,
    cloud: Option<Reached>,
    /// The streams and their index, and the incarnation of the tables; none in a stack of a version that had none.
    streams: Option<(Arc<DynamoStreams>, Arc<DynamoFeed>, u32)>,
}

impl Data {
    /// Finds the data. A local cloud that does not run is started for it, as `run` says.
    pub(super) async fn reach(
        config: Named<'_>,
        place: &WhereArguments,
        run: Run,
    ) -> Result<Self, SynthError> {
        match Place::of(config, place)? {
            Place::Local => Self::on_this_machine(&Project::find(config)?, run).await,
            Place::Aws => Self::in_aws(&Project::find(config)?, place).await,
        }
    }

    async fn on_this_machine(project: &Project, run: Run) -> Result<Self, SynthError> {
        let cloud = Reached::reach(project, run).await?;
        let meter = Arc::new(Meter::default());
        let snapshots = cloud.endpoints.snapshots.as_ref();
        let snapshots = snapshots.map(|snapshots| {
            (cloud.pending_snapshots(snapshots, &meter), cloud.jobs(snapshots, &meter))
        });
        Ok(Self {
            tables: cloud.tables(&meter),
            blobs: cloud.blobs(&meter),
            snapshots,
            running: cloud.running.clone(),
            streams: cloud.streams(&meter),
            feed: project.config.feed,
            cloud: Some(cloud),
        })
    }

    async fn in_aws(project: &Project, place: &WhereArguments) -> Result<Self, SynthError> {
        let aws = Aws::connect(&project.config, place.endpoint_url.as_deref()).await?;
        let state = own_deployed_stack(project, &aws).await?;
        let meter = Arc::new(Meter::default());
        let dynamodb = dynamodb::client(&aws.config);
        let tables = DynamoTables::named(
            output(&state, OUTPUT_ENTRY_TABLE)?,
            output(&state, OUTPUT_SEGMENT_TABLE)?,
            dynamodb.clone(),
            Arc::clone(&meter),
        );
        let streams = state.outputs.get(OUTPUT_EVENT_STREAM_TABLE);
        let streams = streams.zip(state.outputs.get(OUTPUT_FEED_TABLE)).map(|(streams, index)| {
            let named = (dynamodb.clone(), Arc::clone(&meter));
            let streams = DynamoStreams::named(streams, named.0.clone(), named.1.clone());
            let index = DynamoFeed::named(index, named.0, named.1);
            (Arc::new(streams), Arc::new(index), project.config.incarnation)
        });
        let pending = output(&state, OUTPUT_PENDING_SNAPSHOTS_TABLE)?;
        let pending = DynamoPendingSnapshots::named(pending, dynamodb, Arc::clone(&meter));
        let jobs =
            SqsQueue::new(sqs::client(&aws.config, &meter), output(&state, OUTPUT_SNAPSHOT_QUEUE)?);
        let bucket = output(&state, OUTPUT_BUCKET)?.to_owned();
        let url = aws.reached_url(output(&state, OUTPUT_API_URL)?);
        Ok(Self {
            tables: Arc::new(tables),
            blobs: Arc::new(S3Blobs::new(bucket, s3::client(&aws.config), meter)),
            snapshots: Some((Arc::new(pending), Arc::new(jobs))),
            running: Some(url),
            streams,
            feed: project.config.feed,
            cloud: None,
        })
    }

    /// What compares the feed with the streams, and mends it.
    ///
    /// # Errors
    /// [`SynthError::NoIndex`] for a stack of an earlier Cellar.
    pub(super) fn auditor(&self) -> Result<Auditor, SynthError> {
        let (streams, index, incarnation) = self.indexed()?;
        let (clock, random) = (Arc::new(SystemClock), Arc::new(SystemRandom));
        let ports = IndexerPorts {
            index: Arc::clone(&index) as _,
            lists: Arc::clone(&index) as _,
            streams: Arc::clone(&streams) as _,
            clock: Arc::clone(&clock) as _,
            random: Arc::clone(&random) as _,
        };
        let reader = FeedReader::new(Arc::clone(&index) as _, incarnation);
        let auditor = Auditor::new(&streams, reader, ports.build(incarnation), clock, random);
        let logs = (self.feed == FeedScope::Everything).then(|| Arc::clone(&self.tables) as _);
        Ok(auditor.with_entries(Arc::clone(&self.tables) as _, logs))
    }

    /// The streams and their index, and the incarnation of the tables.
    ///
    /// # Errors
    /// [`SynthError::NoIndex`] for a stack of an earlier Cellar.
    pub(super) fn indexed(&self) -> Result<(Arc<DynamoStreams>, Arc<DynamoFeed>, u32), SynthError> {
        self.streams.clone().ok_or(SynthError::NoIndex)
    }

    /// Ends the cloud if it was started for this.
    pub(super) async fn leave(self) {
        if let Some(cloud) = self.cloud {
            cloud.leave().await;
        }
    }
}

fn output<'a>(state: &'a StackState, name: &'static str) -> Result<&'a str, SynthError> {
    let value = state.outputs.get(name).map(String::as_str);
    value.ok_or(SynthError::NoOutput { output: name })
}
