//! What the function that makes snapshots is made of.

use std::sync::Arc;

use cellar_engine::logs::Logs;
use cellar_engine::meter::Meter;
use cellar_engine::ports::{Blobs, Clock, Entries, Jobs, Segments};
use cellar_engine::snapshots::{LevelsBuilder, SnapshotBuilder, SnapshotPorts, Snapshots};
use cellar_engine::system::SystemRandom;

use super::SnapshotHandler;
use crate::dynamodb::{DynamoPendingSnapshots, DynamoTables};
use crate::s3::S3Blobs;
use crate::settings::SnapshotSettings;

/// What a builder reads and writes.
#[derive(Clone)]
pub struct BuilderPorts {
    /// The Entry table.
    pub entries: Arc<dyn Entries>,
    /// The Segment table.
    pub segments: Arc<dyn Segments>,
    /// The bucket.
    pub blobs: Arc<dyn Blobs>,
    /// Time.
    pub clock: Arc<dyn Clock>,
}

/// The builder of levels in chunks.
#[must_use]
pub fn levels(ports: BuilderPorts) -> Arc<dyn SnapshotBuilder> {
    let BuilderPorts { entries, segments, blobs, clock } = ports;
    let logs = Logs::new(entries, segments, Arc::clone(&blobs), clock, Arc::new(SystemRandom));
    Arc::new(LevelsBuilder::new(Arc::new(logs), blobs))
}

/// The services that the function calls.
#[derive(Clone)]
pub struct SnapshotClients {
    /// DynamoDB.
    pub dynamodb: aws_sdk_dynamodb::Client,
    /// S3.
    pub s3: aws_sdk_s3::Client,
    /// Counts what they consume.
    pub meter: Arc<Meter>,
    /// Time.
    pub clock: Arc<dyn Clock>,
}

/// The function for these settings, over these services and the queue of its jobs.
pub fn handler(
    settings: &SnapshotSettings,
    clients: SnapshotClients,
    jobs: Arc<dyn Jobs>,
    builder: impl FnOnce(BuilderPorts) -> Arc<dyn SnapshotBuilder>,
) -> SnapshotHandler {
    let SnapshotClients { dynamodb, s3, meter, clock } = clients;
    let SnapshotSettings { entry_table, segment_table, pending_snapshots_table, bucket, .. } =
        settings;
    let tables = DynamoTables::named(entry_table, segment_table, dynamodb.clone(), meter.clone());
    let tables = Arc::new(tables);
    let pending =
        DynamoPendingSnapshots::named(pending_snapshots_table, dynamodb, Arc::clone(&meter));
    let builder = builder(BuilderPorts {
        entries: tables.clone(),
        segments: tables.clone(),
        blobs: Arc::new(S3Blobs::new(bucket.clone(), s3, meter)),
        clock: Arc::clone(&clock),
    });
    let ports = SnapshotPorts {
        entries: tables.clone(),
        segments: tables,
        pending: Arc::new(pending),
        jobs,
        clock,
        random: Arc::new(SystemRandom),
    };
    SnapshotHandler::new(Snapshots::new(ports, builder))
}
