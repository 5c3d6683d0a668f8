use cellar_grid::a1::{CellName, Range, Rectangle};
use cellar_grid::axis_map::AxisMap;
use cellar_grid::testing::random_cases;
use cellar_grid::{Axis, SheetId, Span, Spans};
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::testing::{Names, any_formula, any_reference};
use crate::{Formula, LineMap};

const OWN: SheetId = SheetId(0);
const DATA: SheetId = SheetId(3);

fn parse(text: &str) -> Formula {
    Formula::parse(text, &Names::DEFAULT).unwrap()
}

fn cell(text: &str) -> CellName {
    text.parse().unwrap()
}

fn rectangle(text: &str) -> Rectangle {
    text.parse::<Range>().unwrap().rectangle
}

fn insert(sheet: SheetId, axis: Axis, before: u32, count: u32) -> MovedLines {
    MovedLines::one(sheet, axis, LineMap::insert(axis, before, count))
}

fn delete(sheet: SheetId, axis: Axis, first: u32, count: u32) -> MovedLines {
    MovedLines::one(sheet, axis, LineMap::delete(axis, &Spans::one(first, count)))
}

/// Returns the text of a formula on the first sheet after rows and columns have moved.
fn after(text: &str, moves: &MovedLines) -> String {
    parse(text).map_references(|reference| reference.moved(OWN, moves)).text(&Names::DEFAULT)
}

#[test]
fn references_follow_rows_and_columns() {
    let text = "=B2+$B$2+SUM(B2:D4)+SUM(B:D)+SUM(2:4)+Data!B2+Missing!B2+#REF!";
    for (moves, expected) in [
        (
            insert(OWN, Axis::Rows, 1, 2),
            "=B4+$B$4+SUM(B4:D6)+SUM(B:D)+SUM(4:6)+Data!B2+Missing!B2+#REF!",
        ),
        (
            insert(OWN, Axis::Rows, 3, 1),
            "=B2+$B$2+SUM(B2:D5)+SUM(B:D)+SUM(2:5)+Data!B2+Missing!B2+#REF!",
        ),
        (
            insert(OWN, Axis::Rows, 4, 1),
            "=B2+$B$2+SUM(B2:D4)+SUM(B:D)+SUM(2:4)+Data!B2+Missing!B2+#REF!",
        ),
        (
            insert(OWN, Axis::Columns, 1, 1),
            "=C2+$C$2+SUM(C2:E4)+SUM(C:E)+SUM(2:4)+Data!B2+Missing!B2+#REF!",
        ),
        (
            delete(OWN, Axis::Rows, 1, 1),
            "=#REF!+#REF!+SUM(B2:D3)+SUM(B:D)+SUM(2:3)+Data!B2+Missing!B2+#REF!",
        ),
        (
            delete(OWN, Axis::Rows, 0, 9),
            "=#REF!+#REF!+SUM(#REF!)+SUM(B:D)+SUM(#REF!)+Data!B2+Missing!B2+#REF!",
        ),
        (
            delete(OWN, Axis::Columns, 3, 1),
            "=B2+$B$2+SUM(B2:C4)+SUM(B:C)+SUM(2:4)+Data!B2+Missing!B2+#REF!",
        ),
        (
            delete(DATA, Axis::Rows, 1, 1),
            "=B2+$B$2+SUM(B2:D4)+SUM(B:D)+SUM(2:4)+Data!#REF!+Missing!B2+#REF!",
        ),
    ] {
        assert_eq!(after(text, &moves), expected, "{moves:?}");
    }
}

#[test]
fn a_deleted_sheet_deletes_its_references() {
    let formula = parse("=A1+Data!A1+SUM(Data!A:A)+Data!#REF!");
    let changed = formula.map_references(|reference| reference.after_sheet_deletion(OWN, DATA));
    assert_eq!(changed.text(&Names::DEFAULT), "=A1+#REF!+SUM(#REF!)+#REF!");
    assert!(!changed.is_unchanged());
    let unchanged =
        formula.map_references(|reference| reference.after_sheet_deletion(OWN, SheetId(5)));
    assert!(unchanged.is_unchanged());
}

#[test]
fn a_sorted_row_copies_its_formulas() {
    // Row 2 becomes row 5. Row numbers without `$` change by 3, and row numbers with `$` stay the
    // same.
    let formula = parse("=A2*B$1+SUM($C2:C3)+Data!A1");
    let sorted = formula.map_references(|reference| reference.copied(cell("D2"), cell("D5")));
    assert_eq!(sorted.text(&Names::DEFAULT), "=A5*B$1+SUM($C5:C6)+Data!A4");
    let up = formula.map_references(|reference| reference.copied(cell("D2"), cell("D1")));
    assert_eq!(up.text(&Names::DEFAULT), "=A1*B$1+SUM($C1:C2)+Data!#REF!");
    let range = parse("=SUM(A$3:A4)");
    let up = range.map_references(|reference| reference.copied(cell("B4"), cell("B1")));
    assert_eq!(up.text(&Names::DEFAULT), "=SUM(A1:A$3)");
}

fn after_block(text: &str, at: &str, from: (SheetId, &str), to: (SheetId, &str)) -> String {
    let block = MovedBlock::new(from.0, rectangle(from.1), to.0, cell(to.1)).unwrap();
    let formula = parse(text);
    let changed = formula.map_references(|reference| reference.after_move(OWN, cell(at), &block));
    changed.text(&Names::DEFAULT)
}

