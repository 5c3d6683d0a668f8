//! Splits operations that are too large for a log entry.

use crate::entry::{Mutation, encoded_mutation_bytes};
use cellar_base::limits::{MAX_CELLS_PER_OPERATION, MAX_MERGED_OPERATION_BYTES};
use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, SetCells};

/// Splits an operation that sets cells into parts, each of which fits into an entry even if the
/// entry also stores the transformed part. Returns other operations unchanged.
#[must_use]
pub fn split_operation(operation: Operation) -> Vec<Operation> {
    let mut fitting = Vec::new();
    let mut remaining = vec![operation];
    while let Some(mut operation) = remaining.pop() {
        if !fits(&operation)
            && let Some(second_half) = split_off_half(&mut operation)
        {
            remaining.extend([second_half, operation]);
        } else {
            fitting.push(operation);
        }
    }
    fitting
}

fn fits(operation: &Operation) -> bool {
    if let Operation::SetCells(set) = operation
        && set.cells.len() > MAX_CELLS_PER_OPERATION
    {
        return false;
    }
    let (base, authored) = (Position::FIRST, operation.clone());
    let mutation = Mutation { base, authored, committed: None };
    // Encoding cannot fail for these types.
    encoded_mutation_bytes(&mutation).is_ok_and(|bytes| bytes <= MAX_MERGED_OPERATION_BYTES)
}

/// Moves half of the cells to a new operation, which is returned. Applying both operations has the
/// original effect. Returns `None` if the operation cannot be split.
fn split_off_half(operation: &mut Operation) -> Option<Operation> {
    let Operation::SetCells(SetCells { sheet, cells }) = operation else { return None };
    if cells.len() < 2 {
        return None;
    }
    let cells = cells.split_off(cells.len() / 2);
    Some(Operation::SetCells(SetCells { sheet: *sheet, cells }))
}
