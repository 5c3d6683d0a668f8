//! Finds cells and filters rows.

use cellar_api::wire::{CellAt, FilterReply, FindCursor, FindReply, FoundCell};
use cellar_base::position::Position;
use cellar_sheet::a1::CellName;
use cellar_sheet::exact_sum::ExactSum;
use reqwest::Method;
use serde::de::DeserializeOwned;

use super::Spreadsheet;
use super::pages::{CellsCursor, ItemStream, Page, read_pages};
use crate::ClientError;

/// Selects the cells of [`Spreadsheet::find`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct FindQuery {
    /// Text that the displayed texts of the cells contain, in upper or lower case.
    pub text: String,
    /// Whether `text` is a regular expression. Case then matters, unless it starts with `(?i)`.
    pub regex: bool,
    /// Sheet name. If `None`, the sheet of the range, or all sheets.
    pub sheet: Option<String>,
    /// Range in A1 notation. If `None`, all cells.
    pub range: Option<String>,
    /// Position to read at. If `None`, the newest position.
    pub at: Option<Position>,
    /// The server searches the cells at this position or a later one.
    pub min_position: Option<Position>,
}

impl FindQuery {
    /// Creates a query for the cells of all sheets whose texts contain a text.
    #[must_use]
    pub fn of_text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Creates a query for the cells of all sheets in whose texts a regular expression matches.
    #[must_use]
    pub fn of_regex(pattern: impl Into<String>) -> Self {
        Self { text: pattern.into(), regex: true, ..Self::default() }
    }

    /// Searches only this range, such as `A:C` or `Costs!A1:B9`. Without a sheet, the range of each
    /// sheet is searched.
    #[must_use]
    pub fn in_range(self, range: impl Into<String>) -> Self {
        Self { range: Some(range.into()), ..self }
    }

    /// Searches only the sheet with this name.
    #[must_use]
    pub fn in_sheet(self, name: impl Into<String>) -> Self {
        Self { sheet: Some(name.into()), ..self }
    }

    /// Searches at the given position instead of the newest one.
    #[must_use]
    pub fn at_position(self, position: Position) -> Self {
        Self { at: Some(position), ..self }
    }
}

/// Selects the rows of [`Spreadsheet::filter`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct FilterQuery {
    /// Conditions such as `D=TX && F>=1000`. [`crate::condition`] describes them.
    pub conditions: String,
    /// Column whose numbers [`Spreadsheet::filter_totals`] adds up, such as `F`.
    pub sum: Option<String>,
    /// Sheet name. If `None`, the sheet of the range or the first sheet.
    pub sheet: Option<String>,
    /// Range in A1 notation: the rows to test and the columns to return. If `None`, all cells.
    pub range: Option<String>,
    /// Position to read at. If `None`, the newest position.
    pub at: Option<Position>,
    /// The server reads the cells at this position or a later one.
    pub min_position: Option<Position>,
}

impl FilterQuery {
    /// Creates a query for the rows of the first sheet that fulfil conditions, such as `D=TX`.
    #[must_use]
    pub fn of(conditions: impl Into<String>) -> Self {
        Self { conditions: conditions.into(), ..Self::default() }
    }

    /// Adds up the numbers of a column, such as `F`.
    #[must_use]
    pub fn with_sum(self, column: impl Into<String>) -> Self {
        Self { sum: Some(column.into()), ..self }
    }

    /// Tests the rows of this range and returns its columns.
    #[must_use]
    pub fn in_range(self, range: impl Into<String>) -> Self {
        Self { range: Some(range.into()), ..self }
    }

    /// Selects the sheet with this name.
    #[must_use]
    pub fn in_sheet(self, name: impl Into<String>) -> Self {
        Self { sheet: Some(name.into()), ..self }
    }

    /// Reads at the given position instead of the newest one.
    #[must_use]
    pub fn at_position(self, position: Position) -> Self {
        Self { at: Some(position), ..self }
    }
}

/// The cells whose displayed texts contain a text, counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FindTotals {
    /// Position of the state that was read.
    pub position: Position,
    /// Number of cells.
    pub cells: u64,
    /// Number of stale cells that were compared. Their values are older than their formulas, so
    /// `cells` may be wrong.
    pub stale_cells: u64,
}

/// The rows that fulfil conditions, counted and added up.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct FilterTotals {
    /// Position of the state that was read.
    pub position: Position,
    /// Number of rows.
    pub rows: u64,
    /// Number of stale cells that were compared with a condition. Their values are older than their
    /// formulas, so `rows` and `sum` may be wrong.
    pub stale_cells: u64,
    /// Number of numbers in the column to add up. Other values are not added.
    pub numbers: u64,
    /// Number of stale cells in the column to add up. Their values are added if they are numbers.
    pub stale_summed: u64,
    /// Sum of these numbers, rounded once: it depends neither on the order of the rows nor on pages.
    /// `None` if it is larger than the largest number.
    pub sum: Option<f64>,
}

