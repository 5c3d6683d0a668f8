//! Appends a fork's operations to another, in requests that the server takes, and reads what became of
//! them.

use cellar_api::{wire::AppendRequest, wire::ForkReply, wire::SentMutation};
use cellar_base::limits::{
    MAX_MUTATION_BYTES, MAX_MUTATIONS_PER_REQUEST, MAX_REPLAYED_BYTES, MAX_REQUEST_BYTES,
};
use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, SetCells};

use super::read::{backwards, mutations};
use super::{OwnMutation, ReplayError};
use crate::Client;

/// Bytes of a request and of a mutation beside the operations.
const FRAME_BYTES: usize = 4 * 1024;
const MUTATION_FRAME_BYTES: usize = 128;

/// One operation to append: its mutation's number among the fork's own, and its bytes in JSON.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Piece {
    pub(super) of: usize,
    pub(super) operation: Operation,
    bytes: usize,
}

/// What an operation was committed as.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Settled {
    pub(super) of: usize,
    pub(super) sent: Operation,
    /// Nothing if it is what was sent.
    pub(super) committed: Option<Vec<Operation>>,
}

impl Settled {
    /// What takes effect.
    pub(super) fn effective(&self) -> &[Operation] {
        self.committed.as_deref().unwrap_or(std::slice::from_ref(&self.sent))
    }
}

/// The operations of all mutations; cells that are too many for a request go into several.
pub(super) fn pieces(own: &[OwnMutation]) -> Result<Vec<Piece>, ReplayError> {
    let mut pieces = Vec::new();
    for (of, mutation) in own.iter().enumerate() {
        let mut left: Vec<Operation> = mutation.operations.iter().rev().cloned().collect();
        while let Some(mut operation) = left.pop() {
            let bytes = serde_json::to_vec(&operation).map_or(usize::MAX, |json| json.len());
            let bytes = bytes.saturating_add(MUTATION_FRAME_BYTES);
            let is_long = bytes > MAX_REPLAYED_BYTES;
            match is_long.then(|| split_off(&mut operation)).flatten() {
                Some(rest) => left.extend([rest, operation]),
                None if bytes <= MAX_MUTATION_BYTES => {
                    pieces.push(Piece { of, operation, bytes });
                }
                None => {
                    let position = mutation.position;
                    return Err(ReplayError::OperationTooLarge { position, bytes });
                }
            }
        }
    }
    Ok(pieces)
}

/// Takes half of the cells out of an operation that has several: the two do what it did.
fn split_off(operation: &mut Operation) -> Option<Operation> {
    let Operation::SetCells(SetCells { sheet, cells }) = operation else { return None };
    let half = cells.len() / 2;
    (half > 0).then(|| {
        let cells = cells.split_off(half);
        Operation::SetCells(SetCells { sheet: *sheet, cells })
    })
}

/// Appends all of them, in order: what is there from an earlier run is found, and not appended again.
pub(super) async fn append_all(
    client: &Client,
    made: &ForkReply,
    name: &str,
    base: Position,
    pieces: &[Piece],
) -> Result<(), ReplayError> {
    let mut rest = pieces;
    let mut done = 0_u64;
    while !rest.is_empty() {
        let (batch, behind) = rest.split_at(batch(rest));
        let sent = (done.saturating_add(1)..).zip(batch);
        let sent = sent.map(|(id, piece)| SentMutation { id, base, op: piece.operation.clone() });
        let request = AppendRequest {
            client_id: name.to_owned(),
            incarnation: made.incarnation,
            acked_id: done,
            mutations: sent.collect(),
        };
        client.append(made.id, &request).await?;
        done = done.saturating_add(u64::try_from(batch.len()).unwrap_or(u64::MAX));
        rest = behind;
    }
    Ok(())
}

/// How many of them fit a request; at least one.
fn batch(pieces: &[Piece]) -> usize {
    let mut bytes = FRAME_BYTES;
    let fits = |piece: &&Piece| {
        bytes = bytes.saturating_add(piece.bytes);
        bytes <= MAX_REQUEST_BYTES
    };
    pieces.iter().take(MAX_MUTATIONS_PER_REQUEST).take_while(fits).count().max(1)
}

