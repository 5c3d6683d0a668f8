//! Splits imported cells into mutations that comply with all size limits.

use cellar_base::limits::{MAX_CELLS_PER_OPERATION, MAX_MUTATION_BYTES};
use cellar_sheet::operation::CellEdit;

/// Maximum length of the cells of one mutation as JSON, in bytes.
///
/// Each mutation is sent in its own request and stored in its own log entry, where it is never
/// longer than its JSON. This limit is well below `MAX_MUTATION_BYTES`, `MAX_REQUEST_BYTES` and
/// `MAX_ENTRY_BODY_BYTES`, so a mutation complies with all of them.
pub(super) const BATCH_BYTES: usize = 192 * 1024;
/// Maximum length of a cell as JSON, in bytes. The rest of the mutation is reserved for its other
/// fields.
pub(super) const MAX_CELL_BYTES: usize = MAX_MUTATION_BYTES - 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CellTooLong {
    pub(super) row: u32,
    pub(super) column: u32,
    /// JSON length of the cell.
    pub(super) bytes: usize,
}

#[derive(Debug, Clone, Copy)]
struct BatchLimits {
    cells: usize,
    /// Maximum length of a batch as JSON, in bytes. A batch with a single cell may be longer.
    bytes: usize,
}

const LIMITS: BatchLimits = BatchLimits { cells: MAX_CELLS_PER_OPERATION, bytes: BATCH_BYTES };

/// The order of the cells does not change. A batch has at most `MAX_CELLS_PER_OPERATION` cells and
/// about `BATCH_BYTES` bytes. Equal cells always yield equal batches, because a resumed import must
/// send the same batches as before.
pub(super) fn split_into_batches(cells: Vec<CellEdit>) -> Result<Vec<Vec<CellEdit>>, CellTooLong> {
    split_with_limits(cells, LIMITS)
}

fn split_with_limits(
    cells: Vec<CellEdit>,
    limits: BatchLimits,
) -> Result<Vec<Vec<CellEdit>>, CellTooLong> {
    let mut batches: Vec<Vec<CellEdit>> = Vec::new();
    let mut batch: Vec<CellEdit> = Vec::new();
    let mut batch_bytes = 0_usize;
    for cell in cells {
        let cell_bytes = encoded_bytes(&cell);
        if cell_bytes > MAX_CELL_BYTES {
            return Err(CellTooLong { row: cell.row, column: cell.column, bytes: cell_bytes });
        }
        let is_full = batch_bytes + cell_bytes > limits.bytes || batch.len() >= limits.cells;
        if is_full && !batch.is_empty() {
            batches.push(std::mem::take(&mut batch));
            batch_bytes = 0;
        }
        batch_bytes += cell_bytes;
        batch.push(cell);
    }
    if !batch.is_empty() {
        batches.push(batch);
    }
    Ok(batches)
}

fn encoded_bytes(cell: &CellEdit) -> usize {
    // Encoding plain data cannot fail. If it did, the cell would be reported as too long.
    serde_json::to_vec(cell).map_or(usize::MAX, |json| json.len().saturating_add(1))
}

#[cfg(test)]
mod tests {
    use cellar_base::identity::{ClientKey, LogId};
    use cellar_base::limits::MAX_TEXT_BYTES;
    use cellar_base::position::Position;
    use cellar_log::append::{NewMutation, Request};
    use cellar_sheet::cell::Value;
    use cellar_sheet::operation::{Operation, SetCells, SheetId};
    use proptest::prelude::*;

    use super::*;

    fn cell(row: u32, value: Value) -> CellEdit {
        let format = Some("0.000000000000000".to_owned());
        CellEdit { row, column: 0, value: Some(value), formula: None, format }
    }

    fn text(row: u32, text: String) -> CellEdit {
        cell(row, Value::Text(text))
    }

    /// Asserts that an append request accepts a mutation with these cells.
    fn assert_accepted(batch: &[CellEdit]) {
        let operation =
            Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: batch.to_vec() });
        let json = serde_json::to_vec(&operation).unwrap();
        assert!(json.len() < MAX_MUTATION_BYTES - 512, "{}", json.len());
        let mutation = NewMutation { id: 1, base: Position::FIRST, operation };
        let log = LogId::from_uuid(uuid::Uuid::from_bytes([1; 16]));
        Request::new(log, ClientKey([1; 8]), None, 0, 0, vec![mutation]).unwrap();
    }

    #[test]
    fn limits_of_a_batch_are_inclusive() {
        let sizes = |count: usize, limits: BatchLimits| -> Vec<usize> {
            let rows = 0..u32::try_from(count).unwrap();
            let edits = rows.map(|row| cell(row % 10, Value::Bool(true)));
            split_with_limits(edits.collect(), limits).unwrap().iter().map(Vec::len).collect()
        };
        // Without a byte limit, only the number of cells matters.
        let of_cells = BatchLimits { bytes: usize::MAX, ..LIMITS };
        let most = MAX_CELLS_PER_OPERATION;
        assert_eq!(sizes(most, of_cells), [most]);
        assert_eq!(sizes(most + 1, of_cells), [most, 1]);
        assert_eq!(sizes(2 * most + 1, of_cells), [most, most, 1]);
        let of_bytes =
            BatchLimits { bytes: 5 * encoded_bytes(&cell(0, Value::Bool(true))), ..LIMITS };
        assert_eq!(sizes(5, of_bytes), [5]);
        assert_eq!(sizes(6, of_bytes), [5, 1]);
        assert!(split_into_batches(Vec::new()).unwrap().is_empty());
    }

    #[test]
    fn accepts_the_longest_text_and_rejects_too_many_control_characters() {
        let batches =
            split_into_batches(vec![text(0, "x".repeat(MAX_TEXT_BYTES)), text(1, "y".into())])
                .unwrap();
        batches.iter().for_each(|batch| assert_accepted(batch));
        let escaped =
            split_into_batches(vec![text(0, "a".into()), text(1, "\u{1}".repeat(MAX_TEXT_BYTES))]);
        assert_eq!(escaped.unwrap_err().row, 1);
        let fits = (MAX_CELL_BYTES - 200) / 6;
        assert_accepted(&split_into_batches(vec![text(0, "\u{1}".repeat(fits))]).unwrap()[0]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn every_batch_is_accepted_and_nothing_is_lost(
            lengths in proptest::collection::vec(0..40_000_usize, 0..40),
            few in proptest::collection::vec(any::<bool>(), 0..2_000),
        ) {
            let long = (0..).zip(&lengths).map(|(row, length)| text(row, "é".repeat(length / 2)));
            let small = (100..).zip(&few).map(|(row, value)| cell(row, Value::Bool(*value)));
            let cells: Vec<CellEdit> = long.chain(small).collect();
            let batches = split_into_batches(cells.clone()).unwrap();
            batches.iter().for_each(|batch| assert_accepted(batch));
            prop_assert_eq!(batches.concat(), cells);
        }
    }
}
