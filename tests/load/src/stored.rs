//! Reads the contents of the stack's tables after a run, and replays the logs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_engine::meter::Meter;
use cellar_engine::ports::{Entries as _, PendingSnapshots as _, ReadConsistency};
use cellar_local::StateFolder;
use cellar_log::entry::{Content, Entry};
use cellar_runtime::dynamodb::{DynamoPendingSnapshots, DynamoTables, client_for_endpoint};
use cellar_sheet::a1::Rectangle;
use cellar_sheet::cell::Cell;
use cellar_sheet::operation::SheetId;
use cellar_sheet::workbook::Workbook;
use cellar_snapshot::snapshot_job::SnapshotJob;

use crate::LoadError;

/// Maximum wait for snapshots after the load. It covers the time until the message of a killed
/// worker is visible again, and the time to build the snapshots on a busy machine.
const SNAPSHOT_PATIENCE: Duration = Duration::from_secs(10 * 60);
/// Polling interval.
const SNAPSHOT_POLL_PERIOD: Duration = Duration::from_millis(200);

/// Cells by row and column.
pub(crate) type Cells = Vec<((u32, u32), Cell)>;

/// The tables of a cloud.
pub(crate) struct Tables {
    entries: DynamoTables,
    pending_snapshots: DynamoPendingSnapshots,
}

/// All entries of a log.
pub(crate) struct Log {
    pub(crate) id: LogId,
    pub(crate) entries: Vec<Arc<Entry>>,
}

impl Tables {
    /// Opens the tables of the local stack that runs in the given directory.
    pub(crate) fn open(state: &StateFolder) -> Result<Self, LoadError> {
        let load_error = |why: &str| LoadError::Part { why: why.to_owned() };
        let (endpoints, access_key, secret_key) =
            state.endpoints()?.ok_or_else(|| load_error("the cloud does not run"))?;
        let client = client_for_endpoint(&endpoints.database_url, &access_key, &secret_key);
        let meter = Arc::new(Meter::default());
        let entries = DynamoTables::named(
            &endpoints.entry_table,
            &endpoints.segment_table,
            client.clone(),
            Arc::clone(&meter),
        );
        let snapshots = endpoints.snapshots.ok_or_else(|| load_error("nothing makes snapshots"))?;
        let pending_snapshots =
            DynamoPendingSnapshots::named(&snapshots.pending_snapshots_table, client, meter);
        Ok(Self { entries, pending_snapshots })
    }

    /// Reads all entries of a log.
    pub(crate) async fn read_log(&self, id: LogId) -> Result<Log, LoadError> {
        let mut entries = Vec::<Arc<Entry>>::new();
        let mut next_position = Some(Position::FIRST);
        while let Some(position) = next_position {
            let page = self.entries.page(id, position, ReadConsistency::Strong).await?;
            next_position = page.entries.last().and_then(|entry| entry.next_position());
            entries.extend(page.entries);
        }
        Ok(Log { id, entries })
    }

    /// Describes the unfinished snapshots of a log, and any remaining record of one.
    pub(crate) async fn list_unfinished(&self, log: &Log) -> Result<Vec<String>, LoadError> {
        let mut unfinished = Vec::new();
        for position in log.snapshot_positions() {
            let has_snapshot = match self.entries.get(log.id, position).await? {
                Some(entry) => !matches!(entry.content, Content::Snapshot { root: None, .. }),
                None => false,
            };
            if !has_snapshot {
                unfinished.push(format!("{} has no snapshot at {position}", log.id));
            }
        }
        let job = SnapshotJob { log: log.id, position: log.head() };
        if let Some(record) = self.pending_snapshots.first_up_to(job).await? {
            unfinished.push(format!("{} waits for {record:?}", log.id));
        }
        Ok(unfinished)
    }

    /// Waits until all snapshots are finished and no record of a pending snapshot remains. If the
    /// wait times out, returns what is unfinished.
    pub(crate) async fn wait_for_snapshots(&self, logs: &[Log]) -> Result<Vec<String>, LoadError> {
        let mut unfinished_logs: Vec<&Log> = logs.iter().collect();
        let begun_at = Instant::now();
        loop {
            let mut unfinished_snapshots = Vec::new();
            let mut still_unfinished_logs = Vec::new();
            for log in unfinished_logs {
                let snapshots_of_log = self.list_unfinished(log).await?;
                if !snapshots_of_log.is_empty() {
                    still_unfinished_logs.push(log);
                    unfinished_snapshots.extend(snapshots_of_log);
                }
            }
            if unfinished_snapshots.is_empty() || begun_at.elapsed() > SNAPSHOT_PATIENCE {
                return Ok(unfinished_snapshots);
            }
            unfinished_logs = still_unfinished_logs;
            tokio::time::sleep(SNAPSHOT_POLL_PERIOD).await;
        }
    }
}

impl Log {
    /// Returns the position of the newest entry.
    pub(crate) fn head(&self) -> Position {
        self.entries.last().map_or(Position::FIRST, |entry| entry.position)
    }

    /// Returns the positions of the Snapshot entries, except the first one, for which no snapshot
    /// is built.
    pub(crate) fn snapshot_positions(&self) -> Vec<Position> {
        self.entries
            .iter()
            .skip(1)
            .filter(|entry| matches!(entry.content, Content::Snapshot { .. }))
            .map(|entry| entry.position)
            .collect()
    }

    /// Returns all cells of the first sheet at each of the given positions, by replaying the log.
    pub(crate) fn replay(
        &self,
        positions: &[Position],
    ) -> Result<Vec<(Position, Cells)>, LoadError> {
        let mut workbook = Workbook::default();
        let mut states = Vec::new();
        for entry in &self.entries {
            entry
                .apply_to(&mut workbook)
                .map_err(|error| LoadError::Part { why: error.to_string() })?;
            if positions.contains(&entry.position) {
                let cells: Cells = match workbook.sheet(SheetId::FIRST) {
                    Some(sheet) => sheet.cells_in(Rectangle::EVERYTHING).collect(),
                    None => Cells::new(),
                };
                states.push((entry.position, cells));
            }
        }
        Ok(states)
    }
}
