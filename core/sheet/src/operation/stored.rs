//! Stored encoding of operations in log entries.
//!
//! Existing logs depend on this encoding. Variants may be added at the end but never changed, as
//! the golden files in `tests/golden/` verify. The types are not recursive, so malformed input
//! cannot cause deep recursion in the decoder.

use serde::{Deserialize, Serialize};

use super::stored_cells::StoredSetCells;
use super::stored_import::{StoredImport, StoredImportWithFormulas, stored_import};
use super::stored_name::StoredName;
use super::{
    AddSheet, ClearRange, DeleteSheet, DeleteSpans, InsertBefore, Operation, Rejection,
    RejectionReason, RenameSheet, Revert, SetFormat, Undo, UnreadableOperation,
};
use cellar_base::limits::{
    MAX_FORMAT_BYTES, MAX_REJECTION_BYTES, MAX_SHEET_NAME_CHARACTERS, MAX_SPANS,
};
use cellar_base::position::Position;
use cellar_grid::Axis;
use cellar_grid::SheetId;
use cellar_grid::{Span, Spans};

/// Stored encoding of an operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum StoredOperation {
    SetCells(StoredSetCells),
    ClearRange(StoredRange),
    InsertRows(StoredInsert),
    DeleteRows(StoredDelete),
    InsertColumns(StoredInsert),
    DeleteColumns(StoredDelete),
    /// [`Operation::AddSheet`]: number and name of the sheet.
    AddSheet(u32, String),
    /// [`Operation::RenameSheet`]: number and new name of the sheet.
    RenameSheet(u32, String),
    /// [`Operation::DeleteSheet`]: number of the sheet.
    DeleteSheet(u32),
    /// [`Operation::SetFormat`]: range and number format.
    SetFormat(StoredRange, String),
    /// [`Operation::Undo`]: packed position of the entry.
    Undo(u64),
    /// [`Operation::Rejected`]: number of the reason, and detail.
    Rejected(u8, String),
    ImportSheet(StoredImport),
    /// [`Operation::Revert`] of all sheets: packed position.
    Revert(u64),
    /// [`Operation::AddSheet`] before another sheet: number and name of the sheet, and number of the
    /// next sheet.
    AddSheetBefore(u32, String, u32),
    /// [`Operation::Revert`] of a sheet or range.
    RevertPart(StoredRevertPart),
    SetName(StoredName),
    /// [`Operation::ImportSheet`] of a sheet whose number of formulas is known.
    ImportSheetWithFormulas(StoredImportWithFormulas),
}

/// Stored encoding of the revert of a sheet or range. A span consists of its first row or column
/// and its length.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StoredRevertPart {
    packed_position: u64,
    sheet_number: u32,
    rows: Option<(u32, u32)>,
    columns: Option<(u32, u32)>,
}

/// Stored encoding of an insertion of rows or columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredInsert {
    sheet_number: u32,
    before: u32,
    count: u32,
}

/// Stored encoding of a deletion of rows or columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredDelete {
    sheet_number: u32,
    spans: StoredSpans,
}

/// Stored encoding of a range of cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredRange {
    sheet_number: u32,
    rows: StoredSpans,
    columns: StoredSpans,
}

/// Stored encoding of spans. Each span consists of two numbers: the distance from the end of the
/// preceding span, and the length. An empty list stands for the whole axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct StoredSpans(
    #[serde(deserialize_with = "cellar_base::bounded::at_most::<_, _, MAX_SPANS>")] Vec<(u32, u32)>,
);