/// What became of them, from the new fork's own entries: whoever appended them, in whichever run.
pub(super) async fn settled(
    client: &Client,
    made: &ForkReply,
    head: Position,
    pieces: &[Piece],
) -> Result<Vec<Settled>, ReplayError> {
    let mut committed: Vec<Option<Option<Vec<Operation>>>> = vec![None; pieces.len()];
    backwards(client, made.id, head, async |entry| {
        if entry.position.segment() < made.head.segment() {
            return Ok(false);
        }
        for mutation in mutations(client, entry).await? {
            let place = mutation.id.checked_sub(1).and_then(|place| usize::try_from(place).ok());
            let rejected = matches!(mutation.op, Operation::Rejected(_));
            let own = rejected.then(|| vec![mutation.op]);
            // The first behind the fork: others may have the same numbers later.
            if let Some(place) = place.and_then(|place| committed.get_mut(place)) {
                *place = Some(mutation.committed.or(own));
            }
        }
        Ok(true)
    })
    .await?;
    let settled = pieces.iter().zip(committed).map(|(piece, committed)| {
        let missing = ReplayError::NotUnderstood { why: "an edit that it took is not in the log" };
        let (of, sent) = (piece.of, piece.operation.clone());
        Ok(Settled { of, sent, committed: committed.ok_or(missing)? })
    });
    settled.collect()
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
        let all =
            pieces(&[own(vec![set(0..9, &text), set(9..10, "y")]), own(vec![set(10..11, "z")])]);
        let all = all.unwrap();
        assert!(all.iter().all(|piece| piece.bytes <= MAX_REPLAYED_BYTES));
        let rows = all.iter().flat_map(|piece| match &piece.operation {
            Operation::SetCells(set) => set.cells.iter().map(|cell| cell.row).collect::<Vec<_>>(),
            _ => Vec::new(),
        });
        assert_eq!(rows.collect::<Vec<_>>(), (0..11).collect::<Vec<_>>());
        assert!(all.len() > 3 && all.last().unwrap().of == 1);
    }

    #[test]
    fn cells_that_fit_an_entry_twice_stay_together() {
        let two = |bytes: usize| {
            let Operation::SetCells(mut two) = set(0..2, "") else { panic!("cells") };
            let frame = pieces(&[own(vec![Operation::SetCells(two.clone())])]).unwrap()[0].bytes;
            two.cells[0].value = Some(Value::Text("x".repeat(bytes - frame)));
            pieces(&[own(vec![Operation::SetCells(two)])]).unwrap().len()
        };
        assert_eq!((two(MAX_REPLAYED_BYTES), two(MAX_REPLAYED_BYTES + 1)), (1, 2));
        // One cell is sent as it is, as long as a request takes it.
        let one = pieces(&[own(vec![set(0..1, &"x".repeat(MAX_REPLAYED_BYTES))])]);
        assert_eq!(one.unwrap().len(), 1);
    }

    #[test]
    fn what_cannot_be_split_is_named() {
        let one = pieces(&[own(vec![set(0..1, &"x".repeat(MAX_MUTATION_BYTES))])]);
        assert!(matches!(one, Err(ReplayError::OperationTooLarge { .. })), "{one:?}");
        let spans: Vec<Span> = (0..9_999).map(|n| Span { first: n * 1_000, count: 1 }).collect();
        let spans = Spans::from_sorted(spans);
        let sheet = SheetId::FIRST;
        let delete = Operation::DeleteRows(cellar_sheet::operation::DeleteSpans { sheet, spans });
        let many = pieces(&[own(vec![delete])]);
        assert!(matches!(many, Err(ReplayError::OperationTooLarge { .. })), "{many:?}");
    }

    #[test]
    fn a_request_has_as_many_as_fit() {
        let piece = |bytes| Piece { of: 0, operation: set(0..1, "x"), bytes };
        let small = vec![piece(10); MAX_MUTATIONS_PER_REQUEST + 1];
        assert_eq!(batch(&small), MAX_MUTATIONS_PER_REQUEST);
        let room = MAX_REQUEST_BYTES - FRAME_BYTES;
        assert_eq!(batch(&[piece(room - 1), piece(1), piece(1)]), 2);
        assert_eq!(batch(&[piece(room), piece(1)]), 1);
        assert_eq!(batch(&[piece(room + 1)]), 1, "it is for the server to refuse");
    }
}
