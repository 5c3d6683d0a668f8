//! Finds the imports from which deleted sheets are restored. Their cells need not be copied into the
//! log: an entry can hold only few cells, but an import refers to chunks.

use std::collections::BTreeSet;

use cellar_base::identity::LogId;
use cellar_base::limits::MAX_PAGE_ENTRIES;
use cellar_base::position::Position;
use cellar_log::entry::{Entry, Mutation};
use cellar_sheet::operation::{ImportSheet, Operation, SheetId};
use cellar_sheet::workbook::{
    DeletedSheets, RestorableImport, RestorableImports, Workbook, revert_sheet,
};

use super::changes::ImportedCells;
use super::{LogError, Logs};

/// Maximum number of entries that are searched for imports. The cells of a sheet that was imported
/// earlier are copied.
const MAX_SEARCHED_ENTRIES: usize = 10_000;

#[derive(Debug, Clone, PartialEq)]
struct FoundImport {
    position: Position,
    import: ImportSheet,
    /// Later operations of the same entry on the imported sheet.
    edits: Vec<Operation>,
}

impl Logs {
    /// Returns the imports of the sheets that exist in `before`, which is the state at `position`, but
    /// not in `later`. Sheets that were not imported are omitted.
    pub(super) async fn restorable_imports(
        &self,
        log_id: LogId,
        position: Position,
        before: &Workbook,
        later: &Workbook,
    ) -> Result<RestorableImports, LogError> {
        let is_deleted = |id: SheetId| later.sheet(id).is_none();
        let sheets: BTreeSet<SheetId> = before
            .sheets()
            .filter(|(id, sheet)| is_deleted(*id) && sheet.cell_count() > 0)
            .map(|(id, _)| id)
            .collect();
        let mut restorable = RestorableImports::new();
        for found in self.find_imports(log_id, position, sheets, MAX_SEARCHED_ENTRIES).await? {
            let FoundImport { position: imported_at, import, mut edits } = found;
            let sheet = import.sheet;
            edits.extend(self.edits_of_sheet(log_id, imported_at, position, sheet).await?);
            restorable.insert(sheet, RestorableImport { import, edits });
        }
        Ok(restorable)
    }

    /// Searches backward from `start`. Ends when all sheets are found or `max_entries` were searched.
    async fn find_imports(
        &self,
        log_id: LogId,
        start: Position,
        mut sheets: BTreeSet<SheetId>,
        max_entries: usize,
    ) -> Result<Vec<FoundImport>, LogError> {
        let mut found = Vec::new();
        let mut remaining = max_entries;
        let mut next = Some(start);
        while let Some(page_start) = next
            && !sheets.is_empty()
            && remaining > 0
        {
            let limit = u32::try_from(remaining).unwrap_or(u32::MAX).min(MAX_PAGE_ENTRIES);
            let history = self.history(log_id, Some(page_start), limit).await?;
            for entry in &history.entries {
                found.extend(take_imports(entry, &mut sheets));
            }
            remaining = remaining.saturating_sub(history.entries.len());
            next = history.next;
        }
        Ok(found)
    }

    /// Returns the operations that lead from a sheet right after its import to the same sheet at
    /// `until`.
    async fn edits_of_sheet(
        &self,
        log_id: LogId,
        imported_at: Position,
        until: Position,
        sheet: SheetId,
    ) -> Result<Vec<Operation>, LogError> {
        if imported_at >= until {
            return Ok(Vec::new());
        }
        let changes =
            self.read_changes_with(log_id, imported_at, until, ImportedCells::Omit).await?;
        let (imported, edited) = (&changes.before, changes.state_after()?);
        let nothing_known = DeletedSheets::default();
        let reversal = revert_sheet(&edited, imported, sheet, &nothing_known).unwrap_or_default();
        let is_of_contents =
            |operation: &Operation| !matches!(operation, Operation::RenameSheet(_));
        Ok(reversal.operations.into_iter().filter(is_of_contents).collect())
    }
}