impl From<&Operation> for StoredOperation {
    fn from(operation: &Operation) -> Self {
        match operation {
            Operation::SetCells(set) => Self::SetCells(StoredSetCells::from(set)),
            Operation::ClearRange(ClearRange { sheet, rows, columns }) => {
                Self::ClearRange(StoredRange::new(*sheet, rows, columns))
            }
            Operation::InsertRows(insert) => Self::InsertRows(StoredInsert::new(*insert)),
            Operation::DeleteRows(delete) => {
                Self::DeleteRows(StoredDelete::new(delete, Axis::Rows))
            }
            Operation::InsertColumns(insert) => Self::InsertColumns(StoredInsert::new(*insert)),
            Operation::DeleteColumns(delete) => {
                Self::DeleteColumns(StoredDelete::new(delete, Axis::Columns))
            }
            Operation::AddSheet(add) => match add.before {
                None => Self::AddSheet(add.sheet.0, add.name.clone()),
                Some(next) => Self::AddSheetBefore(add.sheet.0, add.name.clone(), next.0),
            },
            Operation::RenameSheet(rename) => {
                Self::RenameSheet(rename.sheet.0, rename.name.clone())
            }
            Operation::DeleteSheet(delete) => Self::DeleteSheet(delete.sheet.0),
            Operation::SetFormat(SetFormat { sheet, rows, columns, format }) => {
                Self::SetFormat(StoredRange::new(*sheet, rows, columns), format.clone())
            }
            Operation::Undo(undo) => Self::Undo(undo.position.pack()),
            Operation::Rejected(rejection) => {
                Self::Rejected(rejection.reason.number(), rejection.detail.clone())
            }
            Operation::ImportSheet(import) => stored_import(import),
            Operation::Revert(revert) => match revert.sheet {
                None => Self::Revert(revert.position.pack()),
                Some(sheet) => Self::RevertPart(StoredRevertPart::new(*revert, sheet)),
            },
            Operation::SetName(set) => Self::SetName(StoredName::from(set)),
        }
    }
}

impl TryFrom<StoredOperation> for Operation {
    type Error = UnreadableOperation;

    fn try_from(stored: StoredOperation) -> Result<Self, Self::Error> {
        Ok(match stored {
            StoredOperation::SetCells(set) => Self::SetCells(set.into_operation()?),
            StoredOperation::ClearRange(range) => Self::ClearRange(range.into_clear_range()?),
            StoredOperation::InsertRows(insert) => Self::InsertRows(insert.into_insert()),
            StoredOperation::DeleteRows(delete) => {
                Self::DeleteRows(delete.into_delete(Axis::Rows)?)
            }
            StoredOperation::InsertColumns(insert) => Self::InsertColumns(insert.into_insert()),
            StoredOperation::DeleteColumns(delete) => {
                Self::DeleteColumns(delete.into_delete(Axis::Columns)?)
            }
            StoredOperation::AddSheet(sheet_number, name) => Self::AddSheet(AddSheet {
                sheet: SheetId(sheet_number),
                name: checked_sheet_name(name)?,
                before: None,
            }),
            StoredOperation::AddSheetBefore(sheet_number, name, next_sheet_number) => {
                Self::AddSheet(AddSheet {
                    sheet: SheetId(sheet_number),
                    name: checked_sheet_name(name)?,
                    before: Some(SheetId(next_sheet_number)),
                })
            }
            StoredOperation::RenameSheet(sheet_number, name) => Self::RenameSheet(RenameSheet {
                sheet: SheetId(sheet_number),
                name: checked_sheet_name(name)?,
            }),
            StoredOperation::DeleteSheet(sheet_number) => {
                Self::DeleteSheet(DeleteSheet { sheet: SheetId(sheet_number) })
            }
            StoredOperation::SetFormat(range, format) => {
                Self::SetFormat(range.into_set_format(format)?)
            }
            StoredOperation::Undo(packed_position) => {
                Self::Undo(Undo { position: unpack_position(packed_position)? })
            }
            StoredOperation::Revert(packed_position) => {
                Self::Revert(Revert::whole(unpack_position(packed_position)?))
            }
            StoredOperation::RevertPart(part) => Self::Revert(part.into_revert()?),
            StoredOperation::Rejected(reason_number, detail) => Self::Rejected(Rejection {
                reason: RejectionReason::from_number(reason_number),
                detail: checked_text(detail, MAX_REJECTION_BYTES)?,
            }),
            StoredOperation::ImportSheet(import) => Self::ImportSheet(import.into_import()?),
            StoredOperation::SetName(set) => Self::SetName(set.into_set_name()?),
            StoredOperation::ImportSheetWithFormulas(import) => {
                Self::ImportSheet(import.into_import()?)
            }
        })
    }
}

impl StoredRevertPart {
    fn new(revert: Revert, sheet: SheetId) -> Self {
        let stored_span = |span: Span| (span.first, span.count);
        Self {
            packed_position: revert.position.pack(),
            sheet_number: sheet.0,
            rows: revert.rows.map(stored_span),
            columns: revert.columns.map(stored_span),
        }
    }

