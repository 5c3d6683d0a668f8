//! Compares how references follow changes in Cellar and in o-spreadsheet, an independent
//! implementation. `peer/facts.mjs` generated the expected results.

#![allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test fails by panicking")]

use cellar_formula::changes::{MovedBlock, MovedLines};
use cellar_formula::reference::{Reference, SheetNames};
use cellar_formula::{Formula, LineMap};
use cellar_grid::Axis;
use cellar_grid::a1::{CellName, Rectangle};
use cellar_grid::{SheetId, Spans};
use serde_json::Value;

const FACTS: &str = include_str!("peer/o-spreadsheet.jsonl");
/// The sheet that contains the formulas.
const OWN_SHEET: SheetId = SheetId(0);
/// Column of the formulas.
const FORMULA_COLUMN: u32 = 30;
/// Row of the first formula. Each of the other formulas is one row below the previous one.
const FORMULA_ROW: u32 = 20;

/// The current sheet names. The name of a deleted sheet is `None`.
struct Names([Option<String>; 2]);

impl SheetNames for Names {
    fn number(&self, name: &str) -> Option<SheetId> {
        let index = self.0.iter().position(|other| other.as_deref() == Some(name))?;
        Some(SheetId(u32::try_from(index).unwrap()))
    }

    fn name(&self, sheet: SheetId) -> Option<&str> {
        self.0.get(sheet.0 as usize)?.as_deref()
    }
}

fn sheet_of(fields: &Value) -> SheetId {
    sheet_named(fields["sheet"].as_str().unwrap())
}

fn sheet_named(name: &str) -> SheetId {
    SheetId(if name == "Sheet1" { 0 } else { 1 })
}

fn number(value: &Value) -> u32 {
    u32::try_from(value.as_u64().unwrap()).unwrap()
}

fn lines(kind: &str, fields: &Value) -> Option<MovedLines> {
    let axis = if kind.ends_with("Rows") { Axis::Rows } else { Axis::Columns };
    let map = match kind {
        "insertRows" | "insertColumns" => {
            LineMap::insert(axis, number(&fields["before"]), number(&fields["count"]))
        }
        "deleteRows" | "deleteColumns" => {
            let indices = fields["elements"].as_array().unwrap().iter().map(number);
            LineMap::delete(axis, &Spans::of(indices))
        }
        _ => return None,
    };
    Some(MovedLines::one(sheet_of(fields), axis, map))
}

fn block(fields: &Value) -> MovedBlock {
    let from: Vec<u32> = fields["from"].as_array().unwrap().iter().map(number).collect();
    let to = &fields["to"];
    let rectangle = Rectangle {
        first: CellName { row: from[0], column: from[1] },
        last: CellName { row: from[2], column: from[3] },
    };
    let to_cell = CellName { row: number(&to[1]), column: number(&to[2]) };
    let to_sheet = sheet_named(to[0].as_str().unwrap());
    MovedBlock::new(sheet_of(fields), rectangle, to_sheet, to_cell).unwrap()
}

fn apply(step: &Value, reference: &Reference, cell: CellName, names: &mut Names) -> Reference {
    let (kind, fields) = step.as_object().unwrap().iter().next().unwrap();
    if let Some(moves) = lines(kind, fields) {
        return reference.moved(OWN_SHEET, &moves);
    }
    let sheet = sheet_of(fields);
    match kind.as_str() {
        "renameSheet" => {
            names.0[sheet.0 as usize] = Some(fields["newName"].as_str().unwrap().to_owned());
            reference.clone()
        }
        "deleteSheet" => reference.after_sheet_deletion(OWN_SHEET, sheet),
        _ => reference.after_move(OWN_SHEET, cell, &block(fields)),
    }
}

/// Converts the text of a reference from o-spreadsheet's notation to Cellar's.
///
/// - o-spreadsheet writes a deleted reference as `#REF`, without its sheet. Excel and Cellar write
///   `#REF!`.
/// - o-spreadsheet writes a range of one cell as a cell. Excel and Cellar keep `A1:A1`.
fn expected(theirs: &str, ours: &str) -> String {
    if theirs == "#REF" {
        let sheet = ours.strip_suffix("#REF!").filter(|sheet| sheet.ends_with('!'));
        return format!("{}#REF!", sheet.unwrap_or_default());
    }
    match ours.rsplit_once('!').unwrap_or(("", ours)).1.split_once(':') {
        Some((first, last))
            if first.replace('$', "") == last.replace('$', "") && !theirs.contains(':') =>
        {
            format!("{theirs}:{last}")
        }
        _ => theirs.to_owned(),
    }
}

#[test]
fn references_follow_changes_as_in_another_spreadsheet() {
    let mut facts = FACTS.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let references = facts.next().unwrap();
    let (mut compared, mut changed, mut differences) = (0, 0, Vec::new());
    for list in facts {
        for (index, start) in references.as_array().unwrap().iter().enumerate() {
            let mut names = Names([Some("Sheet1".into()), Some("Sheet2".into())]);
            let formula = Formula::parse(&format!("={}", start.as_str().unwrap()), &names).unwrap();
            let mut reference = formula.references().next().unwrap().reference.clone();
            let mut cell = CellName {
                row: FORMULA_ROW + u32::try_from(index).unwrap(),
                column: FORMULA_COLUMN,
            };
            let steps = list["steps"].as_array().unwrap();
            for (step, results) in steps.iter().zip(list["results"].as_array().unwrap()) {
                let next = apply(step, &reference, cell, &mut names);
                cell = cell_after(step, cell);
                changed += usize::from(next != reference);
                reference = next;
                let mut ours = String::new();
                cellar_formula::reference::write_reference(&reference, &names, &mut ours);
                let theirs = results[index].as_str().unwrap();
                compared += 1;
                if expected(theirs, &ours) != ours {
                    differences.push(format!("{start} {step}: ours {ours}, theirs {theirs}"));
                }
            }
        }
    }
    assert_eq!(differences, Vec::<String>::new());
    assert!(compared > 4_000 && changed > 500, "{changed} of {compared} changed a reference");
}

/// Returns the position of a formula after a step. No step deletes or overwrites a formula.
fn cell_after(step: &Value, cell: CellName) -> CellName {
    let (kind, fields) = step.as_object().unwrap().iter().next().unwrap();
    let moves = lines(kind, fields).filter(|_| sheet_of(fields) == OWN_SHEET);
    let Some(lines) = moves.as_ref().and_then(|moves| moves.sheet(OWN_SHEET)) else { return cell };
    CellName {
        row: lines.rows.line(cell.row).unwrap(),
        column: lines.columns.line(cell.column).unwrap(),
    }
}
