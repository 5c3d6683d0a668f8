//! Areas contain every cell that the formulas name, also after rows and columns have moved.

use cellar_base::limits::{MAX_COLUMNS, MAX_ROWS};
use cellar_grid::a1::Rectangle;
use cellar_grid::{Span, Spans};
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::Formula;
use crate::changes::{MovedLines, SheetLines};
use crate::expression::FormulaTraits;
use crate::line_map::LineMap;
use crate::reference::Area;
use crate::testing::{Names, any_formula};

const OWN: SheetId = SheetId(5);

fn cell(row: u32, column: u32) -> CellName {
    CellName { row, column }
}

fn template(text: &str, cell: CellName) -> Template {
    Template::of(&Formula::parse(text, &Names::DEFAULT).unwrap(), cell)
}

/// A template in consecutive rows.
#[derive(Debug, Clone)]
struct Filled {
    template: Template,
    first: CellName,
    rows: u32,
}

impl Filled {
    fn cells(&self) -> impl Iterator<Item = CellName> + '_ {
        (0..self.rows).map(|row| cell(self.first.row + row, self.first.column))
    }
}

fn any_filled() -> impl Strategy<Value = Filled> {
    (any_formula(), 0..40_u32, 0..6_u32, 1..5_u32).prop_map(|(text, row, column, rows)| {
        // Near the first row, some references of the other rows are outside the sheet.
        let template = template(&text, cell(20, 5));
        Filled { template, first: cell(row, column), rows }
    })
}

fn areas_of(filled: &[Filled], max_areas: usize) -> ReadAreas {
    let mut reads = ReadAreas::default();
    for Filled { template, first, rows } in filled {
        let last_row = first.row + rows - 1;
        let run = TemplateRun { template, sheet: OWN, first: *first, last_row };
        reads.add_run(&run, max_areas);
    }
    reads
}

fn any_map(axis: Axis) -> impl Strategy<Value = LineMap> {
    let insert =
        (0..60_u32, 1..4_u32).prop_map(move |(before, count)| LineMap::insert(axis, before, count));
    let delete = (0..60_u32, 1..9_u32).prop_map(move |(first, count)| {
        LineMap::delete(axis, &Spans::from_sorted(vec![Span { first, count }]))
    });
    let one = prop_oneof![insert, delete];
    vec(one, 0..4).prop_map(move |maps| {
        maps.iter().fold(LineMap::identity(axis), |older, newer| older.then(newer))
    })
}

fn any_moves() -> impl Strategy<Value = MovedLines> {
    let lines = (any_map(Axis::Rows), any_map(Axis::Columns));
    let lines = lines.prop_map(|(rows, columns)| SheetLines { rows, columns });
    vec((prop_oneof![Just(OWN), Just(SheetId(3)), Just(SheetId(0))], lines), 0..3).prop_map(
        |sheets| {
            let mut moves = MovedLines::default();
            sheets.into_iter().for_each(|(sheet, lines)| moves.insert(sheet, lines));
            moves
        },
    )
}

