//! Builds the handler of the snapshot function from its settings and clients.

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

/// The ports that a snapshot builder uses.
#[derive(Clone)]
pub struct BuilderPorts {
    pub entries: Arc<dyn Entries>,
    pub segments: Arc<dyn Segments>,
    pub blobs: Arc<dyn Blobs>,
    pub clock: Arc<dyn Clock>,
}

/// Creates the builder of snapshots, which are stored as a list of levels.
#[must_use]
pub fn levels_builder(ports: BuilderPorts) -> Arc<dyn SnapshotBuilder> {
    let BuilderPorts { entries, segments, blobs, clock } = ports;
    let logs = Logs::new(entries, segments, Arc::clone(&blobs), clock, Arc::new(SystemRandom));
    Arc::new(LevelsBuilder::new(Arc::new(logs), blobs))
}

/// The AWS clients of the snapshot function.
#[derive(Clone)]
pub struct SnapshotClients {
    pub dynamodb: aws_sdk_dynamodb::Client,
    pub s3: aws_sdk_s3::Client,
    /// Counts the requests and request units that the clients consume.
    pub meter: Arc<Meter>,
    pub clock: Arc<dyn Clock>,
}

/// Builds the handler of the snapshot function.
pub fn build_handler(
    settings: &SnapshotSettings,
    clients: SnapshotClients,
    jobs: Arc<dyn Jobs>,
    create_builder: impl FnOnce(BuilderPorts) -> Arc<dyn SnapshotBuilder>,
) -> SnapshotHandler {
    let SnapshotClients { dynamodb, s3, meter, clock } = clients;
    let log_tables = Arc::new(DynamoTables::named(
        &settings.entry_table,
        &settings.segment_table,
        dynamodb.clone(),
        Arc::clone(&meter),
    ));
    let pending_snapshots = DynamoPendingSnapshots::named(
        &settings.pending_snapshots_table,
        dynamodb,
        Arc::clone(&meter),
    );
    let snapshot_builder = create_builder(BuilderPorts {
        entries: log_tables.clone(),
        segments: log_tables.clone(),
        blobs: Arc::new(S3Blobs::new(settings.bucket.clone(), s3, meter)),
        clock: Arc::clone(&clock),
    });
    let snapshot_ports = SnapshotPorts {
        entries: log_tables.clone(),
        segments: log_tables,
        pending: Arc::new(pending_snapshots),
        jobs,
        clock,
        random: Arc::new(SystemRandom),
    };
    SnapshotHandler::new(Snapshots::new(snapshot_ports, snapshot_builder))
}
