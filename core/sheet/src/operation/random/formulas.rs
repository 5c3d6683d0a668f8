//! Random formulas that refer to cells of several sheets and to names.

use proptest::prelude::*;

use super::SIDE;
use crate::a1::column_name;

/// The cells, sheets and names to which random formulas refer.
#[derive(Debug, Clone, Copy)]
pub struct FormulaScope {
    /// Number of rows, from the first row on.
    pub rows: u32,
    /// Number of columns, from the first column on.
    pub columns: u32,
    /// Names of sheets. A formula may also refer to its own sheet, without a name.
    pub sheets: &'static [&'static str],
    /// Names that formulas use.
    pub names: &'static [&'static str],
    /// Whether some formulas need more memory than an evaluation may use.
    pub exceeds_limits: bool,
}

/// The cells, sheets and names of [`super::any_operation_with_formulas`]. Some do not exist.
const ANY_SCOPE: FormulaScope = FormulaScope {
    rows: SIDE,
    columns: SIDE,
    sheets: &["Sheet1", "a", "b", "c", "ab"],
    names: &["n", "o", "np"],
    exceeds_limits: true,
};

/// Generates formulas with references to the own sheet, to other sheets and to names.
pub fn any_formula() -> impl Strategy<Value = String> {
    any_formula_in(ANY_SCOPE)
}

/// Like [`any_formula`], with the references of a scope.
pub fn any_formula_in(scope: FormulaScope) -> impl Strategy<Value = String> {
    // The digits of one number are the choices, so that a smaller number gives a simpler formula.
    any::<u128>().prop_map(move |mut choices| {
        scope.draw_formula(&mut |end| {
            let base = u128::from(end.max(1));
            let choice = choices % base;
            choices /= base;
            u32::try_from(choice).unwrap_or(0)
        })
    })
}

impl FormulaScope {
    /// Draws a formula. `draw(end)` returns a number below `end`, and 0 for the simplest choice.
    pub fn draw_formula(&self, draw: &mut impl FnMut(u32) -> u32) -> String {
        match draw(if self.exceeds_limits { 26 } else { 25 }) {
            0 | 1 => format!("={}+{}", self.cell(draw), self.cell(draw)),
            2 | 3 => format!("=SUM({})", self.range(draw)),
            4 => format!("=COUNT({},{})", self.area(draw), self.area(draw)),
            5 => format!("=IF({}>2,{},{})", self.cell(draw), self.cell(draw), self.cell(draw)),
            6 => format!("=IFERROR({},{})", self.cell(draw), self.cell(draw)),
            7 => format!("=IFERROR(MATCH({},{},0),9)", self.cell(draw), self.range(draw)),
            8 => format!("=LEFT({}&{},9)", self.cell(draw), self.cell(draw)),
            9 => format!("=INDEX({},1,1)", self.range(draw)),
            10 => format!("=SUM(OFFSET({},{},0))", self.range(draw), draw(4)),
            11 => format!("=INDIRECT(\"A{}\")+{}", 1 + draw(self.rows), self.cell(draw)),
            12 => match pick(self.names, draw) {
                Some(name) => format!("=SUM({name},{})", self.cell(draw)),
                None => format!("={}", self.cell(draw)),
            },
            13 => format!("=RAND()+{}", self.cell(draw)),
            14 => format!("=NOW()-{}", self.cell(draw)),
            15 => format!("={}", self.range(draw)),
            16 => format!("=SUM({}:{})", column_name(0), column_name(draw(self.columns))),
            17 => format!("=ROWS({})+COLUMN({})", self.range(draw), self.cell(draw)),
            18 => format!("=SHEETS()+COUNTBLANK({})", self.range(draw)),
            19 => format!("=DATE(2026,1,{})+1", self.cell(draw)),
            20 => format!("=ROW()*{}", self.cell(draw)),
            21 => format!("=SEQUENCE({},{})+{}", 1 + draw(3), 1 + draw(2), self.cell(draw)),
            22 => format!("={}*2", self.range(draw)),
            23 => format!("=SUM({}#)", self.cell(draw)),
            24 => format!("=UNIQUE({})", self.range(draw)),
            _ => format!("=COUNT(SEQUENCE(99999999))+{}", self.cell(draw)),
        }
    }

    fn sheet_prefix(&self, draw: &mut impl FnMut(u32) -> u32) -> String {
        if draw(3) < 2 {
            return String::new();
        }
        pick(self.sheets, draw).map(|name| format!("'{name}'!")).unwrap_or_default()
    }

    fn corner(&self, draw: &mut impl FnMut(u32) -> u32) -> String {
        let column = column_name(draw(self.columns));
        let row = 1 + draw(self.rows);
        match draw(8) {
            5 => format!("${column}{row}"),
            6 => format!("{column}${row}"),
            7 => format!("${column}${row}"),
            _ => format!("{column}{row}"),
        }
    }

    fn cell(&self, draw: &mut impl FnMut(u32) -> u32) -> String {
        self.sheet_prefix(draw) + &self.corner(draw)
    }

    fn range(&self, draw: &mut impl FnMut(u32) -> u32) -> String {
        format!("{}{}:{}", self.sheet_prefix(draw), self.corner(draw), self.corner(draw))
    }

    /// Draws a cell, a range, or whole rows or columns.
    fn area(&self, draw: &mut impl FnMut(u32) -> u32) -> String {
        match draw(6) {
            0 => self.cell(draw),
            1 => {
                let (first, last) = (1 + draw(self.rows), 1 + draw(self.rows));
                format!("{}{first}:${last}", self.sheet_prefix(draw))
            }
            2 => {
                let (first, last) =
                    (column_name(draw(self.columns)), column_name(draw(self.columns)));
                format!("{}${first}:{last}", self.sheet_prefix(draw))
            }
            _ => self.range(draw),
        }
    }
}

fn pick(names: &'static [&'static str], draw: &mut impl FnMut(u32) -> u32) -> Option<&'static str> {
    let count = u32::try_from(names.len()).unwrap_or(u32::MAX);
    names.get(draw(count) as usize).copied()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use cellar_formula::Formula;
    use cellar_formula::reference::NoSheets;

    use super::*;

    proptest! {
        #[test]
        fn every_formula_is_accepted(text in any_formula()) {
            prop_assert!(Formula::parse(&text, &NoSheets).is_ok(), "{}", text);
        }
    }

    #[test]
    fn the_simplest_choices_give_the_simplest_formula() {
        assert_eq!(ANY_SCOPE.draw_formula(&mut |_| 0), "=A1+A1");
    }

    #[test]
    fn formulas_refer_to_all_sheets_and_names_of_the_scope() {
        let mut next = 0_u32;
        let mut draw = |end: u32| {
            next = next.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (next >> 8) % end.max(1)
        };
        let texts: Vec<String> = (0..1_000).map(|_| ANY_SCOPE.draw_formula(&mut draw)).collect();
        let functions: BTreeSet<&str> =
            texts.iter().filter_map(|text| text.split(['(', '+', '-']).next()).collect();
        assert!(functions.len() > 10, "{functions:?}");
        for name in ANY_SCOPE.sheets {
            let prefix = format!("'{name}'!");
            assert!(texts.iter().any(|text| text.contains(&prefix)), "{name}");
        }
        for name in ANY_SCOPE.names {
            let argument = format!("({name},");
            assert!(texts.iter().any(|text| text.contains(&argument)), "{name}");
        }
    }
}
