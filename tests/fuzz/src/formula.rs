//! Parsing of formulas.

use cellar_base::limits::MAX_FORMULA_BYTES;
use cellar_formula::reference::SheetNames;
use cellar_formula::{Formula, Template};
use cellar_grid::SheetId;
use cellar_grid::a1::CellName;

const CELL: CellName = CellName { row: 20, column: 9 };
const OTHER_CELL: CellName = CellName { row: 3, column: 1 };

struct Names;

impl SheetNames for Names {
    fn number(&self, name: &str) -> Option<SheetId> {
        match name.to_ascii_lowercase().as_str() {
            "sheet1" => Some(SheetId(0)),
            "my sheet" => Some(SheetId(3)),
            _ => None,
        }
    }

    fn name(&self, sheet: SheetId) -> Option<&str> {
        match sheet.0 {
            0 => Some("Sheet1"),
            3 => Some("My sheet"),
            _ => None,
        }
    }
}

/// Parses a text. A formula and its canonical text have the same nodes and the same template. The
/// template has the canonical text in the cell of the formula, and a formula in every other cell.
pub fn check_formula(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let formula = match Formula::parse(text, &Names) {
        Ok(formula) => formula,
        Err(error) => {
            assert!(text.get(error.span.clone()).is_some(), "{error:?}");
            assert!(error.character <= text.chars().count() + 1, "{error:?}");
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let canonical = formula.canonical_text(&Names);
    let template = Template::of(&formula, CELL);
    assert_eq!(Template::decode(template.encoded().to_owned()).as_ref(), Ok(&template));
    assert_eq!(template.text_at(CELL, &Names), canonical);
    if let Some(again) = parse_short(&canonical) {
        assert_eq!(again.expression().nodes(), formula.expression().nodes());
        assert_eq!(again.canonical_text(&Names), canonical);
        assert_eq!(Template::of(&again, CELL), template);
    }
    parse_short(&template.text_at(OTHER_CELL, &Names));
}

/// Parses a text that is a formula, unless quotes or moved references have made it too long.
fn parse_short(text: &str) -> Option<Formula> {
    if text.len() > MAX_FORMULA_BYTES {
        return None;
    }
    match Formula::parse(text, &Names) {
        Ok(formula) => Some(formula),
        Err(error) => panic!("{text}: {error}"),
    }
}
