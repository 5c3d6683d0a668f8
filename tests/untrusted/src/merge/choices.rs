//! Derives operations from bytes: any bytes are valid.

use cellar_sheet::axis_map::Axis;
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{
    AddSheet, CellEdit, ClearRange, DeleteSheet, DeleteSpans, InsertBefore, Operation, SetCells,
    SetFormat, SheetId, Span, Spans,
};

/// Bytes below this value are small numbers; other bytes announce a large one.
const SMALL: u8 = 0xF0;
/// Number of rows and columns that most operations use, so that operations overlap.
const SIDE: u32 = 16;

/// A stream of bytes, followed by zeros.
pub(super) struct Choices<'a>(pub(super) &'a [u8]);

impl Choices<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    pub(super) fn number(&mut self) -> u32 {
        u32::from_le_bytes([self.byte(), self.byte(), self.byte(), self.byte()])
    }

    /// Returns a row or column index, mostly a small one.
    fn index(&mut self, axis: Axis) -> u32 {
        match self.byte() {
            small if small < SMALL => u32::from(small) % SIDE,
            0xFF => axis.limit() - 1 - u32::from(self.byte()),
            _ => self.number() % axis.limit(),
        }
    }

    fn sheet(&mut self) -> SheetId {
        SheetId(u32::from(self.byte() / 0x60))
    }

    fn spans(&mut self, axis: Axis) -> Spans {
        let count = self.byte() % 4;
        if count == 0 {
            return Spans::all(axis);
        }
        let span = |_| Span { first: self.index(axis), count: u32::from(self.byte() % 8) + 1 };
        let mut spans: Vec<Span> = (0..count).map(span).collect();
        spans.sort_unstable_by_key(|span| span.first);
        Spans::from_sorted(spans)
    }

    fn cell(&mut self) -> CellEdit {
        let (row, column) = (self.index(Axis::Rows), self.index(Axis::Columns));
        let kind = self.byte();
        let value = match kind & 7 {
            0 => None,
            1 => Some(Value::Empty),
            2 => Some(Value::Bool(kind & 8 != 0)),
            3 => Some(Value::Text("text ".repeat(usize::from(self.byte())))),
            _ => Some(Value::Number(f64::from(self.byte()))),
        };
        let formula = (value.is_some() && kind & 16 != 0).then(|| "=1+1".to_owned());
        let format = match (&value, kind & 0x60) {
            (None, _) => Some(self.format()),
            (Some(_), 0x60) => Some(self.format()),
            _ => None,
        };
        CellEdit { row, column, value, formula, format }
    }

    fn format(&mut self) -> String {
        let format = match self.byte() & 3 {
            0 => "General",
            1 => "0.0",
            2 => "0.00",
            _ => "yyyy-mm-dd",
        };
        format.to_owned()
    }

    fn insert(&mut self, axis: Axis) -> InsertBefore {
        let (sheet, before) = (self.sheet(), self.index(axis));
        InsertBefore { sheet, before, count: u32::from(self.byte()) % SIDE + 1 }
    }

    fn delete(&mut self, axis: Axis) -> DeleteSpans {
        DeleteSpans { sheet: self.sheet(), spans: self.spans(axis) }
    }

    /// Returns cells in consecutive rows, so that a level has more than one tile.
    fn column(&mut self) -> SetCells {
        let (sheet, first, column) =
            (self.sheet(), self.index(Axis::Rows), self.index(Axis::Columns));
        let (count, plus) = (u32::from(self.byte()), self.byte());
        let rows = first..first.saturating_add(count).min(Axis::Rows.limit());
        let cell = |row| {
            let value = Some(Value::Number(f64::from(row % 100) + f64::from(plus)));
            CellEdit { row, column, value, formula: None, format: None }
        };
        SetCells { sheet, cells: rows.map(cell).collect() }
    }

    /// Returns the next operation, or `None` if it is invalid.
    pub(super) fn operation(&mut self) -> Option<Operation> {
        let operation = match self.byte() % 16 {
            0..=2 => {
                let (sheet, count) = (self.sheet(), self.byte() % 6 + 1);
                let cells = (0..count).map(|_| self.cell()).collect();
                Operation::SetCells(SetCells { sheet, cells })
            }
            3 | 4 => Operation::SetCells(self.column()),
            5 | 6 => Operation::ClearRange(ClearRange {
                sheet: self.sheet(),
                rows: self.spans(Axis::Rows),
                columns: self.spans(Axis::Columns),
            }),
            7 => Operation::SetFormat(SetFormat {
                sheet: self.sheet(),
                rows: self.spans(Axis::Rows),
                columns: self.spans(Axis::Columns),
                format: self.format(),
            }),
            8 | 9 => Operation::InsertRows(self.insert(Axis::Rows)),
            10 | 11 => Operation::DeleteRows(self.delete(Axis::Rows)),
            12 => Operation::InsertColumns(self.insert(Axis::Columns)),
            13 => Operation::DeleteColumns(self.delete(Axis::Columns)),
            14 => Operation::AddSheet(AddSheet {
                sheet: self.sheet(),
                name: "Sheet".to_owned(),
                before: None,
            }),
            _ => Operation::DeleteSheet(DeleteSheet { sheet: self.sheet() }),
        };
        operation.validated().ok()
    }
}
