//! Results of formulas, compared with the values that Excel calculated for them.

#[path = "../../../../core/functions/tests/facts/mod.rs"]
#[allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the file belongs to tests, which fail by panicking"
)]
pub(crate) mod facts;

use crate::Failure;
use crate::peers;
use crate::report::Row;
use cellar_sheet::cell::Value;
use facts::compare::{actual_values, is_equal};
use facts::{Fact, Workbook, read_workbooks};

/// A formula of one cell. Formulas that fill several cells are left out, because libraries take them
/// in different forms.
pub(crate) struct CellFormula<'a> {
    pub(crate) workbook: &'a Workbook,
    /// Index of the sheet in the workbook.
    pub(crate) sheet: usize,
    pub(crate) fact: &'a Fact,
}

impl CellFormula<'_> {
    /// Returns whether a result equals the value of Excel.
    pub(crate) fn is_right(&self, result: &Value) -> bool {
        let expected = self.workbook.sheets[self.sheet].values_in(self.fact.area);
        expected.iter().all(|expected| is_equal(expected, result))
    }

    fn is_right_in_cellar(&self) -> bool {
        let results = actual_values(self.workbook, self.sheet, self.fact);
        results.is_ok_and(|results| results.iter().all(|result| self.is_right(result)))
    }
}

fn formulas_of(workbooks: &[Workbook]) -> Vec<CellFormula<'_>> {
    let mut formulas = Vec::new();
    for workbook in workbooks {
        for (sheet, facts) in workbook.sheets.iter().map(|sheet| &sheet.facts).enumerate() {
            let single = facts.iter().filter(|fact| !fact.is_array);
            formulas.extend(single.map(|fact| CellFormula { workbook, sheet, fact }));
        }
    }
    formulas
}

pub(crate) fn run() -> Result<Vec<Row>, Failure> {
    let workbooks = read_workbooks();
    let formulas = formulas_of(&workbooks);
    let percent = |count: usize| count as f64 / formulas.len() as f64 * 100.0;
    let cellar: Vec<bool> = formulas.iter().map(CellFormula::is_right_in_cellar).collect();
    let wrong = |right: &[bool]| percent(right.iter().filter(|right| !**right).count());
    let mut different = Row::new("Excel's values", "% that differ", wrong(&cellar)).at_most(1.0);
    let mut alone = Row::new("Excel's values", "% that differ only here", 0.0);
    for (name, right) in peers::values::measured(&formulas)? {
        let only = |right: &[bool], other: &[bool]| {
            percent(right.iter().zip(other).filter(|(right, other)| !**right && **other).count())
        };
        different = different.beside(name, Some(wrong(&right)));
        alone = Row::new("Excel's values", "% that differ only here", only(&cellar, &right))
            .beside(name, Some(only(&right, &cellar)));
    }
    Ok(vec![different, alone])
}
