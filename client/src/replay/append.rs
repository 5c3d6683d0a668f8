//! Appends the operations of a fork to a new fork, and reads how they were committed.

use std::collections::BTreeMap;

use cellar_api::{wire::AppendRequest, wire::MutationView, wire::SentMutation};
use cellar_base::limits::{
    MAX_MUTATION_BYTES, MAX_MUTATIONS_PER_REQUEST, MAX_REPLAYED_BYTES, MAX_REQUEST_BYTES,
};
use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, SetCells};

use super::read::load_mutations;
use super::{OwnMutation, ReplayError};
use crate::Spreadsheet;

/// Id of the first mutation that a replay appends. The ids of the other mutations follow
/// consecutively.
const FIRST_MUTATION_ID: u64 = 1;
/// Upper bound on the length of a request without its mutations, in bytes.
const REQUEST_FRAME_BYTES: usize = 4 * 1024;
/// Upper bound on the length of a mutation without its operation, in bytes.
const MUTATION_FRAME_BYTES: usize = 128;

/// An operation of a mutation in the fork, or a part of the operation that fits in a request.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OperationPiece {
    /// Index of the piece's mutation in the list of the fork's mutations.
    pub(super) mutation_index: usize,
    pub(super) operation: Operation,
    /// Upper bound on the length of the mutation that appends the piece, as JSON in bytes.
    bytes: usize,
}

/// A piece together with its actual or predicted outcome in the new fork.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SettledPiece {
    pub(super) mutation_index: usize,
    pub(super) sent: Operation,
    /// The committed operations, or `None` if they are equal to the requested operation.
    pub(super) committed: Option<Vec<Operation>>,
}

impl SettledPiece {
    fn new(piece: &OperationPiece, mutation: MutationView) -> Self {
        let is_rejected = matches!(mutation.op, Operation::Rejected(_));
        let committed = match mutation.committed {
            None if is_rejected => Some(vec![mutation.op]),
            committed => committed,
        };
        let sent = piece.operation.clone();
        Self { mutation_index: piece.mutation_index, sent, committed }
    }

    pub(super) fn committed_operations(&self) -> &[Operation] {
        self.committed.as_deref().unwrap_or(std::slice::from_ref(&self.sent))
    }
}

pub(super) fn split_into_pieces(
    own_mutations: &[OwnMutation],
) -> Result<Vec<OperationPiece>, ReplayError> {
    let mut pieces = Vec::new();
    for (mutation_index, mutation) in own_mutations.iter().enumerate() {
        for operation in &mutation.operations {
            push_pieces(&mut pieces, mutation_index, operation.clone());
        }
    }
    let is_too_large = |piece: &&OperationPiece| piece.bytes > MAX_MUTATION_BYTES;
    if let Some(piece) = pieces.iter().find(is_too_large)
        && let Some(mutation) = own_mutations.get(piece.mutation_index)
    {
        let position = mutation.position;
        return Err(ReplayError::OperationTooLarge { position, bytes: piece.bytes });
    }
    Ok(pieces)
}

/// If the operation is too large, it is split in half repeatedly, until each piece fits or cannot
/// be split further.
fn push_pieces(pieces: &mut Vec<OperationPiece>, mutation_index: usize, mut operation: Operation) {
    let json_bytes = serde_json::to_vec(&operation).map_or(usize::MAX, |json| json.len());
    let bytes = json_bytes.saturating_add(MUTATION_FRAME_BYTES);
    if bytes > MAX_REPLAYED_BYTES
        && let Some(second_half) = split_off_half(&mut operation)
    {
        push_pieces(pieces, mutation_index, operation);
        push_pieces(pieces, mutation_index, second_half);
    } else {
        pieces.push(OperationPiece { mutation_index, operation, bytes });
    }
}

/// Together, the two operations have the original effect. Returns `None` if the operation cannot be
/// split.
fn split_off_half(operation: &mut Operation) -> Option<Operation> {
    let Operation::SetCells(SetCells { sheet, cells }) = operation else { return None };
    if cells.len() < 2 {
        return None;
    }
    let second_half = cells.split_off(cells.len() / 2);
    Some(Operation::SetCells(SetCells { sheet: *sheet, cells: second_half }))
}

/// If an interrupted replay has already appended a piece, the server ignores the duplicate.
pub(super) async fn append_pieces(
    new_fork: &Spreadsheet,
    incarnation: u32,
    client_id: &str,
    base: Position,
    pieces: &[OperationPiece],
) -> Result<(), ReplayError> {
    let mut unsent_pieces = pieces;
    let mut last_id = FIRST_MUTATION_ID - 1;
    while !unsent_pieces.is_empty() {
        let (batch, later_pieces) = unsent_pieces.split_at(batch_length(unsent_pieces));
        let acked_id = last_id;
        let mut mutations = Vec::with_capacity(batch.len());
        for piece in batch {
            last_id += 1;
            mutations.push(SentMutation { id: last_id, base, op: piece.operation.clone() });
        }
        let request =
            AppendRequest { client_id: client_id.to_owned(), incarnation, acked_id, mutations };
        new_fork.append(&request).await?;
        unsent_pieces = later_pieces;
    }
    Ok(())
}

/// The result is at least one.
fn batch_length(pieces: &[OperationPiece]) -> usize {
    let mut request_bytes = REQUEST_FRAME_BYTES;
    let mut piece_count = 0;
    for piece in pieces.iter().take(MAX_MUTATIONS_PER_REQUEST) {
        request_bytes = request_bytes.saturating_add(piece.bytes);
        if request_bytes > MAX_REQUEST_BYTES {
            break;
        }
        piece_count += 1;
    }
    piece_count.max(1)
}