#[test]
fn references_follow_a_block_that_contains_all_of_them() {
    let own = |range| (OWN, range);
    let outside = |text, from, to| after_block(text, "Z9", from, to);
    assert_eq!(outside("=SUM(A1:B2)+$A$1", own("A1:C3"), own("E5")), "=SUM(E5:F6)+$E$5");
    // A range does not follow a block that contains only a part of it.
    assert_eq!(outside("=SUM(A1:B2)+A1", own("A1:A3"), own("E5")), "=SUM(A1:B2)+E5");
    assert_eq!(outside("=SUM(A1:B2)", own("A1:B2"), (DATA, "A1")), "=SUM(Data!A1:B2)");
    assert_eq!(outside("=Data!A1", (DATA, "A1"), own("B1")), "=Sheet1!B1");
    assert_eq!(outside("=SUM(2:3)+SUM(A:A)", own("2:3"), own("A8")), "=SUM(8:9)+SUM(A:A)");
    // References to overwritten cells become `#REF!`, unless they also refer to other cells.
    assert_eq!(outside("=E5+SUM(E5:E9)", own("A1:B2"), own("E5")), "=#REF!+SUM(E5:E9)");
    // A block may overlap its destination.
    assert_eq!(outside("=A1+A2+A3", own("A1:A2"), own("A2")), "=A2+A3+#REF!");
}

#[test]
fn a_formula_in_a_moved_block_keeps_its_cells() {
    let inside = |text, to| after_block(text, "B2", (OWN, "A1:B2"), to);
    assert_eq!(inside("=A1+D4", (OWN, "E5")), "=E5+D4");
    assert_eq!(inside("=A1+D4+Data!D4", (DATA, "E5")), "=E5+Sheet1!D4+Data!D4");
}

#[test]
fn a_block_is_not_moved_beyond_the_sheet() {
    let rows = Axis::Rows.limit();
    let to = |row| MovedBlock::new(OWN, rectangle("A1:B2"), OWN, CellName { row, column: 0 });
    assert!(to(rows - 2).is_ok());
    let error = to(rows - 1).unwrap_err().to_string();
    assert_eq!(
        error,
        "A1:B2 does not fit at A1073741824: it would extend beyond the largest possible sheet"
    );
}

#[test]
fn the_maps_of_sheets_are_those_of_their_axis_maps() {
    let rows = AxisMap::insert(Axis::Rows, 1, 2);
    let columns = AxisMap::delete(Axis::Columns, &Spans::one(3, 1));
    let lines = SheetLines::of_axis_maps(rows, columns);
    let other = SheetLines { rows: LineMap::insert(Axis::Rows, 0, 9), ..SheetLines::default() };
    let moves: MovedLines = [(OWN, lines), (DATA, other)].into_iter().collect();
    let own = insert(OWN, Axis::Rows, 1, 2).then(&delete(OWN, Axis::Columns, 3, 1));
    assert_eq!(moves, own.then(&insert(DATA, Axis::Rows, 0, 9)));
    assert_eq!(after("=SUM(B2:E4)+Data!B2", &moves), "=SUM(B4:D6)+Data!B11");
}

fn any_moves() -> impl Strategy<Value = MovedLines> {
    let sheet = prop_oneof![Just(OWN), Just(DATA)];
    let axis = prop_oneof![Just(Axis::Rows), Just(Axis::Columns)];
    let spans = vec((0..24_u32, 1..4_u32), 1..3).prop_map(|spans| {
        let mut spans: Vec<Span> =
            spans.into_iter().map(|(first, count)| Span { first, count }).collect();
        spans.sort_by_key(|span| span.first);
        Spans::from_sorted(spans)
    });
    (sheet, axis, 0..24_u32, 1..4_u32, proptest::option::of(spans)).prop_map(
        |(sheet, axis, before, count, spans)| match spans {
            None => insert(sheet, axis, before, count),
            Some(spans) => MovedLines::one(sheet, axis, LineMap::delete(axis, &spans)),
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(random_cases(1_000)))]

    #[test]
    fn a_formula_moves_by_a_composed_map_as_by_each_operation(
        text in any_formula(),
        changes in vec(any_moves(), 0..8),
    ) {
        let mut each = parse(&text);
        let mut map = MovedLines::default();
        for moves in &changes {
            let moved = each.map_references(|reference| reference.moved(OWN, moves));
            each = parse(&moved.text(&Names::DEFAULT));
            map = map.then(moves);
        }
        let formula = parse(&text);
        let all = formula.map_references(|reference| reference.moved(OWN, &map));
        prop_assert_eq!(all.text(&Names::DEFAULT), each.canonical_text(&Names::DEFAULT));
    }

    #[test]
    fn inserted_rows_that_are_deleted_again_change_no_reference(
        reference in any_reference(), before in 0..30_u32, count in 1..5_u32,
    ) {
        let formula = parse(&format!("={reference}"));
        let map = LineMap::insert(Axis::Rows, before, count)
            .then(&LineMap::delete(Axis::Rows, &Spans::one(before, count)));
        let moves = MovedLines::one(OWN, Axis::Rows, map);
        let moved = formula.map_references(|reference| reference.moved(OWN, &moves));
        prop_assert!(moved.is_unchanged());
    }

    #[test]
    fn a_copy_and_back_is_the_same_reference(
        reference in any_reference(), row in 40..80_u32, column in 40..80_u32,
    ) {
        let formula = parse(&format!("={reference}"));
        let (from, to) = (cell("T40"), CellName { row, column });
        let there = formula.map_references(|reference| reference.copied(from, to));
        let back = there.references().iter().map(|reference| reference.copied(to, from));
        for (back, start) in back.zip(formula.references()) {
            prop_assert_eq!(&back.sheet, &start.reference.sheet);
            prop_assert_eq!(back.area.rectangle(), start.reference.area.rectangle());
        }
    }
}