    fn into_revert(self) -> Result<Revert, UnreadableOperation> {
        Ok(Revert {
            position: unpack_position(self.packed_position)?,
            sheet: Some(SheetId(self.sheet_number)),
            rows: self.rows.map(|span| unpack_span(span, Axis::Rows)).transpose()?,
            columns: self.columns.map(|span| unpack_span(span, Axis::Columns)).transpose()?,
        })
    }
}

fn unpack_span((first, count): (u32, u32), axis: Axis) -> Result<Span, UnreadableOperation> {
    let end = first.checked_add(count).ok_or(UnreadableOperation::OutOfRange)?;
    if end > axis.limit() || count == 0 {
        return Err(UnreadableOperation::OutOfRange);
    }
    Ok(Span { first, count })
}

impl StoredSpans {
    fn new(spans: &Spans, axis: Axis) -> Self {
        if spans.is_all(axis) {
            return Self(Vec::new());
        }
        let mut previous_end = 0;
        let mut gaps_and_counts = Vec::with_capacity(spans.len());
        for span in spans.iter() {
            let gap = span.first.saturating_sub(previous_end);
            gaps_and_counts.push((gap, span.count));
            previous_end = span.end();
        }
        Self(gaps_and_counts)
    }

    fn into_spans(self, axis: Axis) -> Result<Spans, UnreadableOperation> {
        let Self(gaps_and_counts) = self;
        if gaps_and_counts.is_empty() {
            return Ok(Spans::all(axis));
        }
        let mut spans = Vec::with_capacity(gaps_and_counts.len());
        let mut previous_end = 0_u32;
        for (gap, count) in gaps_and_counts {
            let first = previous_end.checked_add(gap).ok_or(UnreadableOperation::OutOfRange)?;
            let end = first.checked_add(count).ok_or(UnreadableOperation::OutOfRange)?;
            if end > axis.limit() || count == 0 {
                return Err(UnreadableOperation::OutOfRange);
            }
            spans.push(Span { first, count });
            previous_end = end;
        }
        Ok(Spans::from_sorted(spans))
    }
}

impl StoredRange {
    fn new(sheet: SheetId, rows: &Spans, columns: &Spans) -> Self {
        Self {
            sheet_number: sheet.0,
            rows: StoredSpans::new(rows, Axis::Rows),
            columns: StoredSpans::new(columns, Axis::Columns),
        }
    }

    fn into_clear_range(self) -> Result<ClearRange, UnreadableOperation> {
        Ok(ClearRange {
            sheet: SheetId(self.sheet_number),
            rows: self.rows.into_spans(Axis::Rows)?,
            columns: self.columns.into_spans(Axis::Columns)?,
        })
    }

    fn into_set_format(self, format: String) -> Result<SetFormat, UnreadableOperation> {
        Ok(SetFormat {
            sheet: SheetId(self.sheet_number),
            rows: self.rows.into_spans(Axis::Rows)?,
            columns: self.columns.into_spans(Axis::Columns)?,
            format: checked_text(format, MAX_FORMAT_BYTES)?,
        })
    }
}

impl StoredInsert {
    fn new(insert: InsertBefore) -> Self {
        Self { sheet_number: insert.sheet.0, before: insert.before, count: insert.count }
    }

    fn into_insert(self) -> InsertBefore {
        let Self { sheet_number, before, count } = self;
        InsertBefore { sheet: SheetId(sheet_number), before, count }
    }
}

impl StoredDelete {
    fn new(delete: &DeleteSpans, axis: Axis) -> Self {
        Self { sheet_number: delete.sheet.0, spans: StoredSpans::new(&delete.spans, axis) }
    }

    fn into_delete(self, axis: Axis) -> Result<DeleteSpans, UnreadableOperation> {
        Ok(DeleteSpans { sheet: SheetId(self.sheet_number), spans: self.spans.into_spans(axis)? })
    }
}

fn unpack_position(packed: u64) -> Result<Position, UnreadableOperation> {
    Position::unpack(packed).map_err(|_| UnreadableOperation::OutOfRange)
}

