use cellar_grid::Axis;
use proptest::prelude::*;

use super::*;
use crate::reference::NoSheets;
use crate::testing::{Names, any_formula};

fn cell(row: u32, column: u32) -> CellName {
    CellName { row, column }
}

fn parse(text: &str) -> Formula {
    Formula::parse(text, &Names::DEFAULT).unwrap()
}

#[test]
fn a_filled_formula_has_one_template() {
    let template = Template::of(&parse("=a2*$B$1+sum(C2:$D2)"), cell(1, 4));
    let below = Template::of(&parse("=A9*$B$1+SUM(C9:$D9)"), cell(8, 4));
    assert_eq!(template, below);
    assert_eq!(template.encoded(), "=\u{1}r0c-4\u{2}*\u{1}R0C1\u{2}+SUM(\u{1}r0c-2:r0C3\u{2})");
    assert_eq!(template.text_at(cell(99, 4), &Names::DEFAULT), "=A100*$B$1+SUM(C100:$D100)");
}

#[test]
fn a_reference_outside_the_sheet_is_deleted() {
    let template = Template::of(&parse("=A1+Data!A1"), cell(1, 1));
    assert_eq!(template.text_at(cell(0, 1), &Names::DEFAULT), "=#REF!+Data!#REF!");
    let last = cell(Axis::Rows.limit() - 1, 5);
    let template = Template::of(&parse("=A2"), cell(0, 0));
    assert_eq!(template.text_at(last, &Names::DEFAULT), "=#REF!");
}

#[test]
fn sheets_are_stored_by_number() {
    let template = Template::of(&parse("=Data!A1+'It''s'!$B$2+Sheet1!1:2"), cell(0, 0));
    assert_eq!(template.encoded(), "=\u{1}3!r0c0\u{2}+\u{1}'It''s'!R1C1\u{2}+\u{1}0!r0:r1\u{2}");
    let renamed = Names(&[(0, "Sheet1"), (3, "My data")]);
    assert_eq!(template.text_at(cell(0, 0), &renamed), "='My data'!A1+'It''s'!$B$2+Sheet1!1:2");
    let deleted = Names(&[(0, "Sheet1")]);
    assert_eq!(template.text_at(cell(0, 0), &deleted), "=#REF!+'It''s'!$B$2+Sheet1!1:2");
}

/// The encoding must never change, because existing data depends on it.
#[test]
fn the_stored_form_is_that_of_the_golden_file() {
    let golden = include_str!("../../tests/golden/template-v1.txt");
    let mut lines = golden.lines().filter(|line| !line.starts_with('#'));
    let mut count = 0;
    while let (Some(text), Some(encoded)) = (lines.next(), lines.next()) {
        let encoded = encoded.replace('⟨', "\u{1}").replace('⟩', "\u{2}");
        let template = Template::of(&parse(text), cell(9, 4));
        assert_eq!(template.encoded(), encoded, "{text}");
        let decoded = Template::decode(encoded).unwrap();
        assert_eq!(decoded.text_at(cell(9, 4), &Names::DEFAULT), text);
        count += 1;
    }
    assert_eq!(count, 16);
}

#[test]
fn malformed_templates_are_refused() {
    for encoded in [
        "",
        "A1",
        "=\u{1}",
        "=\u{2}",
        "=\u{1}r0c0",
        "=\u{1}\u{2}",
        "=\u{1}r0\u{2}",
        "=\u{1}r0c\u{2}",
        "=\u{1}r+1c0\u{2}",
        "=\u{1}r01c0\u{2}",
        "=\u{1}r-0c0\u{2}",
        "=\u{1}R-1c0\u{2}",
        "=\u{1}r0c0:r1\u{2}",
        "=\u{1}r0c0:r1c1:r2c2\u{2}",
        "=\u{1}r0:c1\u{2}",
        "=\u{1}x1\u{2}",
        "=\u{1}a!r0c0\u{2}",
        "=\u{1}03!r0c0\u{2}",
        "=\u{1}4294967296!r0c0\u{2}",
        "=\u{1}'a!r0c0\u{2}",
        "=\u{1}r1073741824c0\u{2}",
        "=\u{1}r0C4194304\u{2}",
        "=\u{1}r0c0\u{2}\u{2}",
    ] {
        let decoded = Template::decode(encoded.to_owned());
        assert!(decoded.is_err(), "{encoded:?} {decoded:?}");
    }
    assert!(Template::decode("=\u{1}r-1073741823C4194303\u{2}".to_owned()).is_ok());
}

