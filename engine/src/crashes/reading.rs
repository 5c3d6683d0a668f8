//! Reads the stored data as a newly started process would.

use std::collections::BTreeMap;
use std::slice;
use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_calculation::CalculatedWorkbook;
use cellar_calculation::testing::{FormulaCounts, SheetCells, ShownCells, calculate, shows_same};
use cellar_log::entry::Entry;
use cellar_log::invariants::{check_links, check_no_gap, check_once, check_order};
use cellar_sheet::a1::Rectangle;
use cellar_sheet::operation::SheetId;

use super::ports::FaultyPorts;
use super::stored::Stored;
use crate::logs::{CellsQuery, Logs, SheetName};

pub(crate) type Cells = SheetCells;

/// Calculates all cells of a replay.
async fn calculate_replay(
    logs: &Logs,
    log_id: LogId,
    position: Position,
) -> (CalculatedWorkbook, Cells) {
    let replay = logs.workbook(log_id, Some(position), None).await.unwrap();
    let seed = CalculatedWorkbook::seed(log_id, position);
    calculate(&replay.workbook, replay.created_s, seed, &Cells::new())
}

pub(crate) async fn replay_cells(logs: &Logs, log_id: LogId, position: Position) -> Cells {
    calculate_replay(logs, log_id, position).await.1
}

/// Asserts that reads of a position show the cells of a replay, and that each formula has the value
/// that its evaluation gives. Returns the shown cells.
pub(crate) async fn assert_calculated(
    logs: &Logs,
    log_id: LogId,
    position: Position,
    context: &str,
) -> (Cells, FormulaCounts) {
    let (workbook, replayed) = calculate_replay(logs, log_id, position).await;
    let shown = read_cells(logs, log_id, position, replayed.keys()).await;
    assert!(
        is_replay_of_log(&replayed, &shown),
        "{context}: {log_id} at {position}: {shown:?} does not match {replayed:?}"
    );
    let counts = ShownCells::new(&workbook, &shown).check_formulas();
    let counts =
        counts.unwrap_or_else(|why| panic!("{context}: {log_id} at {position}: {why}: {shown:?}"));
    (shown, counts)
}

pub(crate) async fn read_cells(
    logs: &Logs,
    log_id: LogId,
    position: Position,
    sheets: impl IntoIterator<Item = &SheetId>,
) -> Cells {
    let mut all_cells = Cells::new();
    for sheet in sheets {
        let mut sheet_cells = Vec::new();
        let mut query = CellsQuery {
            sheet: SheetName::Number(*sheet),
            rectangle: Rectangle::EVERYTHING,
            at: Some(position),
            from: None,
            min_position: None,
            with_texts: false,
        };
        loop {
            let page = logs.cells(log_id, &query).await.unwrap();
            sheet_cells.extend(page.cells);
            query.from = page.next;
            if query.from.is_none() {
                break;
            }
        }
        all_cells.insert(*sheet, sheet_cells);
    }
    all_cells
}

pub(crate) struct Readings(BTreeMap<LogId, Vec<(Position, Cells)>>);

impl Readings {
    /// Asserts that each log is readable and consistent, and that the cells equal those of a
    /// replay. Imported cells are not compared, since the log does not contain them.
    pub(crate) async fn of(ports: &FaultyPorts, context: &str) -> Self {
        let stored = Stored::read(ports);
        let ports = ports.copied(vec![]);
        let mut readings = BTreeMap::new();
        for log_id in stored.logs() {
            assert_sound(&stored, log_id, context);
            // Read each log in a new process with empty caches.
            let logs = ports.logs();
            readings.insert(log_id, read_all(&logs, log_id, context).await);
        }
        Self(readings)
    }

    /// The logs in `expected` may have more positions.
    pub(crate) fn assert_prefix_of(&self, expected: &Self, context: &str) {
        for (log_id, readings) in &self.0 {
            let expected_readings = expected
                .0
                .get(log_id)
                .unwrap_or_else(|| panic!("{context}: unexpected log {log_id}"));
            for (reading, expected_reading) in readings.iter().zip(expected_readings) {
                let position = reading.0;
                assert!(
                    reading == expected_reading,
                    "{context}: {log_id} at {position}: {reading:?}, not {expected_reading:?}"
                );
            }
            let (entry_count, max_count) = (readings.len(), expected_readings.len());
            assert!(
                entry_count <= max_count,
                "{context}: {log_id} has {entry_count} entries, more than {max_count}"
            );
        }
    }

    pub(crate) fn assert_newest_among(&self, expected: &Self, context: &str) {
        for (log_id, readings) in &self.0 {
            let newest_cells = &readings.last().unwrap().1;
            let is_expected = expected.0[log_id].iter().any(|(_, cells)| cells == newest_cells);
            assert!(is_expected, "{context}: {log_id} is {newest_cells:?}");
        }
    }

    pub(crate) fn assert_newest_are(&self, expected: &Self, context: &str) {
        assert_eq!(self.newest_cells(), expected.newest_cells(), "{context}: the newest cells");
    }

    fn newest_cells(&self) -> BTreeMap<LogId, Cells> {
        let mut newest_cells = BTreeMap::new();
        for (log_id, readings) in &self.0 {
            newest_cells.insert(*log_id, readings.last().unwrap().1.clone());
        }
        newest_cells
    }
}

async fn read_all(logs: &Logs, log_id: LogId, context: &str) -> Vec<(Position, Cells)> {
    let loaded = logs.load(log_id, None).await;
    let loaded =
        loaded.unwrap_or_else(|error| panic!("{context}: {log_id} cannot be loaded: {error}"));
    let history = logs.history(log_id, None, 1_000).await.unwrap();
    assert_eq!(history.next, None, "{context}: one page has all entries");
    let newest_position = history.entries.first().map(|entry| entry.position);
    assert_eq!(newest_position, Some(loaded.head), "{context}");
    let mut readings = Vec::new();
    for entry in history.entries.iter().rev() {
        let position = entry.position;
        let (shown, _) = assert_calculated(logs, log_id, position, context).await;
        readings.push((position, shown));
    }
    readings
}

fn is_replay_of_log(replayed_cells: &Cells, shown_cells: &Cells) -> bool {
    replayed_cells.iter().all(|(sheet, replayed)| {
        let shown = &shown_cells[sheet];
        match *sheet {
            SheetId::FIRST => shows_same(replayed, shown),
            // The log contains the edits to an imported sheet, but not the imported cells.
            _ => replayed.iter().all(|cell| {
                let is_same = |other| shows_same(slice::from_ref(cell), slice::from_ref(other));
                shown.iter().any(is_same)
            }),
        }
    })
}

/// Asserts that the stored data of a log satisfies invariants I1, I3 and I5.
fn assert_sound(stored: &Stored, log_id: LogId, context: &str) {
    let entries: Vec<Arc<Entry>> = stored.entries_of(log_id).cloned().map(Arc::new).collect();
    let segments = stored.segments_of(log_id);
    // Inherited entries are checked together with the source log.
    if segments.iter().all(|segment| segment.lineage.is_none()) {
        check_no_gap(&entries).unwrap_or_else(|violation| panic!("{context}: {violation}"));
        check_links(&entries, &segments)
            .unwrap_or_else(|violation| panic!("{context}: {violation}"));
    }
    check_once(&entries).unwrap_or_else(|violation| panic!("{context}: {violation}"));
    let has_trimmed_segment = entries.iter().any(|entry| entry.is_trimmed());
    if !has_trimmed_segment {
        check_order(&entries).unwrap_or_else(|violation| panic!("{context}: {violation}"));
    }
}