pub(super) fn checked_text(text: String, max_bytes: usize) -> Result<String, UnreadableOperation> {
    if text.len() > max_bytes { Err(UnreadableOperation::TooLarge) } else { Ok(text) }
}

/// Checks that a sheet name is neither empty nor too long. With a longer name, no snapshot of the
/// log could be created.
pub(super) fn checked_sheet_name(name: String) -> Result<String, UnreadableOperation> {
    let is_too_long = name.chars().nth(MAX_SHEET_NAME_CHARACTERS).is_some();
    if name.is_empty() || is_too_long {
        Err(UnreadableOperation::InvalidSheetName)
    } else {
        Ok(name)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::operation::random::any_operation;

    fn read(bytes: &[u8]) -> Result<Operation, UnreadableOperation> {
        postcard::from_bytes::<StoredOperation>(bytes)
            .map_or(Err(UnreadableOperation::OutOfRange), Operation::try_from)
    }

    proptest! {
        #[test]
        fn round_trips_every_operation(operation in any_operation()) {
            let bytes = postcard::to_allocvec(&StoredOperation::from(&operation)).unwrap();
            prop_assert_eq!(read(&bytes).unwrap(), operation);
        }

        #[test]
        fn decoding_any_bytes_does_not_panic(kind in 0..19_u8, bytes: Vec<u8>) {
            let _ = read(&bytes);
            let _ = read(&[&[kind], bytes.as_slice()].concat());
        }
    }

    #[test]
    fn inserts_and_whole_columns_are_short() {
        let bytes = |operation: Operation| {
            postcard::to_allocvec(&StoredOperation::from(&operation)).unwrap().len()
        };
        let sheet = SheetId::FIRST;
        let insert = InsertBefore { sheet, before: 7, count: 1 };
        assert_eq!(bytes(Operation::InsertRows(insert)), 4);
        let (rows, columns) = (Spans::all(Axis::Rows), Spans::one(2, 1));
        assert_eq!(bytes(Operation::ClearRange(ClearRange { sheet, rows, columns })), 6);
    }

    #[test]
    fn decoding_limits_texts_and_spans() {
        let rejected = |bytes| StoredOperation::Rejected(0, "x".repeat(bytes));
        assert!(Operation::try_from(rejected(MAX_REJECTION_BYTES)).is_ok());
        assert!(Operation::try_from(rejected(MAX_REJECTION_BYTES + 1)).is_err());
        let named = |characters| StoredOperation::RenameSheet(0, "𝄞".repeat(characters));
        for (characters, fits) in
            [(0, false), (MAX_SHEET_NAME_CHARACTERS, true), (MAX_SHEET_NAME_CHARACTERS + 1, false)]
        {
            assert_eq!(Operation::try_from(named(characters)).is_ok(), fits, "{characters}");
        }
        let deleted = |count| {
            let spans = StoredSpans(vec![(1, 1); count]);
            let stored = StoredOperation::DeleteRows(StoredDelete { sheet_number: 0, spans });
            read(&postcard::to_allocvec(&stored).unwrap())
        };
        assert!(deleted(MAX_SPANS).is_ok());
        assert!(deleted(MAX_SPANS + 1).is_err());
        for bad in [(u32::MAX, 1), (0, u32::MAX), (1, 0)] {
            let spans = StoredSpans(vec![bad]);
            let stored = StoredOperation::DeleteRows(StoredDelete { sheet_number: 0, spans });
            assert!(Operation::try_from(stored).is_err());
        }
        assert!(Operation::try_from(StoredOperation::Undo(u64::MAX)).is_err());
        assert!(Operation::try_from(StoredOperation::Revert(u64::MAX)).is_err());
        let part = |rows, columns| {
            let part = StoredRevertPart { packed_position: 1, sheet_number: 1, rows, columns };
            Operation::try_from(StoredOperation::RevertPart(part)).is_ok()
        };
        let (most_rows, most_columns) = (Axis::Rows.limit(), Axis::Columns.limit());
        assert!(part(None, None) && part(Some((0, most_rows)), Some((0, most_columns))));
        assert!(!part(Some((1, most_rows)), None) && !part(None, Some((1, most_columns))));
        assert!(!part(Some((1, 0)), None) && !part(Some((1, u32::MAX)), None));
    }
}
