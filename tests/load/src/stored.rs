//! The contents of the cloud's tables after a run, and a replay of the logs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_engine::meter::Meter;
use cellar_engine::ports::{Entries as _, PendingSnapshots as _};
use cellar_local::StateFolder;
use cellar_log::entry::{Content, Entry};
use cellar_runtime::dynamodb::{DynamoPendingSnapshots, DynamoTables, client_for_endpoint};
use cellar_sheet::a1::Rectangle;
use cellar_sheet::cell::Cell;
use cellar_sheet::operation::SheetId;
use cellar_sheet::workbook::Workbook;
use cellar_snapshot::snapshot_job::SnapshotJob;

use crate::LoadError;

/// Maximum time for snapshots after the load: until the message of a killed worker is visible
/// again, and to build the snapshots on a busy machine.
const SNAPSHOT_PATIENCE: Duration = Duration::from_secs(10 * 60);
/// Polling interval.
const POLL: Duration = Duration::from_millis(200);

/// Cells by row and column.
pub(crate) type Cells = Vec<((u32, u32), Cell)>;

/// The tables of a cloud.
pub(crate) struct Tables {
    entries: DynamoTables,
    pending: DynamoPendingSnapshots,
}

/// All entries of a log.
pub(crate) struct Log {
    pub(crate) id: LogId,
    pub(crate) entries: Vec<Arc<Entry>>,
}

impl Tables {
    /// Opens the tables of the cloud that runs in this folder.
    pub(crate) fn open(state: &StateFolder) -> Result<Self, LoadError> {
        let part = |why: &str| LoadError::Part { why: why.to_owned() };
        let (endpoints, access_key, secret_key) =
            state.endpoints()?.ok_or_else(|| part("the cloud does not run"))?;
        let client = client_for_endpoint(&endpoints.database_url, &access_key, &secret_key);
        let (entry, segment) = (&endpoints.entry_table, &endpoints.segment_table);
        let meter = Arc::new(Meter::default());
        let entries = DynamoTables::named(entry, segment, client.clone(), Arc::clone(&meter));
        let snapshots = endpoints.snapshots.ok_or_else(|| part("nothing makes snapshots"))?;
        let pending =
            DynamoPendingSnapshots::named(&snapshots.pending_snapshots_table, client, meter);
        Ok(Self { entries, pending })
    }

    /// Reads all entries of a log.
    pub(crate) async fn read(&self, id: LogId) -> Result<Log, LoadError> {
        let (mut entries, mut from) = (Vec::<Arc<Entry>>::new(), Some(Position::FIRST));
        while let Some(at) = from {
            let page = self.entries.page(id, at, true).await?;
            from = page.entries.last().and_then(|last| last.next_position());
            entries.extend(page.entries);
        }
        Ok(Log { id, entries })
    }

    /// Describes the unfinished snapshots of a log, and a remaining record.
    pub(crate) async fn list_unfinished(&self, log: &Log) -> Result<Vec<String>, LoadError> {
        let mut unmade = Vec::new();
        for position in log.snapshots() {
            let entry = self.entries.get(log.id, position).await?;
            if entry
                .is_none_or(|entry| matches!(entry.content, Content::Snapshot { root: None, .. }))
            {
                unmade.push(format!("{} has no snapshot at {position}", log.id));
            }
        }
        let job = SnapshotJob { log: log.id, position: log.head() };
        let record = self.pending.first_up_to(job).await?;
        unmade.extend(record.map(|record| format!("{} waits for {record:?}", log.id)));
        Ok(unmade)
    }

    /// Waits until all snapshots are finished and no record is left; returns what is unfinished at
    /// the timeout.
    pub(crate) async fn wait_for_snapshots(&self, logs: &[Log]) -> Result<Vec<String>, LoadError> {
        let (mut waiting, begun) = (logs.iter().collect::<Vec<_>>(), Instant::now());
        loop {
            let (mut unmade, mut left) = (Vec::new(), Vec::new());
            for log in waiting {
                let of_log = self.list_unfinished(log).await?;
                if !of_log.is_empty() {
                    left.push(log);
                    unmade.extend(of_log);
                }
            }
            if unmade.is_empty() || begun.elapsed() > SNAPSHOT_PATIENCE {
                return Ok(unmade);
            }
            waiting = left;
            tokio::time::sleep(POLL).await;
        }
    }
}

impl Log {
    /// Returns the position of the newest entry.
    pub(crate) fn head(&self) -> Position {
        self.entries.last().map_or(Position::FIRST, |entry| entry.position)
    }

    /// Returns the positions of the Snapshot entries except the first one, which gets no snapshot.
    pub(crate) fn snapshots(&self) -> Vec<Position> {
        let is_snapshot = |entry: &&Arc<Entry>| matches!(entry.content, Content::Snapshot { .. });
        let snapshots = self.entries.iter().skip(1).filter(is_snapshot);
        snapshots.map(|entry| entry.position).collect()
    }

    /// Returns all cells of the first sheet at each of these positions, by a replay.
    pub(crate) fn replayed(&self, at: &[Position]) -> Result<Vec<(Position, Cells)>, LoadError> {
        let (mut workbook, mut states) = (Workbook::default(), Vec::new());
        for entry in &self.entries {
            let applied = entry.apply_to(&mut workbook);
            applied.map_err(|error| LoadError::Part { why: error.to_string() })?;
            if at.contains(&entry.position) {
                let sheet = workbook.sheet(SheetId::FIRST);
                let cells = sheet.map(|sheet| sheet.cells_in(Rectangle::EVERYTHING).collect());
                states.push((entry.position, cells.unwrap_or_default()));
            }
        }
        Ok(states)
    }
}
