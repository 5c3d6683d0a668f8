//! Differences that are computed a band of rows at a time equal those of whole states.

use std::ops::Range;

use cellar_grid::testing::random_cases;
use proptest::collection::vec;
use proptest::prelude::*;

use super::stored_formula::{FormulaReader, StoredFormula, TEMPLATE_CELL};
use super::*;
use crate::a1::CellName;
use crate::axis_map::MatchingBands;
use cellar_formula::reference::Reference;

/// Applies operations after replacing their sheets with existing ones, and returns them. The first
/// operation has the tag `first_tag` in the plain workbook.
fn apply_all(
    (workbook, plain): &mut (Workbook, PlainWorkbook),
    operations: Vec<Operation>,
    first_tag: u32,
) -> Vec<Operation> {
    let redirect_and_apply = |(operation, tag)| {
        let operation = redirect_to_existing_sheet(plain, operation);
        workbook.apply_operation(&operation);
        plain.apply(&operation, tag);
        operation
    };
    operations.into_iter().zip(first_tag..).map(redirect_and_apply).collect()
}

type PlacedCells = Vec<((u32, u32), StateCell)>;

/// Returns the cells of some rows of a state as they are stored.
fn stored_rows(state: &Workbook, sheet: Option<SheetId>, rows: &Range<u32>) -> PlacedCells {
    let Some(sheet) = sheet else { return PlacedCells::new() };
    let reader = state.sheet(sheet).unwrap();
    let lookup = reader.sheet.cell_lookup();
    let mut formulas = reader.formulas();
    let mut cells = PlacedCells::new();
    for (id, stored) in &reader.sheet.cells {
        let coordinates = lookup.coordinates(*id).unwrap();
        if rows.contains(&coordinates.0) {
            let formula = stored.formula.as_ref().map(|formula| {
                formulas
                    .state_formula(formula, CellName { row: coordinates.0, column: coordinates.1 })
            });
            let (value, format) = (stored.value.clone(), stored.format.clone());
            cells.push((coordinates, StateCell { value, formula, format }));
        }
    }
    cells.sort_by_key(|(coordinates, _)| *coordinates);
    cells
}

impl FormulaReader<'_> {
    fn state_formula(&mut self, formula: &StoredFormula, cell: CellName) -> StateFormula {
        match self.template(formula) {
            Some(template) => {
                let in_cell = template.map_references(TEMPLATE_CELL, cell, Reference::clone);
                StateFormula::Template(in_cell)
            }
            None => StateFormula::Text(self.text(formula)),
        }
    }
}

fn fill(skeleton: &Workbook, sheet: Option<SheetId>, cells: PlacedCells) -> Workbook {
    let mut workbook = skeleton.clone();
    if let Some(sheet) = sheet {
        workbook.fill(sheet, cells).unwrap();
    }
    workbook
}

fn with_stored_cells(state: &Workbook) -> Workbook {
    let mut workbook = Workbook::from_metadata(&state.metadata());
    for (sheet, _) in state.sheets() {
        let cells = stored_rows(state, Some(sheet), &(0..Axis::Rows.limit()));
        workbook = fill(&workbook, Some(sheet), cells);
    }
    workbook
}

fn used_rows(state: &Workbook, sheet: Option<SheetId>) -> u32 {
    sheet.map_or(0, |sheet| state.sheet(sheet).unwrap().extent().rows)
}

/// Two or three states. The third is the one that both branches share.
type States<'a> = (&'a Workbook, &'a Workbook, Option<&'a Workbook>);

/// Compares bands of at most `max_rows` rows of states that have developed from `skeletons`.
fn diff_of_bands(
    skeletons: States<'_>,
    (from, to, shared): States<'_>,
    compared: &[ComparedSheets],
    diff: impl Fn(States<'_>) -> WorkbookDiff,
    max_rows: u32,
) -> WorkbookDiff {
    let (from_skeleton, to_skeleton, shared_skeleton) = skeletons;
    let mut joined = diff(skeletons);
    for sheets in compared {
        let (from_rows, to_rows) = (used_rows(from, sheets.from), used_rows(to, sheets.to));
        let mut bands = MatchingBands::new(&sheets.rows, from_rows, to_rows).unwrap();
        while let Some(band) = bands.peek(max_rows) {
            bands.remove(&band);
            let before = stored_rows(from, sheets.from, &band.src);
            let after = stored_rows(to, sheets.to, &band.dst);
            if sheets.is_in_place(&band) && before == after {
                continue;
            }
            let before = fill(from_skeleton, sheets.from, before);
            let after = fill(to_skeleton, sheets.to, after);
            let shared_rows = shared.zip(shared_skeleton).map(|(state, skeleton)| {
                let mut filled = skeleton.clone();
                if let Some((sheet, parts)) = sheets.shared_rows(&band) {
                    for rows in parts {
                        filled = fill(&filled, Some(sheet), stored_rows(state, Some(sheet), &rows));
                    }
                }
                filled
            });
            let of_band = diff((&before, &after, shared_rows.as_ref()));
            of_band.sheets.into_iter().for_each(|sheet| join(&mut joined, sheet));
        }
    }
    joined.sheets.sort_by_key(SheetDiff::order_key);
    joined
}

fn join(joined: &mut WorkbookDiff, of_band: SheetDiff) {
    let is_same = |other: &&mut SheetDiff| other.order_key() == of_band.order_key();
    match joined.sheets.iter_mut().find(is_same) {
        Some(joined) => {
            joined.cells.extend(of_band.cells);
            joined.deleted_cells.extend(of_band.deleted_cells);
        }
        None => joined.sheets.push(of_band),
    }
}

/// Applies operations to a state and to its skeleton.
fn develop(mut state: Workbook, mut skeleton: Workbook, operations: &[Operation]) -> [Workbook; 2] {
    for operation in operations {
        state.apply_operation(operation);
        skeleton.apply_operation(operation);
        skeleton.drop_cells();
    }
    assert_eq!(skeleton.metadata(), state.metadata());
    [state, skeleton]
}

/// Checks that the operations `since`, and the way back, differ in bands as in whole states. Returns
/// the differences.
fn check_bands(
    before: Vec<Operation>,
    since: Vec<Operation>,
    max_rows: u32,
) -> Result<WorkbookDiff, TestCaseError> {
    let mut states = (Workbook::default(), PlainWorkbook::new());
    apply_all(&mut states, before, 1);
    let from = with_stored_cells(&states.0);
    let since = apply_all(&mut states, since, 100);
    let from_skeleton = Workbook::skeleton(&from.metadata());
    let [to, to_skeleton] = develop(from.clone(), from_skeleton.clone(), &since);
    let diff_of_bands = |skeletons: States<'_>, states, diff: fn(&_, &_) -> _| {
        let compared = skeletons.0.compared_sheets(skeletons.1);
        diff_of_bands(skeletons, states, &compared, |(from, to, _)| diff(from, to), max_rows)
    };
    let (skeletons, states) = ((&from_skeleton, &to_skeleton, None), (&from, &to, None));
    let of_bands = diff_of_bands(skeletons, states, Workbook::diff);
    prop_assert_eq!(&of_bands, &from.diff(&to), "{:?}", since);
    let (skeletons, states) = ((&to_skeleton, &from_skeleton, None), (&to, &from, None));
    let back = diff_of_bands(skeletons, states, Workbook::diff_to_earlier);
    prop_assert_eq!(back, to.diff_to_earlier(&from), "back before {:?}", since);
    Ok(of_bands)
}