#[test]
fn the_limits_of_templates_hold_at_n_and_n_plus_1() {
    let of_bytes = |bytes: usize| Template::decode(format!("={}", "1".repeat(bytes - 1)));
    assert!(of_bytes(MAX_TEMPLATE_BYTES).is_ok());
    let bytes = MAX_TEMPLATE_BYTES + 1;
    assert_eq!(of_bytes(bytes), Err(UnreadableTemplate::TooLong { bytes }));
    let of_references =
        |count: usize| Template::decode(format!("={}", "\u{1}r0c0\u{2}".repeat(count)));
    assert!(of_references(MAX_FORMULA_REFERENCES).is_ok());
    let too_many = of_references(MAX_FORMULA_REFERENCES + 1);
    assert_eq!(too_many, Err(UnreadableTemplate::TooManyReferences));
}

#[test]
fn the_template_of_the_longest_formula_can_be_decoded() {
    let reference = "A1:B2,";
    let count = MAX_FORMULA_REFERENCES;
    let text = format!("=SUM({}1)", reference.repeat(count));
    let formula = parse(&text);
    let last = cell(Axis::Rows.limit() - 1, Axis::Columns.limit() - 1);
    let template = Template::of(&formula, last);
    assert!(template.encoded().len() > 40 * count);
    assert_eq!(Template::decode(template.encoded().to_owned()), Ok(template));
}

proptest! {
    #[test]
    fn text_and_template_are_inverse(text in any_formula(), row in 0..40_u32, column in 0..40_u32) {
        let formula = parse(&text);
        let at = cell(row, column);
        let template = Template::of(&formula, at);
        let canonical = template.text_at(at, &Names::DEFAULT);
        prop_assert_eq!(&canonical, &formula.canonical_text(&Names::DEFAULT));
        let again = parse(&canonical);
        prop_assert_eq!(&again.canonical_text(&Names::DEFAULT), &canonical);
        prop_assert_eq!(&Template::of(&again, at), &template);
        prop_assert_eq!(Template::decode(template.encoded().to_owned()), Ok(template.clone()));
        let references: Vec<Reference> = template.references_at(at).collect();
        let parsed: Vec<Reference> =
            formula.references().map(|placed| placed.reference.clone()).collect();
        prop_assert_eq!(references, parsed);
    }

    #[test]
    fn a_template_at_another_cell_is_a_copy_of_the_formula(
        text in any_formula(), row in 0..40_u32, column in 0..40_u32, to_row in 0..40_u32, to_column in 0..40_u32,
    ) {
        let formula = parse(&text);
        let (from, to) = (cell(row, column), cell(to_row, to_column));
        let copy = formula.map_references(|reference| reference.copied(from, to));
        let template = Template::of(&formula, from);
        prop_assert_eq!(template.text_at(to, &Names::DEFAULT), copy.text(&Names::DEFAULT));
    }

    #[test]
    fn decoding_any_text_does_not_panic(text in "=?[\u{1}\u{2}rcRCx0-9:!'-]{0,24}|\\PC{0,20}", row: u32) {
        if let Ok(template) = Template::decode(text) {
            let _ = template.text_at(cell(row, 0), &Names::DEFAULT);
        }
    }
}

#[test]
fn names_of_sheets_are_replaced_by_numbers() {
    let formula = Formula::parse("=SUM('It''s'!A1:B2)+A1+Costs!$C$3+other!D:E", &NoSheets).unwrap();
    let cell = CellName { row: 9, column: 9 };
    let template = Template::of(&formula, cell);
    assert!(!template.has_sheet_number());
    assert_eq!(template.sheet_names().collect::<Vec<_>>(), ["It's", "Costs", "other"]);
    let number_of = |name: &str| match name {
        "It's" => Some(SheetId(7)),
        "Costs" => Some(SheetId(3)),
        _ => None,
    };
    let numbered = template.clone().with_sheet_numbers(number_of);
    let expected = "=SUM(\u{1}7!r-9c-9:r-8c-8\u{2})+\u{1}r-9c-9\u{2}+\u{1}3!R2C2\u{2}+\u{1}'other'!c-6:c-5\u{2}";
    assert_eq!(numbered.encoded(), expected);
    assert!(numbered.has_sheet_number());
    assert_eq!(Template::decode(expected.to_owned()), Ok(numbered));
    assert_eq!(template.clone().with_sheet_numbers(|_| None), template);
}
