//! Inputs of the formulas of a template.

use cellar_base::limits::{MAX_COLUMNS, MAX_ROWS};
use cellar_grid::SheetId;
use cellar_grid::a1::CellName;

use super::{Part, Parts, Template, code};
use crate::expression::FormulaTraits;
use crate::formula::Formula;
use crate::reference::{Area, NoSheets, Reference, SheetNames, write_reference};

const MIDDLE: CellName = Template::MIDDLE;

/// Every sheet exists, so that references keep their sizes.
struct AnySheet;

impl SheetNames for AnySheet {
    fn number(&self, _: &str) -> Option<SheetId> {
        None
    }

    fn name(&self, _: SheetId) -> Option<&str> {
        Some("S")
    }
}

impl Template {
    /// A cell far from the ends of the largest possible sheet, in which most references keep their
    /// sizes.
    pub const MIDDLE: CellName = CellName { row: MAX_ROWS / 2, column: MAX_COLUMNS / 2 };

    /// Returns whether no reference of the formula in `cell` is outside the largest possible sheet.
    /// If this is so in two cells of a column, it is so in all cells between them.
    #[must_use]
    pub fn is_inside_sheet_at(&self, cell: CellName) -> bool {
        Parts::of(&self.0).all(|part| match part {
            Part::Text(_) => true,
            Part::Code { code, .. } => {
                matches!(code::decode_with_place(code, cell), Some((_, false)))
            }
        })
    }

    /// Returns the facts of the formula that follow from its functions, operators and names. They
    /// are the same in all cells.
    #[must_use]
    pub fn traits(&self) -> FormulaTraits {
        if Parts::of(&self.0).all(|part| !may_have_traits(&part)) {
            return FormulaTraits::NONE;
        }
        let mut text = String::with_capacity(self.0.len());
        for part in Parts::of(&self.0) {
            match part {
                Part::Text(unchanged) => text.push_str(unchanged),
                Part::Code { code, .. } => match code::decode_with_place(code, MIDDLE) {
                    Some((reference, false)) => write_reference(&reference, &AnySheet, &mut text),
                    _ => return FormulaTraits::ANY_INPUT,
                },
            }
        }
        let formula = Formula::parse(&text, &NoSheets);
        formula.map_or(FormulaTraits::ANY_INPUT, |formula| FormulaTraits::of(formula.expression()))
    }

    /// Returns the references of the formula in `cell`, in the order of the text. Rows and columns
    /// outside the largest possible sheet are replaced by the nearest ones inside.
    pub(crate) fn nearest_references_at(
        &self,
        cell: CellName,
    ) -> impl Iterator<Item = Reference> + '_ {
        Parts::of(&self.0).filter_map(move |part| match part {
            Part::Text(_) => None,
            Part::Code { code, .. } => Some(code::decode_with_place(code, cell)?.0),
        })
    }
}

/// Returns whether a part of a template may have other facts than that it calculates with numbers.
fn may_have_traits(part: &Part<'_>) -> bool {
    const ARITHMETIC: &[u8] = b"0123456789. +-*/^&=<>%(),";
    match part {
        Part::Text(text) => !text.bytes().all(|byte| ARITHMETIC.contains(&byte)),
        Part::Code { code, .. } => match code::decode_with_place(code, MIDDLE) {
            Some((reference, _)) => !matches!(reference.area, Area::Cell { .. } | Area::Deleted),
            None => true,
        },
    }
}
