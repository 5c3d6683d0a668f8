//! Statistics of a spreadsheet: its size, its latest snapshot and the cost of opening it.

use std::ops::ControlFlow;
use std::sync::Arc;

use cellar_api::{wire::LevelStats, wire::OpenStats, wire::SnapshotStats, wire::StatsReply};
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_sheet::metadata::Tabs;
use cellar_snapshot::SnapshotError;
use cellar_snapshot::fold::FoldedLevel;
use cellar_snapshot::merge::Window;
use cellar_snapshot::objects::{Fetch, Objects};
use cellar_snapshot::root::{Root, RootLevel};
use cellar_snapshot::view;

use super::committed::{EntryCursor, ReadUntil};
use super::{LogError, LogHead, Logs};
use crate::snapshots::ObjectStore;

/// The part of a sheet that a client requests when it opens the sheet.
const FIRST_VIEW: Window = Window { rows: 0..50, columns: 0..20 };

impl Logs {
    /// Returns the statistics of a spreadsheet's latest state. `min_position` is a position that
    /// the log is known to contain.
    ///
    /// # Errors
    ///
    /// Returns [`LogError`] if the log does not exist or cannot be read.
    pub async fn stats(
        &self,
        log_id: LogId,
        min_position: Option<Position>,
    ) -> Result<StatsReply, LogError> {
        let root = self.find_root_for_read(log_id, None, min_position).await?;
        let root_position = root.as_ref().map(|root| root.position);
        let mut cursor = EntryCursor::from(root_position.unwrap_or(Position::FIRST));
        let until = ReadUntil::Newest { min_position: min_position.max(root_position) };
        let mut entries_since = 0_u64;
        self.visit_committed(log_id, &mut cursor, until, |entry, _| {
            if Some(entry.position) != root_position {
                entries_since += 1;
            }
            Ok(ControlFlow::Continue(()))
        })
        .await?;
        let LogHead { head, .. } = cursor.newest.ok_or(LogError::NotFound)?;
        let Some(root) = root else {
            let open = OpenStats::default();
            return Ok(StatsReply { head, snapshot: None, entries_since, open });
        };
        // Do not use the shared cache, since the cost of a first read is measured.
        let uncached_store = ObjectStore::new(Arc::clone(&self.blobs));
        let family = self.family(log_id).await?;
        let snapshot = Some(snapshot_stats(&uncached_store, family, &root).await?);
        let open = measure_opening_cost(&uncached_store, family, &root).await?;
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
        let chunks = count_tiles(store, family, level).await?;
        levels.push(LevelStats { chunks, in_root: false, ..level_stats(level) });
    }
    if let Some(level_0) = &root.level_0 {
        levels.push(LevelStats { in_root: true, ..level_stats(level_0) });
    }
    Ok(SnapshotStats {
        position: root.position,
        entries: root.entries,
        cells: root.totals.cells,
        bytes: root.totals.bytes,
        levels,
    })
}

fn level_stats(level: &RootLevel) -> LevelStats {
    LevelStats {
        last: level.last,
        cells: level.cells,
        bytes: level.bytes,
        chunks: 0,
        in_root: false,
    }
}

async fn count_tiles(
    store: &ObjectStore,
    family: LogId,
    level: &RootLevel,
) -> Result<u64, LogError> {
    let mut objects = Objects::default();
    let tile_index = store
        .load_until_ready(family, &mut objects, |objects| level.level.load_level(objects))
        .await?;
    let stripes = tile_index.sheets.iter().flat_map(|sheet| &sheet.stripes);
    let tile_count: usize = stripes.map(|stripe| stripe.tiles.len()).sum();
    Ok(u64::try_from(tile_count).unwrap_or(u64::MAX))
}

async fn measure_opening_cost(
    store: &ObjectStore,
    family: LogId,
    root: &Root,
) -> Result<OpenStats, LogError> {
    let packed_root = root.pack().map_err(|error| snapshot_error(family, &error))?;
    let root_bytes = u64::from(packed_root.chunk.bytes);
    let mut stats = OpenStats { objects: 1, bytes: root_bytes, round_trips: 1 };
    let Some(first_sheet) = root.sheets.first() else { return Ok(stats) };
    let no_newer_entries = FoldedLevel::default();
    let tabs = Tabs::default();
    let mut objects = Objects::default();
    loop {
        let sheet = first_sheet.sheet;
        let fetch =
            view::read_window(Some(root), &no_newer_entries, &tabs, sheet, &FIRST_VIEW, &objects);
        let missing_objects = match fetch.map_err(|error| snapshot_error(family, &error))? {
            Fetch::Ready(_) => return Ok(stats),
            Fetch::Missing(missing_objects) => missing_objects,
        };
        stats.round_trips += 1;
        for object in &missing_objects {
            stats.objects += 1;
            stats.bytes += u64::from(object.bytes);
        }
        store.load(family, &missing_objects, &mut objects).await?;
    }
}

fn snapshot_error(family: LogId, error: &SnapshotError) -> LogError {
    LogError::Snapshot(crate::snapshots::snapshot_fault(family, error))
}