/// Returns whether the areas contain a reference of a formula of [`OWN`].
fn contain(reads: &ReadAreas, reference: &Reference) -> bool {
    let Some(Rectangle { first, last }) = reference.area.rectangle() else { return true };
    let Some(sheet) = reference.sheet_number(OWN) else {
        return reads.traits().has_any(FormulaTraits::UNKNOWN_SHEETS);
    };
    let mut areas = reads.areas().iter().filter(|area| area.sheet == sheet);
    reads.traits().has_any(FormulaTraits::UNLISTED_AREAS)
        || areas.any(|area| {
            area.cells.contains(first.row, first.column)
                && area.cells.contains(last.row, last.column)
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn areas_contain_all_references_before_and_after_moves(
        filled in vec(any_filled(), 0..6),
        max_areas in 1..6_usize,
        moves in any_moves(),
    ) {
        let reads = areas_of(&filled, max_areas);
        let moved = reads.moved(&moves);
        prop_assert!(moved.areas().len() <= reads.areas().len() && reads.areas().len() <= max_areas);
        for one in &filled {
            for cell in one.cells() {
                for reference in one.template.references_at(cell) {
                    prop_assert!(contain(&reads, &reference), "{reference:?} {reads:?}");
                    let reference = reference.moved(OWN, &moves);
                    prop_assert!(contain(&moved, &reference), "{reference:?} {moved:?}");
                }
            }
        }
        for reads in [&reads, &moved] {
            let numbers: Vec<u32> = reads.numbers().collect();
            let read = ReadAreas::from_numbers(reads.traits(), &numbers, max_areas);
            prop_assert_eq!(read.as_ref(), Some(reads));
        }
    }

    #[test]
    fn templates_stay_the_same_if_their_areas_say_so(
        filled in vec(any_filled(), 0..3),
        moves in any_moves(),
        (rows, columns) in (0..3_u32, 0..3_u32),
    ) {
        let reads = areas_of(&filled, 8);
        let (from, to) = (cell(0, 0), cell(rows, columns));
        if reads.keep_templates(&moves, from, to) {
            for one in &filled {
                for old in one.cells() {
                    let new = cell(old.row + rows, old.column + columns);
                    let references = one.template.references_at(old);
                    // Only damaged tiles have references outside the sheet.
                    if references.into_iter().any(|reference| reference.area == Area::Deleted) {
                        continue;
                    }
                    let moved = one.template.map_references(old, new, |reference| {
                        reference.moved(OWN, &moves)
                    });
                    // The ends of a range such as `A5:A$1` may be written in another order.
                    let kept: Vec<Reference> = one.template.references_at(new).collect();
                    prop_assert_eq!(moved.references_at(new).collect::<Vec<_>>(), kept);
                }
            }
        }
    }
}

fn area(sheet: u32, range: &str) -> SheetArea {
    let range: cellar_grid::a1::Range = range.parse().unwrap();
    SheetArea { sheet: SheetId(sheet), cells: range.rectangle }
}

fn reads_of(texts: &[&str], max_areas: usize) -> ReadAreas {
    let filled = texts.iter().map(|text| Filled {
        template: template(text, cell(9, 0)),
        first: cell(9, 0),
        rows: 3,
    });
    areas_of(&filled.collect::<Vec<_>>(), max_areas)
}

#[test]
fn the_two_rectangles_whose_union_adds_the_fewest_cells_are_united() {
    let reads = |max_areas| reads_of(&["=$A$1+$C$1+$H$1+Data!$A$9"], max_areas);
    let (a, c, h, data) = (area(5, "A1"), area(5, "C1"), area(5, "H1"), area(3, "A9"));
    assert_eq!(reads(4).areas(), [data, a, c, h]);
    assert_eq!(reads(3).areas(), [data, area(5, "A1:C1"), h]);
    assert_eq!(reads(2).areas(), [data, area(5, "A1:H1")]);
    // Areas of different sheets cannot be united.
    assert_eq!(reads(1).areas(), []);
    assert!(reads(1).traits().has_any(FormulaTraits::UNLISTED_AREAS));
    assert!(!reads(2).traits().has_any(FormulaTraits::UNLISTED_AREAS));
}

#[test]
fn rectangles_are_united_if_this_adds_no_cells() {
    assert_eq!(reads_of(&["=B10*C10"], 8).areas(), [area(5, "B10:C12")]);
    assert_eq!(reads_of(&["=SUM($A$1:$B$4)+$B$2"], 8).areas(), [area(5, "A1:B4")]);
    assert_eq!(reads_of(&["=B10+E10"], 8).areas(), [area(5, "B10:B12"), area(5, "E10:E12")]);
    assert_eq!(reads_of(&["=SUM(B$2:B9)"], 8).areas(), [area(5, "B2:B11")]);
    assert_eq!(reads_of(&["=SUM(B:B)+B3+1"], 8).areas(), [area(5, "B:B")]);
    assert_eq!(reads_of(&["=1+1"], 8), ReadAreas::default());
    // `A4` is in an area, so it is not united with `A1:A3`.
    let apart = [area(5, "A1:A3"), area(5, "A4:C6")];
    assert_eq!(reads_of(&["=SUM($A$1:$A$3,$A$4:$C$6)+$A$4+1"], 8).areas(), apart);
}

#[test]
fn stored_areas_are_in_order_few_and_in_the_sheet() {
    let read = |numbers: &[u32], max_areas| {
        ReadAreas::from_numbers(FormulaTraits::NONE, numbers, max_areas).is_some()
    };
    assert!(read(&[], 0) && read(&[1, 0, 1, 0, 1, 1, 2, 1, 0, 1], 2));
    assert!(read(&[u32::MAX, 0, MAX_ROWS, 0, MAX_COLUMNS], 1));
    for bad in [
        &[1, 0, 1, 0][..],
        &[1, 0, 0, 0, 1],
        &[1, 0, 1, 0, 0],
        &[1, 1, MAX_ROWS, 0, 1],
        &[1, 0, 1, MAX_COLUMNS, 1],
        &[1, u32::MAX, 2, 0, 1],
        // Not in order, twice, and two that are one.
        &[1, 2, 1, 0, 1, 1, 0, 1, 0, 1],
        &[1, 0, 1, 0, 1, 1, 0, 1, 0, 1],
        &[1, 0, 1, 0, 1, 1, 1, 1, 0, 1],
        &[1, 0, 9, 0, 9, 1, 2, 1, 2, 1],
    ] {
        assert!(!read(bad, 9), "{bad:?}");
    }
    assert!(!read(&[1, 0, 1, 0, 1, 1, 2, 1, 0, 1], 1), "too many");
    let unlisted = FormulaTraits::UNLISTED_AREAS;
    assert!(ReadAreas::from_numbers(unlisted, &[1, 0, 1, 0, 1], 1).is_none());
    assert!(ReadAreas::from_numbers(unlisted, &[], 1).is_some());
    assert_eq!(FormulaTraits::from_bits(1024), None);
    assert!(FormulaTraits::from_bits(1023).is_some());
}

#[test]
fn a_filled_formula_keeps_its_template_wherever_its_rows_move() {
    let insert =
        |sheet, before| MovedLines::one(sheet, Axis::Rows, LineMap::insert(Axis::Rows, before, 2));
    let (tile, moved_tile) = (cell(9, 0), cell(11, 0));
    let keeps =
        |text: &str, moves: &MovedLines, to| reads_of(&[text], 8).keep_templates(moves, tile, to);
    // Rows above all references.
    assert!(keeps("=B10*C9", &insert(OWN, 3), moved_tile));
    assert!(!keeps("=B10*$C$9", &insert(OWN, 3), moved_tile));
    assert!(!keeps("=B10*Data!C9", &insert(OWN, 3), moved_tile));
    assert!(!keeps("=B10*Missing!C9", &insert(OWN, 3), moved_tile));
    // Rows below, and rows of another sheet.
    assert!(keeps("=B10*$C$9+Missing!A1", &insert(OWN, 20), tile));
    assert!(keeps("=B10*$C$9", &insert(SheetId(3), 0), tile));
    assert!(!keeps("=B10*Data!$C$9", &insert(SheetId(3), 0), tile));
    // A row that is read.
    assert!(!keeps("=B10*C5", &insert(OWN, 5), moved_tile));
    assert!(!keeps("=SUM(B:B)", &insert(OWN, 3), moved_tile), "not known");
}
