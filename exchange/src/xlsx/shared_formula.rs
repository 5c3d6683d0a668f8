//! Shared formulas of xlsx sheets.

use std::ops::RangeInclusive;
use std::sync::Arc;

use cellar_formula::Template;
use cellar_sheet::a1::CellName;
use cellar_sheet::axis_map::Axis;

use super::shared::shift_formula;
use super::sheet::clean_formula;
use crate::workbook::cell::WorkbookCell;
use crate::workbook::dynamic_arrays::Evaluation;
use crate::workbook::formula::ParsedFormula;
use crate::workbook::{EXCEL_COLUMNS, EXCEL_ROWS};

/// A shared formula, with the position of the cell that contains its text.
#[derive(Debug)]
pub(super) struct SharedFormula {
    text: String,
    row: u32,
    column: u32,
    /// `None` if Cellar cannot parse or calculate the formula. Each copy is then counted.
    template: Option<SharedTemplate>,
}

/// A template and the cells in which it means the same as in Excel. In other cells, a reference of
/// Excel continues at the opposite edge of the sheet.
#[derive(Debug)]
struct SharedTemplate {
    encoded: Arc<str>,
    rows: RangeInclusive<i64>,
    columns: RangeInclusive<i64>,
}

impl SharedFormula {
    /// `first_cell` contains the text of the formula as it is in the file.
    pub(super) fn new(first_cell: &WorkbookCell) -> Self {
        let WorkbookCell { row, column, formula, .. } = first_cell;
        let place = CellName { row: *row, column: *column };
        Self {
            text: formula.clone(),
            row: *row,
            column: *column,
            template: SharedTemplate::of(formula.clone(), place),
        }
    }

    /// Sets the formula of another cell.
    pub(super) fn copy_to(&self, cell: &mut WorkbookCell) {
        if let Some(template) = &self.template
            && template.rows.contains(&cell.row.into())
            && template.columns.contains(&cell.column.into())
        {
            cell.template = Some(Arc::clone(&template.encoded));
            return;
        }
        let row_offset = i64::from(cell.row) - i64::from(self.row);
        let column_offset = i64::from(cell.column) - i64::from(self.column);
        cell.formula = shift_formula(&self.text, row_offset, column_offset);
        clean_formula(&mut cell.formula);
    }
}

impl SharedTemplate {
    fn of(mut text: String, place: CellName) -> Option<Self> {
        clean_formula(&mut text);
        let parsed = ParsedFormula::parse(&text, place, Evaluation::Ordinary)
            .filter(|parsed| parsed.is_supported)?;
        Some(Self {
            rows: cells_inside(&parsed.template, place, Axis::Rows),
            columns: cells_inside(&parsed.template, place, Axis::Columns),
            encoded: parsed.template.encoded().into(),
        })
    }
}

/// Returns the rows or columns of the cells in which all references of the template are within a
/// sheet of Excel.
fn cells_inside(template: &Template, place: CellName, axis: Axis) -> RangeInclusive<i64> {
    let (own_index, count) = match axis {
        Axis::Rows => (i64::from(place.row), i64::from(EXCEL_ROWS)),
        Axis::Columns => (i64::from(place.column), i64::from(EXCEL_COLUMNS)),
    };
    let (mut first, mut last) = (0, count - 1);
    for reference in template.references_at(place) {
        let Some(ends) = reference.area.ends(axis) else { continue };
        for end in [ends.first, ends.last].into_iter().filter(|end| !end.is_absolute) {
            let distance = i64::from(end.index) - own_index;
            first = first.max(-distance);
            last = last.min(count - 1 - distance);
        }
    }
    first..=last
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cell(row: u32, column: u32) -> WorkbookCell {
        WorkbookCell { row, column, ..WorkbookCell::default() }
    }

    /// Returns the text of a copy, and whether it has a template.
    fn copied(text: &str, first: (u32, u32), other: (u32, u32)) -> (String, bool) {
        let first_cell = WorkbookCell { formula: text.to_owned(), ..cell(first.0, first.1) };
        let mut copy = cell(other.0, other.1);
        SharedFormula::new(&first_cell).copy_to(&mut copy);
        let place = CellName { row: other.0, column: other.1 };
        match &copy.template {
            Some(encoded) => {
                let template = Template::decode(encoded.to_string()).unwrap();
                (template.text_at(place, &cellar_formula::reference::NoSheets), true)
            }
            None => (copy.formula, false),
        }
    }

    #[test]
    fn copies_have_the_same_template_unless_a_reference_leaves_the_sheet() {
        for (text, other, expected, has_template) in [
            ("A1*$A$1", (4, 2), "=B3*$A$1", true),
            (
                "_xlfn.XLOOKUP(A1,Data!B:B,Data!$C:$C)",
                (3, 2),
                "=XLOOKUP(B2,Data!C:C,Data!$C:$C)",
                true,
            ),
            ("A1", (0, 1), "=A1048575", false),
            ("A1", (1, 1), "=A1048576", false),
            ("A1", (2, 0), "=XFD1", false),
            ("C5", (1_048_574, 1), "=C1", false),
            ("1:1+$B2", (3, 900), "=@2:2+$B3", true),
            ("Table1[a]+A1", (3, 1), "=Table1[a]+A2", false),
            ("A1+(", (3, 1), "=A2+(", false),
        ] {
            let copy = copied(text, (2, 1), other);
            assert_eq!(copy, (expected.to_owned(), has_template), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_template_means_the_same_as_a_shifted_text(
            references in proptest::collection::vec("\\$?[A-E]\\$?[1-9](:\\$?[A-E]\\$?[1-9])?", 1..4),
            first in (0..12_u32, 0..6_u32),
            other in (0..12_u32, 0..6_u32),
        ) {
            let text = references.join("+");
            let (copy, _) = copied(&text, first, other);
            let row_offset = i64::from(other.0) - i64::from(first.0);
            let column_offset = i64::from(other.1) - i64::from(first.1);
            let shifted = format!("={}", shift_formula(&text, row_offset, column_offset));
            let cells = |text: &str| {
                let place = CellName { row: other.0, column: other.1 };
                let template = ParsedFormula::parse(text, place, Evaluation::Array).unwrap().template;
                template.references_at(place).map(|one| one.area.rectangle()).collect::<Vec<_>>()
            };
            prop_assert_eq!(cells(&copy), cells(&shifted));
        }
    }
}
