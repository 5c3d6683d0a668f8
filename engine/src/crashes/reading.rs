//! Reads the stored data like a newly started process.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::entry::Entry;
use cellar_log::invariants::{check_links, check_no_gap, check_once, check_order};
use cellar_sheet::a1::Rectangle;
use cellar_sheet::cell::Cell;
use cellar_sheet::operation::SheetId;

use super::ports::FaultyPorts;
use super::stored::Stored;
use crate::logs::{CellsQuery, Logs, SheetName};

/// The cells of each sheet.
pub(crate) type Cells = BTreeMap<SheetId, Vec<((u32, u32), Cell)>>;

/// Reads all cells at a position by replaying the log.
pub(crate) async fn replayed(logs: &Logs, log: LogId, at: Position) -> Cells {
    let read = logs.workbook(log, Some(at), None).await.unwrap();
    let cells = |sheet: SheetId| {
        read.workbook.sheet(sheet).unwrap().cells_in(Rectangle::EVERYTHING).collect()
    };
    read.workbook.sheets().map(|(sheet, _)| (sheet, cells(sheet))).collect()
}

/// Reads all cells of the given sheets from the latest snapshot, like a client.
pub(crate) async fn shown(
    logs: &Logs,
    log: LogId,
    at: Position,
    sheets: impl IntoIterator<Item = &SheetId>,
) -> Cells {
    let mut all_cells = Cells::new();
    for sheet in sheets {
        let (mut cells, mut from) = (Vec::new(), None);
        loop {
            let (name, rectangle) = (SheetName::Number(*sheet), Rectangle::EVERYTHING);
            let query =
                CellsQuery { sheet: name, rectangle, at: Some(at), from, min_position: None };
            let read = logs.cells(log, &query).await.unwrap();
            cells.extend(read.cells.into_iter().map(|c| ((c.row, c.column), c.cell)));
            from = read.next;
            if from.is_none() {
                break;
            }
        }
        all_cells.insert(*sheet, cells);
    }
    all_cells
}

/// Each log's cells at each of its positions, in ascending order.
pub(crate) struct Readings(BTreeMap<LogId, Vec<(Position, Cells)>>);

impl Readings {
    /// Reads every log in a new process. Asserts that the logs are readable and consistent, and
    /// that the cells match a replay of the log. Imported cells are not compared, since the log
    /// does not contain them.
    pub(crate) async fn of(ports: &FaultyPorts, what: &str) -> Self {
        let stored = Stored::read(ports);
        let ports = ports.copied(vec![]);
        let mut readings = BTreeMap::new();
        for log in stored.logs() {
            assert_sound(&stored, log, what);
            // Read each log in a new process with empty caches.
            let logs = ports.logs();
            readings.insert(log, read_all(&logs, log, what).await);
        }
        Self(readings)
    }

    /// Asserts that these readings are a prefix of `expected`, with equal cells at each position.
    pub(crate) fn assert_prefix_of(&self, expected: &Self, what: &str) {
        for (log, positions) in &self.0 {
            let there =
                expected.0.get(log).unwrap_or_else(|| panic!("{what}: unexpected log {log}"));
            for (own, there) in positions.iter().zip(there) {
                assert!(own == there, "{what}: {log} at {}: {own:?}, not {there:?}", own.0);
            }
            let (len, most) = (positions.len(), there.len());
            assert!(len <= most, "{what}: {log} has {len} entries, not {most}");
        }
    }

    /// Asserts that each log's latest cells equal the cells at some position in `expected`.
    pub(crate) fn assert_newest_among(&self, expected: &Self, what: &str) {
        for (log, positions) in &self.0 {
            let newest = &positions.last().unwrap().1;
            let is_known = expected.0[log].iter().any(|(_, cells)| cells == newest);
            assert!(is_known, "{what}: {log} is {newest:?}");
        }
    }

    /// Asserts that each log's latest cells equal the latest cells in `expected`.
    pub(crate) fn assert_newest_are(&self, expected: &Self, what: &str) {
        let newest = |readings: &Self| {
            let newest = |(log, positions): (&LogId, &Vec<(Position, Cells)>)| {
                (*log, positions.last().unwrap().1.clone())
            };
            readings.0.iter().map(newest).collect::<Vec<_>>()
        };
        assert_eq!(newest(self), newest(expected), "{what}: the newest cells");
    }
}

async fn read_all(logs: &Logs, log: LogId, what: &str) -> Vec<(Position, Cells)> {
    let loaded = logs.load(log, None).await;
    let head = loaded.unwrap_or_else(|error| panic!("{what}: {log} does not load: {error}")).head;
    let history = logs.history(log, None, 1_000).await.unwrap();
    assert_eq!(history.next, None, "{what}: one page has all entries");
    assert_eq!(history.entries.first().map(|newest| newest.position), Some(head), "{what}");
    let mut all = Vec::new();
    for entry in history.entries.iter().rev() {
        let replayed = replayed(logs, log, entry.position).await;
        let cells = shown(logs, log, entry.position, replayed.keys()).await;
        for (sheet, replayed) in &replayed {
            // The log contains later edits of an imported sheet, but not its imported cells.
            let is_same = match *sheet {
                SheetId::FIRST => replayed == &cells[sheet],
                _ => replayed.iter().all(|cell| cells[sheet].contains(cell)),
            };
            assert!(is_same, "{what}: {log} at {}: {cells:?} is not a replay", entry.position);
        }
        all.push((entry.position, cells));
    }
    all
}

/// Asserts that a log's stored data satisfies invariants I1, I3 and I5.
fn assert_sound(stored: &Stored, log: LogId, what: &str) {
    let entries: Vec<Arc<Entry>> = stored.entries_of(log).cloned().map(Arc::new).collect();
    let segments = stored.segments_of(log);
    // Inherited entries are checked with the source log.
    if segments.iter().all(|segment| segment.lineage.is_none()) {
        check_no_gap(&entries).unwrap_or_else(|violation| panic!("{what}: {violation}"));
        check_links(&entries, &segments).unwrap_or_else(|violation| panic!("{what}: {violation}"));
    }
    check_once(&entries).unwrap_or_else(|violation| panic!("{what}: {violation}"));
    let trimmed: BTreeSet<u32> =
        entries.iter().filter(|e| e.is_trimmed()).map(|e| e.position.segment()).collect();
    if trimmed.is_empty() {
        check_order(&entries).unwrap_or_else(|violation| panic!("{what}: {violation}"));
    }
}
