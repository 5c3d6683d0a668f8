//! What is read: cells, sheets, history and differences.

use cellar_core::operation::ImportSheet;

use super::*;

/// The sheets that an entry imports.
fn imports(entry: &Entry) -> impl Iterator<Item = &ImportSheet> {
    let mutations = entry.edits().into_iter().flat_map(|edits| &edits.mutations);
    let effective = mutations.flat_map(|mutation| match &mutation.committed {
        Some(committed) => committed.as_slice(),
        None => std::slice::from_ref(&mutation.authored),
    });
    effective.filter_map(|operation| match operation {
        Operation::ImportSheet(import) => Some(import),
        _ => None,
    })
}

impl Inner {
    pub(super) fn replay(&self, id: LogId, at: Option<Position>) -> (Workbook, Position) {
        let mut workbook = Workbook::default();
        let at = at.unwrap_or_else(|| self.head(id).head);
        for entry in self.logs[&id].iter().filter(|entry| entry.position <= at) {
            workbook.apply(entry).unwrap();
            for import in imports(entry) {
                workbook.fill(import.sheet, self.cells_of(import)).unwrap();
            }
            if let Content::External(external) = &entry.content {
                let object = self.objects[&external.object.parse().unwrap()].clone().unwrap();
                workbook.apply_operations(&decode_external_body(&object).unwrap()).unwrap();
            }
        }
        (workbook, at)
    }

    pub(super) fn view(&self, entry: &Entry) -> EntryView {
        let mut view = EntryView::from(entry);
        if let (Content::External(external), Some(shown)) = (&entry.content, &mut view.external) {
            shown.url = Some(format!("{}/bucket/{}", self.url, external.object));
        }
        view
    }

    pub(super) fn history(&self, id: LogId, query: &HashMap<String, String>) -> HistoryReply {
        let limit = query.get("limit").map_or(100, |limit| limit.parse().unwrap());
        let from = position(query, "from").unwrap_or(self.head(id).head);
        let mut older = self.logs[&id].iter().rev().filter(|entry| entry.position <= from);
        let entries = older.by_ref().take(limit).map(|entry| self.view(entry)).collect();
        HistoryReply { entries, next: older.next().map(|entry| entry.position) }
    }

    /// A diff with one cell on a page, so that every test of pages has some.
    pub(super) fn diff(&self, id: LogId, query: &HashMap<String, String>) -> DiffReply {
        let (from, to) = (position(query, "from").unwrap(), position(query, "to").unwrap());
        let skip: usize = query.get("skip").map_or(0, |skip| skip.parse().unwrap());
        let mut sheets = self.replay(id, Some(from)).0.diff(&self.replay(id, Some(to)).0).sheets;
        let cells: usize = sheets.iter().map(|sheet| sheet.cells.len()).sum();
        let mut index = 0..;
        for sheet in &mut sheets {
            sheet.cells.retain(|_| index.next() == Some(skip));
        }
        let next = (skip + 1 < cells).then(|| u64::try_from(skip + 1).unwrap());
        DiffReply { from, to, sheets, spans_cut: false, next }
    }

    pub(super) fn sheets(&self, id: LogId, query: &HashMap<String, String>) -> SheetsReply {
        let (workbook, position) = self.replay(id, position(query, "at"));
        let view = |(sheet, of): (SheetId, &cellar_core::workbook::Sheet)| SheetView {
            sheet,
            name: workbook.tabs().name(sheet).unwrap().to_owned(),
            extent: of.extent(),
        };
        let sheets = workbook.sheets().map(view).collect();
        let (epoch, next_sheet) = (self.epochs[&id], workbook.tabs().next_sheet());
        SheetsReply { position, epoch, sheets, next_sheet }
    }

    pub(super) fn cells(
        &self,
        id: LogId,
        query: &HashMap<String, String>,
    ) -> Result<CellsReply, Problem> {
        let (workbook, position) = self.replay(id, position(query, "at"));
        let range = query.get("range").map(|range| range.parse::<Range>().unwrap().rectangle);
        let range = range.unwrap_or(Rectangle::EVERYTHING);
        let from = query.get("from").map(|from| from.parse::<Range>().unwrap().rectangle.first);
        let unknown = || Problem::new(ProblemKind::UnknownSheet, "no such sheet");
        let (id_of_sheet, sheet) = match query.get("sheet") {
            None => workbook.sheets().next().unwrap(),
            Some(name) => {
                let found = workbook.tabs().named(name).ok_or_else(unknown)?;
                (found, workbook.sheet(found).unwrap())
            }
        };
        let mut cells: Vec<PlacedCell> = sheet
            .cells_in(range)
            .filter(|(key, _)| from.is_none_or(|from| *key >= (from.row, from.column)))
            .map(|((row, column), cell)| PlacedCell { row, column, cell })
            .take(PAGE_CELLS + 1)
            .collect();
        let next = (cells.len() > PAGE_CELLS).then(|| {
            let first = cells.pop().unwrap();
            cellar_core::a1::CellName { row: first.row, column: first.column }.to_string()
        });
        Ok(CellsReply {
            sheet: id_of_sheet,
            name: workbook.tabs().name(id_of_sheet).unwrap().to_owned(),
            position,
            epoch: self.epochs[&id],
            extent: sheet.extent(),
            formats: Vec::new(),
            formats_cut: false,
            cells,
            next,
        })
    }
}