/// Pieces that were appended by an interrupted replay are included.
pub(super) async fn read_outcomes(
    new_fork: &Spreadsheet,
    first_position: Position,
    head: Position,
    pieces: &[OperationPiece],
) -> Result<Vec<SettledPiece>, ReplayError> {
    let last_id = u64::try_from(pieces.len()).unwrap_or(u64::MAX);
    let mut mutations_by_id =
        read_mutations_up_to_id(new_fork, first_position, head, last_id).await?;
    let mut settled_pieces = Vec::with_capacity(pieces.len());
    for (id, piece) in (FIRST_MUTATION_ID..).zip(pieces) {
        let Some(mutation) = mutations_by_id.remove(&id) else {
            return Err(ReplayError::NotUnderstood { why: "an accepted edit is not in the log" });
        };
        settled_pieces.push(SettledPiece::new(piece, mutation));
    }
    Ok(settled_pieces)
}

/// If an id occurs more than once, the oldest mutation is returned.
async fn read_mutations_up_to_id(
    new_fork: &Spreadsheet,
    first_position: Position,
    head: Position,
    last_id: u64,
) -> Result<BTreeMap<u64, MutationView>, ReplayError> {
    let mut mutations_by_id = BTreeMap::new();
    let mut entries_newest_first = new_fork.long_history(Some(head));
    while let Some(entry) = entries_newest_first.try_next().await? {
        let is_entry_of_source = entry.position.segment() < first_position.segment();
        if is_entry_of_source {
            break;
        }
        for mutation in load_mutations(new_fork.client(), entry).await? {
            // Other clients may have used the same ids in later entries. Entries are read from the
            // newest to the oldest, so the replay's own mutations replace those of later entries.
            if mutation.id <= last_id {
                mutations_by_id.insert(mutation.id, mutation);
            }
        }
    }
    Ok(mutations_by_id)
}

#[cfg(test)]
mod tests {
    use cellar_sheet::cell::Value;
    use cellar_sheet::operation::{CellEdit, SheetId, Span, Spans};

    use super::*;

    fn own(operations: Vec<Operation>) -> OwnMutation {
        OwnMutation { position: Position::FIRST, author: None, created: 0, operations }
    }

    fn set(rows: std::ops::Range<u32>, text: &str) -> Operation {
        let cell = |row| CellEdit {
            row,
            column: 0,
            value: Some(Value::Text(text.to_owned())),
            formula: None,
            format: None,
        };
        Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: rows.map(cell).collect() })
    }

    #[test]
    fn cells_are_split_until_they_fit_and_stay_in_order() {
        let text = "x".repeat(60_000);
        let all = split_into_pieces(&[
            own(vec![set(0..9, &text), set(9..10, "y")]),
            own(vec![set(10..11, "z")]),
        ]);
        let all = all.unwrap();
        assert!(all.iter().all(|piece| piece.bytes <= MAX_REPLAYED_BYTES));
        let rows = all.iter().flat_map(|piece| match &piece.operation {
            Operation::SetCells(set) => set.cells.iter().map(|cell| cell.row).collect::<Vec<_>>(),
            _ => Vec::new(),
        });
        assert_eq!(rows.collect::<Vec<_>>(), (0..11).collect::<Vec<_>>());
        assert!(all.len() > 3 && all.last().unwrap().mutation_index == 1);
    }

    #[test]
    fn cells_within_the_limit_are_not_split() {
        let two = |bytes: usize| {
            let Operation::SetCells(mut two) = set(0..2, "") else { panic!("cells") };
            let frame =
                split_into_pieces(&[own(vec![Operation::SetCells(two.clone())])]).unwrap()[0].bytes;
            two.cells[0].value = Some(Value::Text("x".repeat(bytes - frame)));
            split_into_pieces(&[own(vec![Operation::SetCells(two)])]).unwrap().len()
        };
        assert_eq!((two(MAX_REPLAYED_BYTES), two(MAX_REPLAYED_BYTES + 1)), (1, 2));
        // A single cell cannot be split, but is sent if it fits in a request.
        let one = split_into_pieces(&[own(vec![set(0..1, &"x".repeat(MAX_REPLAYED_BYTES))])]);
        assert_eq!(one.unwrap().len(), 1);
    }

    #[test]
    fn rejects_an_operation_that_cannot_be_split() {
        let one = split_into_pieces(&[own(vec![set(0..1, &"x".repeat(MAX_MUTATION_BYTES))])]);
        assert!(matches!(one, Err(ReplayError::OperationTooLarge { .. })), "{one:?}");
        let spans: Vec<Span> = (0..9_999).map(|n| Span { first: n * 1_000, count: 1 }).collect();
        let spans = Spans::from_sorted(spans);
        let sheet = SheetId::FIRST;
        let delete = Operation::DeleteRows(cellar_sheet::operation::DeleteSpans { sheet, spans });
        let many = split_into_pieces(&[own(vec![delete])]);
        assert!(matches!(many, Err(ReplayError::OperationTooLarge { .. })), "{many:?}");
    }

    #[test]
    fn a_request_has_as_many_pieces_as_fit() {
        let piece = |bytes| OperationPiece { mutation_index: 0, operation: set(0..1, "x"), bytes };
        let small = vec![piece(10); MAX_MUTATIONS_PER_REQUEST + 1];
        assert_eq!(batch_length(&small), MAX_MUTATIONS_PER_REQUEST);
        let capacity = MAX_REQUEST_BYTES - REQUEST_FRAME_BYTES;
        assert_eq!(batch_length(&[piece(capacity - 1), piece(1), piece(1)]), 2);
        assert_eq!(batch_length(&[piece(capacity), piece(1)]), 1);
        assert_eq!(batch_length(&[piece(capacity + 1)]), 1, "the server rejects it");
    }
}
