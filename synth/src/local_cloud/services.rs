//! Direct access to the local stack's tables, bucket and queue.

use std::fs;
use std::sync::Arc;

use cellar_engine::meter::Meter;
use cellar_local::{Endpoints, LocalCloud, Occupancy, Options, Ports, StateFolder};
use cellar_runtime::dynamodb::{
    self, DynamoFeed, DynamoPendingSnapshots, DynamoStreams, DynamoTables,
};
use cellar_runtime::s3::{self, S3Blobs};
use cellar_runtime::sqs::{self, SqsQueue};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::serve::start_local_cloud;
use crate::error::SynthError;
use crate::project::Project;

const SIGNING_REGION: &str = "local";

const FREE_PORT: u16 = 0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LocalFunctions {
    Running,
    /// No functions run, so that queues and tables do not change in the background.
    Suspended,
}

pub(crate) struct FeedTables {
    pub(crate) streams: Arc<DynamoStreams>,
    pub(crate) feed: Arc<DynamoFeed>,
    pub(crate) incarnation: u32,
}

#[derive(Clone)]
pub(crate) struct SnapshotServices {
    pub(crate) pending: Arc<DynamoPendingSnapshots>,
    pub(crate) jobs: Arc<SqsQueue>,
}

/// Services of a local stack, which was already running or was started for this command. In either
/// case, the process of the stack holds the lock on the state directory.
pub(crate) struct LocalServices {
    /// `None` if the stack was started for this command.
    pub(crate) running_url: Option<String>,
    endpoints: Endpoints,
    access_key: String,
    secret_key: String,
    temporary_stack: Option<TemporaryStack>,
}

enum TemporaryStack {
    /// A task of this process runs the functions.
    Serving {
        stop_sender: oneshot::Sender<()>,
        /// The task, which ends when in-flight requests have been completed.
        task: JoinHandle<()>,
    },
    Suspended(Box<LocalCloud>),
}

impl LocalServices {
    /// If no stack is running, starts the stack whose data is in the state directory.
    ///
    /// # Errors
    ///
    /// Returns [`SynthError::NoLocalStack`] if nothing was deployed from this directory. Returns
    /// [`SynthError::Busy`] if another process is starting or stopping the stack.
    pub(crate) async fn open(
        project: &Project,
        functions: LocalFunctions,
    ) -> Result<Self, SynthError> {
        let folder = project.local_state();
        if !folder.exists() {
            return Err(SynthError::NoLocalStack { folder: folder.path().to_owned() });
        }
        let (running_url, temporary_stack) = match folder.occupancy()? {
            Occupancy::Running(running) => (Some(running.url), None),
            Occupancy::StartingOrStopping => return Err(SynthError::Busy),
            Occupancy::Free => (None, Some(start_temporary_stack(&folder, functions).await?)),
        };
        let Some((endpoints, access_key, secret_key)) = folder.endpoints()? else {
            return Err(SynthError::Busy);
        };
        Ok(Self { running_url, endpoints, access_key, secret_key, temporary_stack })
    }

    pub(crate) fn tables(&self, meter: &Arc<Meter>) -> Arc<DynamoTables> {
        let Endpoints { entry_table, segment_table, .. } = &self.endpoints;
        let tables =
            DynamoTables::named(entry_table, segment_table, self.dynamodb(), Arc::clone(meter));
        Arc::new(tables)
    }

    /// Returns `None` if the running stack is an earlier version, which has no feed.
    pub(crate) fn feed(&self, meter: &Arc<Meter>) -> Option<FeedTables> {
        let Endpoints { event_stream_table, feed_table, tables_incarnation, .. } = &self.endpoints;
        let streams =
            DynamoStreams::named(event_stream_table.as_ref()?, self.dynamodb(), Arc::clone(meter));
        let feed = DynamoFeed::named(feed_table.as_ref()?, self.dynamodb(), Arc::clone(meter));
        Some(FeedTables {
            streams: Arc::new(streams),
            feed: Arc::new(feed),
            incarnation: *tables_incarnation,
        })
    }

    /// Returns `None` if the running stack is an earlier version, which has no snapshots.
    pub(crate) fn snapshots(&self, meter: &Arc<Meter>) -> Option<SnapshotServices> {
        let snapshot_endpoints = self.endpoints.snapshots.as_ref()?;
        let pending_snapshots = DynamoPendingSnapshots::named(
            &snapshot_endpoints.pending_snapshots_table,
            self.dynamodb(),
            Arc::clone(meter),
        );
        let sqs_client = sqs::client_for_endpoint(
            &snapshot_endpoints.queues_url,
            SIGNING_REGION,
            &self.access_key,
            &self.secret_key,
            meter,
        );
        let job_queue = SqsQueue::new(sqs_client, &snapshot_endpoints.snapshot_queue);
        Some(SnapshotServices { pending: Arc::new(pending_snapshots), jobs: Arc::new(job_queue) })
    }

    pub(crate) fn blobs(&self, meter: &Arc<Meter>) -> Arc<S3Blobs> {
        let url = &self.endpoints.buckets_url;
        let client = s3::client_for_endpoint(url, &self.access_key, &self.secret_key);
        Arc::new(S3Blobs::new(self.endpoints.bucket.clone(), client, Arc::clone(meter)))
    }

    /// Stops the stack if [`Self::open`] started it.
    pub(crate) async fn close(self) {
        match self.temporary_stack {
            Some(TemporaryStack::Serving { stop_sender, task }) => {
                let _ = stop_sender.send(());
                let _ = task.await;
            }
            Some(TemporaryStack::Suspended(stack)) => drop(stack),
            None => {}
        }
    }

    fn dynamodb(&self) -> aws_sdk_dynamodb::Client {
        let url = &self.endpoints.database_url;
        dynamodb::client_for_endpoint(url, &self.access_key, &self.secret_key)
    }
}

async fn start_temporary_stack(
    folder: &StateFolder,
    functions: LocalFunctions,
) -> Result<TemporaryStack, SynthError> {
    let template_path = folder.template();
    let template_text = fs::read_to_string(&template_path).map_err(|cause| SynthError::Io {
        operation: "read",
        path: template_path,
        cause,
    })?;
    let Some(stack_name) = folder.stack()? else {
        return Err(SynthError::NoLocalStack { folder: folder.path().to_owned() });
    };
    let options = Options { stack: stack_name, port: FREE_PORT };
    let cloud = start_local_cloud(&template_text, folder, &options, Ports::default()).await?;
    match functions {
        LocalFunctions::Suspended => Ok(TemporaryStack::Suspended(Box::new(cloud))),
        LocalFunctions::Running => Ok(serve_in_task(cloud)),
    }
}

fn serve_in_task(cloud: LocalCloud) -> TemporaryStack {
    let (stop_sender, stop_receiver) = oneshot::channel();
    let task = tokio::spawn(async move {
        let stop_requested = async move {
            let _ = stop_receiver.await;
        };
        cloud.serve(stop_requested).await;
    });
    TemporaryStack::Serving { stop_sender, task }
}
