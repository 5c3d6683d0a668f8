//! Limits a page of a cell history to the size of a response.

use cellar_api::wire::{CellHistoryChange, CellHistoryEntry, MergedView};
use cellar_base::limits::{MAX_REPLY_BYTES, MAX_SPAN_JSON_BYTES};
use cellar_sheet::cell::{Cell, json_text_bytes};

use super::CellHistory;
use super::replay::ChangedEntry;
use super::walk::{VisitedEntry, Walked};

/// Estimated size in bytes of a change in JSON, excluding its texts and spans.
const CHANGE_FRAME_BYTES: usize = 320;
/// Estimated size in bytes of the origin of a merged change in JSON, excluding names.
const MERGED_BYTES: usize = 200;

/// Fills a page with changes. `changed_entries` contains the changes of the newest visited entries,
/// in the same order. If they do not all fit, the next page starts at the first entry that does not
/// fit. The first entry is truncated if it is too large for a page.
pub(super) fn fill_page(
    changed_entries: Vec<ChangedEntry>,
    author: Option<&str>,
    Walked { visited, next }: Walked,
) -> CellHistory {
    let mut page = CellHistory { changes: Vec::new(), truncated: false, next };
    let mut reply_bytes = 0_usize;
    for (index, (entry, changed)) in visited.iter().zip(changed_entries).enumerate() {
        if !entry.is_by(author) {
            continue;
        }
        let changes = views(entry, changed);
        let entry_bytes = changes.iter().map(json_bytes).fold(0, usize::saturating_add);
        let is_first = page.changes.is_empty();
        if !is_first && reply_bytes.saturating_add(entry_bytes) > MAX_REPLY_BYTES {
            page.next = Some(entry.cursor.clone());
            return page;
        }
        for change in changes {
            reply_bytes = reply_bytes.saturating_add(json_bytes(&change));
            if reply_bytes > MAX_REPLY_BYTES && !page.changes.is_empty() {
                page.truncated = true;
                page.next =
                    visited.get(index + 1).map(|entry| entry.cursor.clone()).or(page.next.take());
                return page;
            }
            page.changes.push(change);
        }
    }
    page
}

fn views(entry: &VisitedEntry, changed: ChangedEntry) -> Vec<CellHistoryEntry> {
    let view = |(name, change)| CellHistoryEntry {
        position: entry.cursor.position,
        created_s: entry.created_s,
        author: entry.author.clone(),
        merged: entry.merged.as_ref().map(MergedView::from),
        sheet: entry.cursor.cells.sheet,
        name,
        change,
        recovered: entry.recovered,
    };
    changed.changes.into_iter().map(view).collect()
}

fn json_bytes(entry: &CellHistoryEntry) -> usize {
    let change_bytes = match &entry.change {
        CellHistoryChange::Cell(diff) => cell_bytes(&diff.before) + cell_bytes(&diff.after),
        CellHistoryChange::RowsInserted(spans)
        | CellHistoryChange::ColumnsInserted(spans)
        | CellHistoryChange::RowsDeleted(spans)
        | CellHistoryChange::ColumnsDeleted(spans) => {
            spans.len().saturating_mul(MAX_SPAN_JSON_BYTES)
        }
        CellHistoryChange::SheetAdded | CellHistoryChange::SheetImported => 0,
    };
    let author_bytes = entry.author.as_deref().map_or(0, json_text_bytes);
    let merged_bytes = entry
        .merged
        .as_ref()
        .map_or(0, |merged| MERGED_BYTES + merged.by.as_deref().map_or(0, json_text_bytes));
    CHANGE_FRAME_BYTES + json_text_bytes(&entry.name) + author_bytes + merged_bytes + change_bytes
}

fn cell_bytes(cell: &Cell) -> usize {
    cell.value.json_bytes() + cell.formula.as_deref().map_or(0, json_text_bytes)
}

#[cfg(test)]
mod tests {
    use cellar_api::wire::CellHistoryCursor;
    use cellar_base::position::Position;
    use cellar_sheet::cell::Value;
    use cellar_sheet::operation::{SheetId, Spans};
    use cellar_sheet::tracked_cells::TrackedCells;
    use cellar_sheet::workbook::CellDiff;

    use super::*;

    fn visited(number: u32) -> VisitedEntry {
        let (rows, columns) = (Spans::one(number, 1), Spans::one(0, 1));
        let cells = TrackedCells { sheet: SheetId::FIRST, rows, columns };
        let position = Position::new(0, number).unwrap();
        VisitedEntry {
            cursor: CellHistoryCursor { position, cells, recovered: None },
            created_s: 0,
            author: Some(format!("author {}", number % 2)),
            merged: None,
            operations: Vec::new(),
            recovered: None,
        }
    }

    /// Returns an entry with `count` changes of `bytes` bytes each.
    fn changed(count: usize, bytes: usize) -> ChangedEntry {
        let change = |bytes: usize| {
            let after = Cell { value: Value::Text("x".repeat(bytes)), ..Cell::default() };
            let before = Cell::default();
            CellHistoryChange::Cell(CellDiff { row: 0, column: 0, before, after })
        };
        let frame = json_bytes(&views(&visited(0), entry_of(change(0))).remove(0));
        ChangedEntry { changes: vec![(String::new(), change(bytes - frame)); count] }
    }

    fn entry_of(change: CellHistoryChange) -> ChangedEntry {
        ChangedEntry { changes: vec![(String::new(), change)] }
    }

    /// Returns the entry numbers of the changes on the page, whether the page is truncated, and the
    /// number of the entry at which the next page starts.
    fn page(changed: Vec<ChangedEntry>, author: Option<&str>) -> (Vec<u32>, bool, Option<u32>) {
        let entries = u32::try_from(changed.len()).unwrap();
        let visited: Vec<_> = (10..10 + entries).rev().map(visited).collect();
        let page =
            fill_page(changed, author, Walked { visited, next: Some(self::visited(1).cursor) });
        let numbers = page.changes.iter().map(|change| change.position.entry_number());
        let next = page.next.map(|next| {
            assert_eq!(next, self::visited(next.position.entry_number()).cursor);
            next.position.entry_number()
        });
        (numbers.collect(), page.truncated, next)
    }

    #[test]
    fn entries_that_do_not_fit_are_on_the_next_page() {
        let half = MAX_REPLY_BYTES / 2;
        let fits = vec![changed(1, half), changed(1, MAX_REPLY_BYTES - half)];
        assert_eq!(page(fits, None), (vec![11, 10], false, Some(1)));
        let more = vec![changed(1, half), changed(1, MAX_REPLY_BYTES - half + 1)];
        assert_eq!(page(more, None), (vec![11], false, Some(10)));
        let others = vec![changed(1, half), changed(1, MAX_REPLY_BYTES - half + 1)];
        assert_eq!(page(others, Some("author 0")), (vec![10], false, Some(1)));
    }

    #[test]
    fn the_first_entry_is_truncated_if_it_does_not_fit() {
        let third = MAX_REPLY_BYTES / 3;
        assert_eq!(page(vec![changed(3, third)], None), (vec![10; 3], false, Some(1)));
        assert_eq!(page(vec![changed(4, third)], None), (vec![10; 3], true, Some(1)));
        let large = vec![changed(4, third), changed(1, third)];
        assert_eq!(page(large, None), (vec![11; 3], true, Some(10)));
        let one = vec![changed(2, MAX_REPLY_BYTES + 1)];
        assert_eq!(page(one, None), (vec![10], true, Some(1)));
    }
}
