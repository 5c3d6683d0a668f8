//! Reads: cells, sheets, history and differences.

use cellar_api::{wire::ChunksReply, wire::ChunksRequest};
use cellar_sheet::operation::ImportSheet;

use super::*;

/// Returns the imported sheets of an entry.
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

impl Fake {
    /// Restores a spreadsheet after this number of loads.
    pub(crate) fn restore_after_loads(&self, id: LogId, loads: usize) {
        self.lock().restore = Some((id, loads));
    }

    /// Returns the names and cells of all sheets.
    pub(crate) fn sheets(&self, id: LogId) -> Vec<(String, Cells)> {
        let (workbook, _) = self.lock().replay(id, None);
        let cells = workbook.sheets().map(|(id, sheet)| {
            let name = workbook.tabs().name(id).unwrap().to_owned();
            (name, sheet.cells_in(Rectangle::EVERYTHING).collect())
        });
        cells.collect()
    }
}

impl Inner {
    /// Records a load, and restores the spreadsheet if it is due.
    pub(super) fn record_load(&mut self, id: LogId) {
        match &mut self.restore {
            Some((of, loads)) if *of == id && *loads > 0 => *loads -= 1,
            _ => return,
        }
        if self.restore == Some((id, 0)) {
            *self.incarnations.get_mut(&id).unwrap() += 1;
        }
    }

    pub(super) fn replay(&self, id: LogId, at: Option<Position>) -> (Workbook, Position) {
        let mut workbook = Workbook::default();
        let at = at.unwrap_or_else(|| self.head(id).head);
        for entry in self.logs[&id].iter().filter(|entry| entry.position <= at) {
            entry.apply_to(&mut workbook).unwrap();
            for import in imports(entry) {
                workbook.fill_import(import, self.cells_of(import)).unwrap();
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
        if let (Content::External(external), Some(shown)) =
            (&entry.content, &mut view.external_body)
        {
            shown.url = Some(format!("{}/bucket/{}", self.url, external.object));
        }
        view
    }

    pub(super) fn chunk_urls(&self, id: LogId, request: &ChunksRequest) -> ChunksReply {
        let url = |hash| format!("{}/chunks/{id}/{hash}?signature=secret", self.url);
        ChunksReply { urls: request.hashes.iter().map(url).collect(), expires_s: 1_700_000_900 }
    }

    pub(super) fn chunk(
        &mut self,
        method: &Method,
        key: &str,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Response {
        match *method {
            Method::GET => self.get_chunk(key, headers),
            _ => self.put_chunk(key, headers, body),
        }
    }

    fn get_chunk(&self, key: &str, headers: &HeaderMap) -> Response {
        assert!(!headers.contains_key("authorization"), "the token went to the bucket");
        let hash = key.split('/').nth(1).unwrap().parse::<ChunkHash>().unwrap();
        match self.chunks.get(&hash) {
            Some(chunk) => chunk.stored.clone().into_response(),
            None => (StatusCode::NOT_FOUND, "<Code>NoSuchKey</Code>").into_response(),
        }
    }

    pub(super) fn history(&self, id: LogId, query: &HashMap<String, String>) -> HistoryReply {
        let limit = query.get("limit").map_or(100, |limit| limit.parse().unwrap());
        let from = position(query, "until").unwrap_or(self.head(id).head);
        let mut older = self.logs[&id].iter().rev().filter(|entry| entry.position <= from);
        let entries = older.by_ref().take(limit).map(|entry| self.view(entry)).collect();
        HistoryReply { entries, next: older.next().map(|entry| entry.position) }
    }

    /// Returns a diff with one cell per page.
    pub(super) fn diff(&self, id: LogId, query: &HashMap<String, String>) -> DiffReply {
        let (from, to) = (position(query, "from").unwrap(), position(query, "to").unwrap());
        let skip: usize = query.get("cursor").map_or(0, |skip| skip.parse().unwrap());
        let mut sheets = self.replay(id, Some(from)).0.diff(&self.replay(id, Some(to)).0).sheets;
        let cells: usize = sheets.iter().map(|sheet| sheet.cells.len()).sum();
        let mut index = 0..;
        for sheet in &mut sheets {
            sheet.cells.retain(|_| index.next() == Some(skip));
        }
        let next = (skip + 1 < cells).then(|| u64::try_from(skip + 1).unwrap());
        let (names, order) = (Vec::new(), None);
        let (spans_truncated, formulas_incomplete) = (false, false);
        DiffReply { from, to, sheets, names, order, spans_truncated, formulas_incomplete, next }
    }

    pub(super) fn sheets(&self, id: LogId, query: &HashMap<String, String>) -> SheetsReply {
        let (workbook, position) = self.replay(id, position(query, "at"));
        let view = |(sheet, of): (SheetId, cellar_sheet::workbook::SheetReader<'_>)| SheetView {
            sheet,
            name: workbook.tabs().name(sheet).unwrap().to_owned(),
            extent: of.extent(),
        };
        let sheets = workbook.sheets().map(view).collect();
        let (incarnation, next_sheet) = (self.incarnations[&id], workbook.tabs().next_sheet());
        let names = NameView::of(&workbook.metadata());
        SheetsReply { position, incarnation, sheets, next_sheet, names }
    }

    pub(super) fn cells(
        &self,
        id: LogId,
        query: &HashMap<String, String>,
    ) -> Result<CellsReply, Problem> {
        let (workbook, position) = self.replay(id, position(query, "at"));
        let range = query.get("range").map(|range| range.parse::<Range>().unwrap().rectangle);
        let range = range.unwrap_or(Rectangle::EVERYTHING);
        let from = query.get("cursor").map(|from| from.parse::<Range>().unwrap().rectangle.first);
        let unknown = || Problem::new(ProblemKind::SheetNotFound, "no such sheet");
        let (id_of_sheet, sheet) = match query.get("sheet") {
            None => workbook.sheets().next().unwrap(),
            Some(name) => {
                let found = workbook.tabs().named(name).ok_or_else(unknown)?;
                (found, workbook.sheet(found).unwrap())
            }
        };
        let mut cells: Vec<CellAt> = sheet
            .cells_in(range)
            .filter(|(key, _)| from.is_none_or(|from| *key >= (from.row, from.column)))
            .map(|((row, column), cell)| CellAt::new(row, column, cell))
            .take(PAGE_CELLS + 1)
            .collect();
        let next = (cells.len() > PAGE_CELLS).then(|| {
            let first = cells.pop().unwrap();
            cellar_sheet::a1::CellName { row: first.row, column: first.column }.to_string()
        });
        Ok(CellsReply {
            sheet: id_of_sheet,
            name: workbook.tabs().name(id_of_sheet).unwrap().to_owned(),
            position,
            incarnation: self.incarnations[&id],
            extent: sheet.extent(),
            formats: Vec::new(),
            formats_truncated: false,
            cells,
            next,
        })
    }
}
