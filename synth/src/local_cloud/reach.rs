//! The services of the local cloud, for commands that work on them directly.

use std::fs;
use std::sync::Arc;

use cellar_engine::meter::Meter;
use cellar_local::{
    Endpoints, LocalCloud, Occupancy, Options, Ports, SnapshotEndpoints, StateFolder,
};
use cellar_runtime::dynamodb::{
    self, DynamoFeed, DynamoPendingSnapshots, DynamoStreams, DynamoTables,
};
use cellar_runtime::s3::{self, S3Blobs};
use cellar_runtime::sqs::{self, SqsQueue};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::start;
use crate::error::SynthError;
use crate::project::Project;

/// Region that requests to its queues are signed for.
const REGION: &str = "local";

/// What a local cloud that is started for a command does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Run {
    /// All that it does anywhere: it answers requests, and its functions run.
    Everything,
    /// Nothing by itself: its tables, buckets and queues can be looked at, as they were left.
    Nothing,
}

/// The tables, the bucket and the queues of the local cloud: of the one that runs, or of one that runs
/// for as long as this takes. So the state folder's lock holds in either case.
pub(crate) struct Reached {
    /// Where they are.
    pub(crate) endpoints: Endpoints,
    /// What opens them.
    pub(crate) access_key: String,
    /// What opens them.
    pub(crate) secret_key: String,
    /// The URL of the cloud that runs by itself; none if it was started for this.
    pub(crate) running: Option<String>,
    own: Option<Own>,
}

enum Own {
    Served(oneshot::Sender<()>, JoinHandle<()>),
    Held(Box<LocalCloud>),
}

impl Reached {
    /// Reaches the cloud that runs, or starts the one that was left.
    pub(crate) async fn reach(project: &Project, run: Run) -> Result<Self, SynthError> {
        let folder = project.local_state();
        if !folder.exists() {
            return Err(SynthError::NotDeployed);
        }
        let (own, running) = match folder.occupancy()? {
            Occupancy::By(running) => (None, Some(running.url)),
            Occupancy::Unknown => return Err(SynthError::Busy),
            Occupancy::Free => (Some(what_was_left(&folder, run).await?), None),
        };
        let Some((endpoints, access_key, secret_key)) = folder.endpoints()? else {
            return Err(SynthError::Busy);
        };
        Ok(Self { endpoints, access_key, secret_key, running, own })
    }

    /// Its Entry table and its Segment table.
    pub(crate) fn tables(&self, meter: &Arc<Meter>) -> Arc<DynamoTables> {
        let (entries, segments) = (&self.endpoints.entry_table, &self.endpoints.segment_table);
        let url = &self.endpoints.database_url;
        let client = dynamodb::client_for_endpoint(url, &self.access_key, &self.secret_key);
        Arc::new(DynamoTables::named(entries, segments, client, Arc::clone(meter)))
    }

    /// Its streams and their index, and the incarnation of its tables; none of a process of an earlier Cellar.
    pub(crate) fn streams(
        &self,
        meter: &Arc<Meter>,
    ) -> Option<(Arc<DynamoStreams>, Arc<DynamoFeed>, u32)> {
        let Endpoints { event_stream_table, feed_table, tables_incarnation, database_url, .. } =
            &self.endpoints;
        let (streams, index) = event_stream_table.as_ref().zip(feed_table.as_ref())?;
        let client =
            dynamodb::client_for_endpoint(database_url, &self.access_key, &self.secret_key);
        let streams = DynamoStreams::named(streams, client.clone(), Arc::clone(meter));
        let index = DynamoFeed::named(index, client, Arc::clone(meter));
        Some((Arc::new(streams), Arc::new(index), *tables_incarnation))
    }

    /// Its table of pending snapshots.
    pub(crate) fn pending_snapshots(
        &self,
        snapshots: &SnapshotEndpoints,
        meter: &Arc<Meter>,
    ) -> Arc<DynamoPendingSnapshots> {
        let url = &self.endpoints.database_url;
        let client = dynamodb::client_for_endpoint(url, &self.access_key, &self.secret_key);
        let table = &snapshots.pending_snapshots_table;
        Arc::new(DynamoPendingSnapshots::named(table, client, Arc::clone(meter)))
    }

    /// Its queue of snapshot jobs.
    pub(crate) fn jobs(&self, snapshots: &SnapshotEndpoints, meter: &Arc<Meter>) -> Arc<SqsQueue> {
        let (access_key, secret_key) = (&self.access_key, &self.secret_key);
        let url = &snapshots.queues_url;
        let client = sqs::client_for_endpoint(url, REGION, access_key, secret_key, meter);
        Arc::new(SqsQueue::new(client, &snapshots.snapshot_queue))
    }

    /// Its bucket.
    pub(crate) fn blobs(&self, meter: &Arc<Meter>) -> Arc<S3Blobs> {
        let url = &self.endpoints.buckets_url;
        let client = s3::client_for_endpoint(url, &self.access_key, &self.secret_key);
        Arc::new(S3Blobs::new(self.endpoints.bucket.clone(), client, Arc::clone(meter)))
    }

    /// Ends the cloud if it was started for this.
    pub(crate) async fn leave(self) {
        match self.own {
            Some(Own::Served(stop, served)) => {
                let _ = stop.send(());
                let _ = served.await;
            }
            Some(Own::Held(cloud)) => drop(cloud),
            None => {}
        }
    }
}

/// Runs the cloud that was left in the folder, on a port of its own choice.
async fn what_was_left(folder: &StateFolder, run: Run) -> Result<Own, SynthError> {
    let path = folder.template();
    let template =
        fs::read_to_string(&path).map_err(|cause| SynthError::Io { what: "read", path, cause })?;
    let stack = folder.stack()?.ok_or(SynthError::NotDeployed)?;
    let options = Options { stack, port: 0 };
    let cloud = start(&template, folder, &options, Ports::default()).await?;
    if run == Run::Nothing {
        return Ok(Own::Held(Box::new(cloud)));
    }
    let (stop, stopped) = oneshot::channel();
    let served = tokio::spawn(async move {
        cloud.serve(async move { drop(stopped.await) }).await;
    });
    Ok(Own::Served(stop, served))
}
