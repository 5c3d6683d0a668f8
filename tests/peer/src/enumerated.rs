//! All pairs of operations, with the second operation at every position relative to the first.

use cellar_sheet::axis_map::Axis;
use cellar_sheet::operation::{Operation, Spans};

use crate::Pair;
use crate::operations::{clear, delete, filled_insert, format, insert, set};

const AXES: [Axis; 2] = [Axis::Rows, Axis::Columns];
/// Number of lines over which the second operation is moved, so that it comes before, at the edges
/// of, inside, around and after the first operation.
const LINES: u32 = 7;

/// Returns all pairs.
#[must_use]
pub fn pairs() -> Vec<Pair> {
    let mut pairs = Vec::new();
    for axis in AXES {
        for committed in committed(axis) {
            let pair = |mine| Pair { committed: committed.clone(), mine };
            pairs.extend(everywhere(axis).into_iter().map(pair));
            pairs.extend(across(axis).into_iter().map(pair));
        }
    }
    pairs
}

/// Returns the committed operations: each kind in the middle of the sheet and, where the case
/// differs, also at the beginning.
fn committed(axis: Axis) -> Vec<Vec<Operation>> {
    let middle = Spans::one(2, 3);
    let one = Spans::one(3, 1);
    let apart = Spans::of([2, 4, 5]);
    let mut all = vec![
        filled_insert(axis, 3, 1),
        filled_insert(axis, 3, 2),
        // The inserted line loses a neighbor or replaces a deleted line.
        vec![insert(axis, 3, 1), delete(axis, &Spans::one(4, 1))],
        vec![delete(axis, &one), insert(axis, 3, 1)],
    ];
    all.extend(
        [
            insert(axis, 3, 1),
            insert(axis, 3, 2),
            insert(axis, 0, 1),
            delete(axis, &one),
            delete(axis, &middle),
            delete(axis, &apart),
            delete(axis, &Spans::one(0, 2)),
            set(axis, [3], "committed"),
            clear(axis, &middle),
            format(axis, &middle, "0.00"),
        ]
        .map(|operation| vec![operation]),
    );
    all
}

/// Returns every operation at every position along an axis.
fn everywhere(axis: Axis) -> Vec<Operation> {
    let mut all = Vec::new();
    for first in 0..LINES {
        all.push(set(axis, [first], "mine"));
        for count in 1..=LINES - first {
            let spans = Spans::one(first, count);
            all.extend([delete(axis, &spans), clear(axis, &spans), format(axis, &spans, "0%")]);
        }
    }
    for before in 0..=LINES {
        all.extend([insert(axis, before, 1), insert(axis, before, 3)]);
    }
    all
}

/// Returns operations on the other axis, which do not depend on operations on this axis.
fn across(axis: Axis) -> Vec<Operation> {
    let other = if axis == Axis::Rows { Axis::Columns } else { Axis::Rows };
    let ranges = [Spans::one(3, 1), Spans::one(1, 4), Spans::of([0, 3, 6])];
    let of_range =
        |spans: &Spans| [delete(other, spans), clear(other, spans), format(other, spans, "0%")];
    let mut all: Vec<Operation> = ranges.iter().flat_map(of_range).collect();
    all.extend([insert(other, 0, 1), insert(other, 3, 2), set(other, [1, 3], "mine")]);
    all
}
