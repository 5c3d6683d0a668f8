//! The areas of tiles, and their stored form.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use cellar_sheet::a1::{Range, SheetArea};

const SHEET: SheetId = SheetId(4);

fn column_of(index: u32, formulas: &[(u32, &str)]) -> TileColumn {
    let mut column = TileColumn::new(index);
    for (row, text) in formulas {
        let cell = CellName { row: 10 + row, column: 2 + index };
        let formula = Formula::parse(text, &NoSheets).unwrap();
        column.templates.push(*row, Template::of(&formula, cell).encoded());
    }
    column
}

fn formulas_of(columns: Vec<TileColumn>) -> TileFormulas {
    TileFormulas::of_tile(&Tile { columns }, CellName { row: 10, column: 2 }, SHEET)
}

fn areas(ranges: &[&str]) -> Vec<SheetArea> {
    let area =
        |range: &&str| SheetArea { sheet: SHEET, cells: range.parse::<Range>().unwrap().rectangle };
    ranges.iter().map(area).collect()
}

#[test]
fn the_areas_of_a_tile_are_those_of_its_formulas() {
    let filled = column_of(0, &[(0, "=A11*2"), (1, "=A12*2"), (2, "=A13*2"), (7, "=A18*2")]);
    let other = column_of(3, &[(1, "=SUM($H$1:H9)"), (2, "=SUM($H$1:H10)+now()")]);
    let found = formulas_of(vec![filled, other]);
    assert_eq!(found.count, 6);
    assert_eq!(found.reads.areas(), areas(&["H1:H10", "A11:A13", "A18"]));
    let facts =
        FormulaTraits::TIME.with(FormulaTraits::FIXED_ROWS).with(FormulaTraits::FIXED_COLUMNS);
    assert_eq!(found.reads.traits(), facts);
}

#[test]
fn texts_of_older_releases_that_are_formulas_have_areas() {
    let mut column = TileColumn::new(1);
    column.formulas.push(0, "=B1+rate");
    column.formulas.push(1, "no formula");
    let found = formulas_of(vec![column]);
    assert_eq!((found.count, found.reads.areas()), (2, areas(&["B1"]).as_slice()));
    assert_eq!(found.reads.traits(), FormulaTraits::NAMES);
}

#[test]
fn many_areas_become_few() {
    let texts: Vec<String> = (1..200).map(|row| format!("=${}${}", "ABC", row * row)).collect();
    let formulas: Vec<(u32, &str)> = (0..).zip(texts.iter().map(String::as_str)).collect();
    let found = formulas_of(vec![column_of(0, &formulas)]);
    assert_eq!(found.reads.areas().len(), MAX_TILE_READ_AREAS);
    assert_eq!(TileFormulas::from_numbers(&found.numbers()), Some(found));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn any_numbers_are_formulas_or_refused(numbers in vec(0..9_u32, 0..22)) {
        if let Some(formulas) = TileFormulas::from_numbers(&numbers) {
            prop_assert_eq!(formulas.numbers(), numbers);
            let bytes = minicbor::to_vec(&formulas).unwrap();
            prop_assert_eq!(minicbor::decode::<TileFormulas>(&bytes).unwrap(), formulas);
        }
    }

    #[test]
    fn any_bytes_are_formulas_or_refused(bytes in vec(any::<u8>(), 0..40)) {
        let _ = minicbor::decode::<TileFormulas>(&[&[0x82, 1, 0x82, 3], bytes.as_slice()].concat());
    }
}

#[test]
fn a_long_list_of_areas_is_refused_before_it_takes_memory() {
    let list = [&[0x82, 1, 0x82, 3, 0x9a, 0xff, 0xff, 0xff, 0xff][..], &[0; 4_000]].concat();
    assert!(minicbor::decode::<TileFormulas>(&list).is_err());
}
