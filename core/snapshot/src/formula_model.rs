//! Random formulas, and a model that moves the references of every formula by every operation. It
//! has no levels and composes no maps.

use std::cell::Cell as Counter;

use proptest::prelude::*;

use cellar_formula::changes::MovedLines;
use cellar_formula::reference::{Reference, SheetNames};
use cellar_formula::{Formula, LineMap};
use cellar_sheet::axis_map::Axis;
use cellar_sheet::cell::Cell;
use cellar_sheet::metadata::Tabs;
use cellar_sheet::operation::random::any_operation;
use cellar_sheet::operation::{CellEdit, ImportSheet, Operation, SetCells, SheetId, SheetsOfFile};
use cellar_sheet::workbook::Workbook;

/// A workbook whose formulas are numbers of formulas in a list.
#[derive(Default)]
pub(crate) struct FormulaModel {
    pub(crate) workbook: Workbook,
    formulas: Vec<ModelFormula>,
}

/// The sheets that an import names.
struct OnlyFile(SheetsOfFile);

impl SheetNames for OnlyFile {
    fn number(&self, name: &str) -> Option<SheetId> {
        self.0.number(name)
    }

    fn name(&self, _: SheetId) -> Option<&str> {
        None
    }
}

struct ModelFormula {
    sheet: SheetId,
    text: String,
    /// `None` if the text is no formula.
    parsed: Option<(Formula, Vec<Reference>)>,
}

impl ModelFormula {
    fn new(sheet: SheetId, text: &str, names: &impl SheetNames) -> Self {
        let parsed = Formula::parse(text, names).ok().map(|formula| {
            let references = formula.references().map(|placed| placed.reference.clone()).collect();
            (formula, references)
        });
        Self { sheet, text: text.to_owned(), parsed }
    }

    fn apply(&mut self, moves: &MovedLines) {
        if let Some((_, references)) = &mut self.parsed {
            for reference in references {
                *reference = reference.moved(self.sheet, moves);
            }
        }
    }

    fn text(&self, tabs: &Tabs) -> String {
        let Some((formula, references)) = &self.parsed else { return self.text.clone() };
        let next = Counter::new(0);
        let changed = formula.map_references(|_| {
            let index = next.replace(next.get() + 1);
            references[index].clone()
        });
        changed.text(tabs)
    }
}

impl FormulaModel {
    pub(crate) fn apply_operations(&mut self, operations: &[Operation]) {
        operations.iter().for_each(|operation| self.apply(operation));
    }

    pub(crate) fn apply(&mut self, operation: &Operation) {
        let mut numbered = operation.clone();
        if let Operation::SetCells(set) = &mut numbered {
            for edit in &mut set.cells {
                edit.formula = edit.formula.take().map(|text| self.number_of(set.sheet, &text));
            }
        }
        let is_sheet = |sheet| self.workbook.tabs().name(sheet).is_some();
        if let Some(moves) = moves_of(operation).filter(|(sheet, _)| is_sheet(*sheet)) {
            self.formulas.iter_mut().for_each(|formula| formula.apply(&moves.1));
        }
        self.workbook.apply_operation(&numbered);
    }

    /// Adds a formula of a sheet, and returns what its cell contains in the workbook.
    pub(crate) fn number_of(&mut self, sheet: SheetId, text: &str) -> String {
        self.formulas.push(ModelFormula::new(sheet, text, self.workbook.tabs()));
        format!("no formula {}", self.formulas.len() - 1)
    }

    /// Adds an imported sheet. Formulas find only the sheets that the import names.
    pub(crate) fn import(&mut self, import: &ImportSheet, cells: Vec<((u32, u32), Cell)>) {
        self.apply(&Operation::ImportSheet(import.clone()));
        let names = OnlyFile(SheetsOfFile::of(import));
        let numbered = cells.into_iter().map(|(place, mut cell)| {
            cell.formula = cell.formula.map(|text| {
                self.formulas.push(ModelFormula::new(import.sheet, &text, &names));
                format!("no formula {}", self.formulas.len() - 1)
            });
            (place, cell)
        });
        let numbered: Vec<_> = numbered.collect();
        self.workbook.fill(import.sheet, numbered).unwrap();
    }