/// The request of a page, which finding and filtering have in common.
#[derive(Debug, Clone)]
struct SearchRequest {
    /// Last segment of the path.
    path_end: &'static str,
    /// Parameters that only one of both has.
    own_parameters: [(&'static str, Option<String>); 2],
    sheet: Option<String>,
    range: Option<String>,
    at: Option<Position>,
    min_position: Option<Position>,
    count_only: bool,
}

impl SearchRequest {
    fn find(query: FindQuery, count_only: bool) -> Self {
        let FindQuery { text, regex, sheet, range, at, min_position } = query;
        let regex = regex.then(|| "true".to_owned());
        let own_parameters = [("text", Some(text)), ("regex", regex)];
        Self { path_end: "find", own_parameters, sheet, range, at, min_position, count_only }
    }

    fn filter(query: FilterQuery, count_only: bool) -> Self {
        let FilterQuery { conditions, sum, sheet, range, at, min_position } = query;
        let own_parameters = [("where", Some(conditions)), ("sum", sum)];
        Self { path_end: "filter", own_parameters, sheet, range, at, min_position, count_only }
    }
}

/// A page of cells that were found.
trait SearchPage: Page<Cursor = CellsCursor> + DeserializeOwned {
    /// Returns the position and incarnation of the state that was read.
    fn read_at(&self) -> (Position, u32);
}

impl Spreadsheet {
    /// Returns the cells whose displayed texts contain a text, in the order of sheets, rows and columns.
    /// All pages are read at the position of the first page.
    pub fn find(&self, query: FindQuery) -> ItemStream<FoundCell> {
        self.find_pages(query).into_items(|page| page.cells)
    }

    /// Like [`Spreadsheet::find`], but returns whole pages. A page may be empty.
    pub fn find_pages(&self, query: FindQuery) -> ItemStream<FindReply> {
        self.search_pages(SearchRequest::find(query, false))
    }

    /// Counts the cells whose displayed texts contain a text, without reading them.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if a request fails.
    pub async fn count_found(&self, query: FindQuery) -> Result<FindTotals, ClientError> {
        let mut pages: ItemStream<FindReply> = self.search_pages(SearchRequest::find(query, true));
        let mut totals = FindTotals { position: Position::FIRST, cells: 0, stale_cells: 0 };
        while let Some(page) = pages.try_next().await? {
            totals.position = page.position;
            totals.cells = totals.cells.saturating_add(page.count);
            totals.stale_cells = totals.stale_cells.saturating_add(page.stale_cells);
        }
        Ok(totals)
    }

    /// Returns the cells of the rows that fulfil conditions, ordered by row and column. All pages are
    /// read at the position of the first page.
    pub fn filter(&self, query: FilterQuery) -> ItemStream<CellAt> {
        self.filter_pages(query).into_items(|page| page.cells)
    }

    /// Like [`Spreadsheet::filter`], but returns whole pages. A page may be empty.
    pub fn filter_pages(&self, query: FilterQuery) -> ItemStream<FilterReply> {
        self.search_pages(SearchRequest::filter(query, false))
    }

    /// Counts the rows that fulfil conditions and adds up a column, without reading the rows.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if a request fails.
    pub async fn filter_totals(&self, query: FilterQuery) -> Result<FilterTotals, ClientError> {
        let mut pages: ItemStream<FilterReply> =
            self.search_pages(SearchRequest::filter(query, true));
        let mut totals = FilterTotals {
            position: Position::FIRST,
            rows: 0,
            stale_cells: 0,
            numbers: 0,
            stale_summed: 0,
            sum: None,
        };
        let mut sum = ExactSum::default();
        while let Some(page) = pages.try_next().await? {
            totals.position = page.position;
            totals.rows = totals.rows.saturating_add(page.rows);
            totals.stale_cells = totals.stale_cells.saturating_add(page.stale_cells);
            if let Some(page_sum) = page.sum {
                totals.numbers = totals.numbers.saturating_add(page_sum.numbers);
                totals.stale_summed = totals.stale_summed.saturating_add(page_sum.stale_cells);
                sum.add_parts(&page_sum.parts, page_sum.too_large);
            }
        }
        totals.sum = sum.total();
        Ok(totals)
    }

    fn search_pages<P: SearchPage>(&self, request: SearchRequest) -> ItemStream<P> {
        read_pages(self.client.url(), self, None, move |spreadsheet, cursor| {
            let request = request.clone();
            async move { spreadsheet.search_page(request, cursor).await }
        })
    }

    async fn search_page<P: SearchPage>(
        &self,
        request: SearchRequest,
        cursor: Option<CellsCursor>,
    ) -> Result<P, ClientError> {
        let at = cursor.as_ref().and_then(|cursor| cursor.at).or(request.at);
        let mut call = self.call(Method::GET).with_segment("cells").with_segment(request.path_end);
        for (name, value) in request.own_parameters {
            call = call.with_text(name, value);
        }
        let call = call
            .with_text("sheet", request.sheet)
            .with_text("range", request.range)
            .with_text("count_only", request.count_only.then(|| "true".to_owned()))
            .with_position("at", at)
            .with_text("cursor", cursor.map(|cursor| cursor.cursor))
            .with_position("min_position", request.min_position);
        let page: P = self.client.transport.send(call).await?;
        let (position, incarnation) = page.read_at();
        self.check_read(at, position, incarnation)?;
        Ok(page)
    }
}

impl SearchPage for FindReply {
    fn read_at(&self) -> (Position, u32) {
        (self.position, self.incarnation)
    }
}

impl SearchPage for FilterReply {
    fn read_at(&self) -> (Position, u32) {
        (self.position, self.incarnation)
    }
}

impl Page for FindReply {
    type Cursor = CellsCursor;

    fn next_cursor(&self) -> Option<CellsCursor> {
        CellsCursor::after_page(self.position, self.next.as_ref())
    }

    /// Sheets are searched in tab order, which the client does not know.
    fn advances(&self, start: Option<&CellsCursor>) -> bool {
        let place = |cell: &FoundCell| FindCursor { sheet: cell.sheet, cell: cell.cell_name() };
        let is_after = |later: FindCursor, earlier: Option<FindCursor>| {
            earlier.is_none_or(|earlier| later.sheet != earlier.sheet || later > earlier)
        };
        let start = start.and_then(|start| start.cursor.parse::<FindCursor>().ok());
        if self.cells.first().is_some_and(|first| {
            let first = place(first);
            start != Some(first) && !is_after(first, start)
        }) {
            return false;
        }
        let Some(next) = &self.next else { return true };
        let Ok(next) = next.parse::<FindCursor>() else { return false };
        is_after(next, start) && is_after(next, self.cells.last().map(place))
    }
}

impl Page for FilterReply {
    type Cursor = CellsCursor;

    fn next_cursor(&self) -> Option<CellsCursor> {
        CellsCursor::after_page(self.position, self.next.as_ref())
    }

    /// The cursor is the first cell of the next page. The cells are in row-major order.
    fn advances(&self, start: Option<&CellsCursor>) -> bool {
        let start = start.and_then(|start| start.cursor.parse::<CellName>().ok());
        let first = self.cells.first().map(CellAt::name);
        if first.is_some() && first < start {
            return false;
        }
        let Some(next) = &self.next else { return true };
        let Ok(next) = next.parse::<CellName>() else { return false };
        Some(next) > start && Some(next) > self.cells.last().map(CellAt::name)
    }
}

#[cfg(test)]
mod tests {
    use cellar_sheet::cell::Cell;
    use cellar_sheet::operation::SheetId;

    use super::*;

    fn cursor(text: &str) -> CellsCursor {
        CellsCursor { at: Some(Position::FIRST), cursor: text.to_owned() }
    }

    fn name(text: &str) -> CellName {
        text.parse().unwrap()
    }

    fn found(cells: &[&str], next: Option<&str>) -> FindReply {
        let found_cell = |place: &&str| {
            let FindCursor { sheet, cell } = place.parse().unwrap();
            let cell = CellAt::new(cell.row, cell.column, Cell::default());
            FoundCell { sheet, name: String::new(), cell }
        };
        FindReply {
            position: Position::FIRST,
            incarnation: 0,
            count: 0,
            stale_cells: 0,
            cells: cells.iter().map(found_cell).collect(),
            next: next.map(str::to_owned),
        }
    }

    fn filtered(cells: &[&str], next: Option<&str>) -> FilterReply {
        let cell_at = |place: &&str| {
            let CellName { row, column } = name(place);
            CellAt::new(row, column, Cell::default())
        };
        FilterReply {
            sheet: SheetId::FIRST,
            name: String::new(),
            position: Position::FIRST,
            incarnation: 0,
            rows: 0,
            stale_cells: 0,
            sum: None,
            cells: cells.iter().map(cell_at).collect(),
            next: next.map(str::to_owned),
        }
    }

    #[test]
    fn found_pages_must_advance() {
        let start = cursor("5~B7");
        for good in [
            found(&[], None),
            found(&["5~B7", "5~C7"], Some("5~D7")),
            found(&[], Some("5~A8")),
            found(&["5~C7", "2~A1"], Some("2~A2")),
            found(&[], Some("2~A1")),
        ] {
            assert!(good.advances(Some(&start)) && good.advances(None), "{good:?}");
        }
        for bad in [
            found(&["5~A7"], None),
            found(&[], Some("5~B7")),
            found(&["5~C7"], Some("5~C7")),
            found(&[], Some("B8")),
        ] {
            assert!(!bad.advances(Some(&start)), "{bad:?}");
        }
    }

    #[test]
    fn filtered_pages_must_advance() {
        let start = cursor("B7");
        for good in
            [filtered(&[], None), filtered(&["B7", "C7"], Some("D7")), filtered(&[], Some("A8"))]
        {
            assert!(good.advances(Some(&start)) && good.advances(None), "{good:?}");
        }
        for bad in [
            filtered(&["A7"], None),
            filtered(&[], Some("B7")),
            filtered(&["C7"], Some("C7")),
            filtered(&[], Some("5~B8")),
        ] {
            assert!(!bad.advances(Some(&start)), "{bad:?}");
        }
    }
}