/// Checks that two branches differ in bands as in whole states.
fn check_branches(
    before: Vec<Operation>,
    [of_from, of_to]: [Vec<Operation>; 2],
    max_rows: u32,
) -> Result<(), TestCaseError> {
    let mut states = (Workbook::default(), PlainWorkbook::new());
    apply_all(&mut states, before, 1);
    let shared = with_stored_cells(&states.0);
    let of_from = apply_all(&mut states.clone(), of_from, 100);
    let of_to = apply_all(&mut states, of_to, 100);
    let skeleton = Workbook::skeleton(&shared.metadata());
    let [from, from_skeleton] = develop(shared.clone(), skeleton.clone(), &of_from);
    let [to, to_skeleton] = develop(shared.branch(), skeleton.branch(), &of_to);
    let compared = to_skeleton.sheets_compared_with_branch(&from_skeleton, &skeleton);
    let of_bands = diff_of_bands(
        (&from_skeleton, &to_skeleton, Some(&skeleton)),
        (&from, &to, Some(&shared)),
        &compared,
        |(from, to, shared)| to.diff_from_branch(from, shared.unwrap()),
        max_rows,
    );
    prop_assert_eq!(&of_bands, &to.diff_from_branch(&from, &shared), "{:?} {:?}", of_from, of_to);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(random_cases(2_000)))]

    #[test]
    fn bands_of_rows_differ_like_whole_states(
        before in vec(any_operation_with_formulas(), 0..8),
        since in vec(any_operation_with_formulas(), 1..6),
        max_rows in 1..20_u32,
    ) {
        check_bands(before, since, max_rows)?;
    }

    #[test]
    fn bands_of_branches_differ_like_whole_states(
        before in vec(any_operation_with_formulas(), 0..8),
        of_from in vec(any_operation_with_formulas(), 0..5),
        of_to in vec(any_operation_with_formulas(), 1..5),
        max_rows in 1..20_u32,
    ) {
        check_branches(before, [of_from, of_to], max_rows)?;
    }
}

fn set(rows: Range<u32>, formula: Option<&str>) -> Operation {
    let edit = |row| {
        let (value, formula) = (Some(Value::Number(1.0)), formula.map(str::to_owned));
        CellEdit { row, column: 0, value, formula, format: None }
    };
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: rows.map(edit).collect() })
}

#[test]
fn rows_that_moved_within_a_band_are_compared() {
    let (sheet, spans) = (SheetId::FIRST, Spans::one(2, 1));
    let since = vec![
        Operation::DeleteRows(DeleteSpans { sheet, spans }),
        Operation::InsertRows(InsertBefore { sheet, before: 6, count: 1 }),
        set(6..7, None),
    ];
    let of_bands = check_bands(vec![set(0..10, None)], since, 100).unwrap();
    let [sheet] = &of_bands.sheets[..] else { panic!("one sheet") };
    assert_eq!((sheet.cells.len(), sheet.deleted_cells.len()), (1, 1));
}

#[test]
fn formulas_that_name_a_sheet_before_it_exists_are_unchanged() {
    let sheet = SheetId::FIRST;
    let renamed = Operation::RenameSheet(RenameSheet { sheet, name: "c".into() });
    let added = AddSheet { sheet: SheetId(1), name: "c".into(), before: None };
    let spans = Spans::one(1, 1);
    let deleted = Operation::DeleteRows(DeleteSpans { sheet, spans });
    for since in [vec![renamed], vec![Operation::AddSheet(added), deleted]] {
        let before = vec![set(0..1, Some("=Sheet1!A9+C!A3+A5"))];
        let of_bands = check_bands(before, since, 100).unwrap();
        assert!(of_bands.sheets.iter().all(|sheet| sheet.cells.is_empty()), "{of_bands:?}");
    }
}