    /// Returns a cell of the workbook with the text of its formula.
    pub(crate) fn shown(&self, mut cell: Cell) -> Cell {
        cell.formula = cell.formula.map(|number| {
            let number: usize = number.rsplit(' ').next().unwrap().parse().unwrap();
            self.formulas[number].text(self.workbook.tabs())
        });
        cell
    }
}

fn moves_of(operation: &Operation) -> Option<(SheetId, MovedLines)> {
    let (sheet, axis, map) = match operation {
        Operation::InsertRows(insert) => {
            (insert.sheet, Axis::Rows, LineMap::insert(Axis::Rows, insert.before, insert.count))
        }
        Operation::InsertColumns(insert) => (
            insert.sheet,
            Axis::Columns,
            LineMap::insert(Axis::Columns, insert.before, insert.count),
        ),
        Operation::DeleteRows(delete) => {
            (delete.sheet, Axis::Rows, LineMap::delete(Axis::Rows, &delete.spans))
        }
        Operation::DeleteColumns(delete) => {
            (delete.sheet, Axis::Columns, LineMap::delete(Axis::Columns, &delete.spans))
        }
        _ => return None,
    };
    Some((sheet, MovedLines::one(sheet, axis, map)))
}

fn any_reference() -> impl Strategy<Value = String> {
    let sheet = prop_oneof![
        5 => Just(""),
        2 => Just("Sheet1!"),
        1 => Just("a!"),
        1 => Just("B!"),
        1 => Just("missing!"),
    ];
    let cell = "\\$?[A-L]\\$?([1-9]|1[0-4])";
    let area = prop_oneof![
        3 => cell,
        5 => (cell, cell).prop_map(|(first, last)| format!("{first}:{last}")),
        1 => "[A-H]:\\$?[A-L]",
        1 => "\\$?[1-9]:1[0-4]",
        1 => Just("#REF!".to_owned()),
    ];
    (sheet, area).prop_map(|(sheet, area)| format!("{sheet}{area}"))
}

/// Returns texts in cells of formulas; some of them are no formulas.
pub(crate) fn any_formula() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => any_reference().prop_map(|reference| format!("={reference}")),
        4 => (any_reference(), any_reference())
            .prop_map(|(one, other)| format!("=sum({one})*2 - {other}")),
        2 => "[n-p]{1,2}".prop_map(|name| format!("=SUM({name})")),
        1 => Just("=1+1".to_owned()),
        1 => Just("=SUM(A1".to_owned()),
        1 => Just("A1:B2".to_owned()),
    ]
}

/// Returns operations. Half of the values that they set have formulas, some of several sheets.
pub(crate) fn any_operation_with_formulas() -> impl Strategy<Value = Operation> {
    let formulas = proptest::collection::vec(proptest::option::of(any_formula()), 6);
    let edit_of_formula = (0..4_u32, 0..12_u32, 0..12_u32, any_formula()).prop_map(
        |(sheet, row, column, formula)| {
            let cells = vec![CellEdit {
                row,
                column,
                value: Some(cellar_sheet::cell::Value::Number(1.0)),
                formula: Some(formula),
                format: None,
            }];
            Operation::SetCells(SetCells { sheet: SheetId(sheet), cells })
        },
    );
    let with_formulas = (any_operation(), formulas).prop_map(|(mut operation, formulas)| {
        if let Operation::SetCells(set) = &mut operation {
            let edits = set.cells.iter_mut().filter(|edit| edit.value.is_some());
            for (edit, formula) in edits.zip(formulas) {
                edit.formula = formula;
            }
        }
        operation
    });
    prop_oneof![3 => with_formulas, 1 => edit_of_formula]
}
