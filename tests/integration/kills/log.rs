//! The stored entries of a log, and their plain replay.

use std::collections::BTreeMap;
use std::sync::Arc;

use cellar_base::identity::{ClientKey, LogId};
use cellar_base::limits::{MAX_COLUMNS, MAX_ROWS};
use cellar_base::position::Position;
use cellar_engine::ports::{Entries, ReadConsistency};
use cellar_log::entry::{Content, Entry};
use cellar_sheet::a1::{CellName, Rectangle};
use cellar_sheet::cell::Cell;
use cellar_sheet::operation::SheetId;
use cellar_sheet::workbook::Workbook;

use super::writer::Acknowledged;

pub(crate) struct Log {
    pub(super) id: LogId,
    pub(crate) entries: Vec<Arc<Entry>>,
}

impl Log {
    /// Reads the entries from the table.
    pub(crate) async fn read(tables: &dyn Entries, id: LogId) -> Self {
        let (mut entries, mut from) = (Vec::<Arc<Entry>>::new(), Position::FIRST);
        loop {
            let page = tables.page(id, from, ReadConsistency::Strong).await.unwrap();
            let Some(last) = page.entries.last() else { break };
            from = last.next_position().unwrap();
            entries.extend(page.entries);
        }
        for pair in entries.windows(2) {
            assert_eq!(pair[0].next_position(), Some(pair[1].position), "no gap");
        }
        Self { id, entries }
    }

    /// Returns the position of the newest entry.
    pub(crate) fn head(&self) -> Position {
        self.entries.last().unwrap().position
    }

    /// Returns the Snapshot entries after the first entry, which has no snapshot, with their roots.
    pub(super) fn snapshots(&self) -> Vec<(Position, Option<&String>)> {
        let snapshots = self.entries.iter().skip(1).filter_map(|entry| match &entry.content {
            Content::Snapshot { root, .. } => Some((entry.position, root.as_ref())),
            _ => None,
        });
        snapshots.collect()
    }

    /// Returns each client's edits in log order.
    pub(super) fn edits(&self) -> Vec<Vec<Acknowledged>> {
        let mut edits: BTreeMap<ClientKey, Vec<Acknowledged>> = BTreeMap::new();
        for entry in &self.entries {
            let Some(batch) = entry.edits() else { continue };
            for (id, mutation) in (batch.first_id..).zip(&batch.mutations) {
                let (position, operation) = (entry.position, mutation.authored.clone());
                let edit = Acknowledged { position, id, operation };
                edits.entry(batch.client).or_default().push(edit);
            }
        }
        edits.into_values().collect()
    }

    /// Returns all cells of the first sheet at each of these positions, by a replay of all entries.
    pub(super) fn replayed(&self, at: &[Position]) -> Vec<Vec<((u32, u32), Cell)>> {
        let first = CellName { row: 0, column: 0 };
        let last = CellName { row: MAX_ROWS - 1, column: MAX_COLUMNS - 1 };
        let everything = Rectangle { first, last };
        let (mut workbook, mut states) = (Workbook::default(), Vec::new());
        for entry in &self.entries {
            entry.apply_to(&mut workbook).unwrap();
            if at.contains(&entry.position) {
                let sheet = workbook.sheet(SheetId::FIRST).unwrap();
                states.push(sheet.cells_in(everything).collect());
            }
        }
        states
    }
}
