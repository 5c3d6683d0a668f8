//! Spreadsheet statistics: size, latest snapshot and the cost of opening the spreadsheet.

use std::ops::ControlFlow;
use std::sync::Arc;

use cellar_api::{wire::LevelStats, wire::OpenStats, wire::SnapshotStats, wire::StatsReply};
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_snapshot::SnapshotError;
use cellar_snapshot::fold::FoldedLevel;
use cellar_snapshot::merge::Window;
use cellar_snapshot::objects::{Fetch, ObjectRequest, Objects};
use cellar_snapshot::root::{Root, RootLevel};
use cellar_snapshot::view;

use super::committed::EntryCursor;
use super::{LogError, Logs};
use crate::snapshots::ObjectStore;

/// The window that a client requests when it opens a sheet.
const FIRST_VIEW: Window = Window { rows: 0..50, columns: 0..20 };

impl Logs {
    /// Returns the statistics of the latest state, which is at or after `min_position`.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`Logs::view`].
    pub async fn stats(
        &self,
        log: LogId,
        min_position: Option<Position>,
    ) -> Result<StatsReply, LogError> {
        let root = self.root_for(log, None, min_position).await?;
        let begin = root.as_ref().map(|root| root.position);
        let mut cursor = EntryCursor::from(begin.unwrap_or(Position::FIRST));
        let mut entries_since = 0_u64;
        self.visit_committed(log, &mut cursor, None, min_position.max(begin), |entry, _| {
            entries_since += u64::from(Some(entry.position) != begin);
            Ok(ControlFlow::Continue(()))
        })
        .await?;
        let (head, _) = cursor.newest.ok_or(LogError::NotFound)?;
        // Bypass the shared cache to measure the cost of a cold read.
        let store = ObjectStore::new(Arc::clone(&self.blobs));
        let family = self.family(log).await?;
        let (snapshot, open) = match &root {
            None => (None, OpenStats::default()),
            Some(root) => (
                Some(snapshot_stats(&store, family, root).await?),
                measure_open(&store, family, root).await?,
            ),
        };
        Ok(StatsReply { head, snapshot, entries_since, open })
    }
}

async fn snapshot_stats(
    store: &ObjectStore,
    family: LogId,
    root: &Root,
) -> Result<SnapshotStats, LogError> {
    let mut levels = Vec::new();
    for level in &root.levels {
        levels.push(level_stats(store, family, level, false).await?);
    }
    if let Some(level_0) = &root.level_0 {
        levels.push(level_stats(store, family, level_0, true).await?);
    }
    Ok(SnapshotStats {
        position: root.position,
        entries: root.entries,
        cells: root.totals.cells,
        bytes: root.totals.bytes,
        levels,
    })
}

async fn level_stats(
    store: &ObjectStore,
    family: LogId,
    level: &RootLevel,
    in_root: bool,
) -> Result<LevelStats, LogError> {
    let mut objects = Objects::default();
    let index =
        store.ready(family, &mut objects, |objects| level.level.load_level(objects)).await?;
    let tiles =
        index.sheets.iter().flat_map(|sheet| &sheet.stripes).map(|stripe| stripe.tiles.len());
    let tiles = u64::try_from(tiles.sum::<usize>()).unwrap_or(u64::MAX);
    let chunks = if in_root { 0 } else { tiles };
    Ok(LevelStats { last: level.last, cells: level.cells, bytes: level.bytes, chunks, in_root })
}

/// Reads the first window shown by a client, and counts the requests and bytes.
async fn measure_open(
    store: &ObjectStore,
    family: LogId,
    root: &Root,
) -> Result<OpenStats, LogError> {
    let packed = root.pack().map_err(|error| snapshot_error(family, &error))?;
    let mut stats = OpenStats { objects: 1, bytes: u64::from(packed.chunk.bytes), round_trips: 1 };
    let Some(sheet) = root.sheets.first().map(|sheet| sheet.sheet) else { return Ok(stats) };
    let mut objects = Objects::default();
    let tail = FoldedLevel::default();
    loop {
        let fetch = view::window(Some(root), &tail, sheet, &FIRST_VIEW, &objects);
        let wanted: Vec<ObjectRequest> =
            match fetch.map_err(|error| snapshot_error(family, &error))? {
                Fetch::Ready(_) => return Ok(stats),
                Fetch::Need(wanted) => wanted,
            };
        stats.round_trips += 1;
        for wanted in &wanted {
            stats.objects += 1;
            stats.bytes = stats.bytes.saturating_add(u64::from(wanted.bytes));
        }
        store.load(family, &wanted, &mut objects).await?;
    }
}

fn snapshot_error(family: LogId, error: &SnapshotError) -> LogError {
    LogError::Snapshot(crate::snapshots::snapshot_fault(family, error))
}
