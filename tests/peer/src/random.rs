//! Random pairs of operations on rectangles, several spans or several cells.

use cellar_sheet::axis_map::Axis;
use cellar_sheet::cell::{GENERAL, Value};
use cellar_sheet::operation::{CellEdit, ClearRange, Operation, SetCells, SetFormat, Span, Spans};
use fastrand::Rng;

use crate::Pair;
use crate::cells::{FILLED, SHEET};
use crate::operations::{delete, filled_insert, insert};

const SEED: u64 = 20_260_611;
const FORMATS: [&str; 3] = ["0.00", "0%", "#,##0"];
const MAX_INSERTED: u32 = 3;
const MAX_SET: usize = 3;
const MAX_COMMITTED: u8 = 3;

/// Returns `count` pairs, which are the same in each run.
#[must_use]
pub fn pairs(count: usize) -> Vec<Pair> {
    let mut random = Rng::with_seed(SEED);
    (0..count)
        .map(|_| Pair { committed: committed(&mut random), mine: any(&mut random, "mine") })
        .collect()
}

fn committed(random: &mut Rng) -> Vec<Operation> {
    // Fill the inserted lines, because clearing blank lines would have no visible effect.
    if random.u8(0..7) == 0 {
        let (axis, before) = (axis(random), random.u32(0..=FILLED));
        return filled_insert(axis, before, random.u32(1..=MAX_INSERTED));
    }
    (0..random.u8(1..=MAX_COMMITTED)).map(|_| any(random, "committed")).collect()
}

fn any(random: &mut Rng, text: &str) -> Operation {
    let axis = axis(random);
    match random.u8(0..7) {
        0 | 1 => insert(axis, random.u32(0..=FILLED), random.u32(1..=MAX_INSERTED)),
        2 | 3 => delete(axis, &spans(random)),
        4 => {
            let (rows, columns) = (spans(random), spans(random));
            Operation::ClearRange(ClearRange { sheet: SHEET, rows, columns })
        }
        5 => {
            let (rows, columns) = (spans(random), spans(random));
            let format = one_of(random, &[FORMATS[0], FORMATS[1], GENERAL]);
            Operation::SetFormat(SetFormat { sheet: SHEET, rows, columns, format })
        }
        _ => {
            let cells = (0..random.usize(1..=MAX_SET)).map(|_| edit(random, text)).collect();
            Operation::SetCells(SetCells { sheet: SHEET, cells }).validated().unwrap()
        }
    }
}

fn axis(random: &mut Rng) -> Axis {
    if random.bool() { Axis::Rows } else { Axis::Columns }
}

fn one_of(random: &mut Rng, texts: &[&str]) -> String {
    random.choice(texts).copied().unwrap_or_default().to_owned()
}

/// Draws one or two spans within the filled lines.
fn spans(random: &mut Rng) -> Spans {
    let mut spans: Vec<Span> = (0..random.u8(1..=2))
        .map(|_| {
            let first = random.u32(0..FILLED);
            Span { first, count: random.u32(1..=(FILLED - first).min(4)) }
        })
        .collect();
    spans.sort_unstable_by_key(|span| span.first);
    Spans::from_sorted(spans)
}

/// Draws an edit that sets a text, a blank, a format, or a text and a format.
fn edit(random: &mut Rng, text: &str) -> CellEdit {
    let (row, column) = (random.u32(0..FILLED), random.u32(0..FILLED));
    let text = Some(Value::Text(format!("{text} {}", random.u8(..))));
    let format = Some(one_of(random, &FORMATS));
    let (value, format) = match random.u8(0..4) {
        0 => (Some(Value::Empty), None),
        1 => (None, format),
        2 => (text, format),
        _ => (text, None),
    };
    CellEdit { row, column, value, formula: None, format }
}