/// Returns the imports of these sheets, and removes all sheets that the entry added.
fn take_imports(entry: &Entry, sheets: &mut BTreeSet<SheetId>) -> Vec<FoundImport> {
    let Some(edits) = entry.edits() else { return Vec::new() };
    let operations: Vec<&Operation> =
        edits.mutations.iter().flat_map(Mutation::committed_operations).collect();
    let mut found = Vec::new();
    for (index, operation) in operations.iter().enumerate() {
        match operation {
            Operation::AddSheet(add) => {
                sheets.remove(&add.sheet);
            }
            Operation::ImportSheet(import) if sheets.remove(&import.sheet) => {
                let later_operations = operations.iter().skip(index.saturating_add(1)).copied();
                let on_sheet = later_operations.filter(|later| later.sheet() == Some(import.sheet));
                found.push(FoundImport {
                    position: entry.position,
                    import: import.clone(),
                    edits: on_sheet.cloned().collect(),
                });
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cellar_base::identity::ClientKey;
    use cellar_log::append::{NewMutation, Request};
    use cellar_log::entry::{Content, Edits, FIRST_INCARNATION};
    use cellar_sheet::metadata::Extent;
    use cellar_sheet::operation::random::import_of;

    use super::*;
    use crate::logs::tests::{at, log, logs, set};
    use crate::memory::MemoryTables;

    fn request(id: u64, base: Position, operation: Operation) -> Request {
        let mutations = vec![NewMutation { id, base, operation }];
        Request::new(log(), ClientKey([1; 8]), None, FIRST_INCARNATION, id - 1, mutations).unwrap()
    }

    #[tokio::test]
    async fn searches_a_limited_number_of_entries_back() {
        let logs = logs(&Arc::new(MemoryTables::default()));
        logs.create(log(), None).await.unwrap();
        let import = import_of(Extent::default());
        let imported = request(1, at(0, 0), Operation::ImportSheet(import.clone()));
        logs.append_unchecked(imported).await.unwrap();
        for (id, base) in (2..).zip(1..4) {
            logs.append(request(id, at(0, base), set(0, "x"))).await.unwrap();
        }
        let wanted = BTreeSet::from([import.sheet]);
        for (max_entries, is_found) in [(0, false), (3, false), (4, true), (5, true)] {
            let found =
                logs.find_imports(log(), at(0, 4), wanted.clone(), max_entries).await.unwrap();
            assert_eq!(!found.is_empty(), is_found, "{max_entries}");
        }
        let other = BTreeSet::from([SheetId(7)]);
        assert_eq!(logs.find_imports(log(), at(0, 4), other, 9).await, Ok(vec![]));
    }

    #[test]
    fn takes_the_import_and_later_operations_of_its_entry() {
        let import = import_of(Extent::default());
        let on_import = |row| match set(row, "x") {
            Operation::SetCells(set) => Operation::SetCells(cellar_sheet::operation::SetCells {
                sheet: import.sheet,
                ..set
            }),
            other => panic!("{other:?}"),
        };
        let operations =
            vec![on_import(1), Operation::ImportSheet(import.clone()), on_import(2), set(3, "y")];
        let mutation =
            Mutation { base: Position::FIRST, authored: set(0, "x"), committed: Some(operations) };
        let edits = Edits {
            client: ClientKey([1; 8]),
            name: None,
            merged: None,
            first_id: 1,
            mutations: vec![mutation],
        };
        let first = Entry::first(log(), None, 0);
        let entry = Entry { position: at(0, 1), content: Content::Edits(edits), ..first };
        let mut sheets = BTreeSet::from([import.sheet, SheetId(9)]);
        let edits = vec![on_import(2)];
        let found = FoundImport { position: at(0, 1), import, edits };
        assert_eq!(take_imports(&entry, &mut sheets), [found]);
        assert_eq!(sheets, BTreeSet::from([SheetId(9)]));
        assert_eq!(take_imports(&entry, &mut sheets), []);
    }
}
