//! Determines what a formula depends on, other than the cells that it references.

use super::{BinaryOperator, Expression, Node, NodeIndex, PostfixOperator};
use crate::reference::{Area, Ends};
use cellar_grid::Axis;

/// Functions that resize the range in their third argument to the size of their first argument.
const RESIZING_FUNCTIONS: [&str; 2] = ["AVERAGEIF", "SUMIF"];
/// Functions and the facts that follow from their use.
const TABLES: [(&[&str], FormulaTraits); 4] = [
    (&["NOW", "TODAY"], FormulaTraits::TIME),
    (&["RAND", "RANDARRAY", "RANDBETWEEN"], FormulaTraits::RANDOM_NUMBERS),
    // They return cells outside their arguments.
    (&["INDIRECT", "OFFSET"], FormulaTraits::CALCULATED_REFERENCES),
    (&["CELL", "COLUMN", "FORMULATEXT", "ROW", "SHEET", "SHEETS"], FormulaTraits::PLACES),
];
/// Prefixes that Excel stores before the names of newer functions, of parameters, and of functions
/// that are passed to others, in the order in which they are written.
const STORAGE_PREFIXES: [&str; 5] = ["_XLFN.", "_XLWS.", "_XLPM.", "_XLOP.", "_XLETA."];

/// A set of facts that hold for at least one of some formulas.
///
/// Formulas that are not parsed again after a release keep their facts, which a snapshot stores. So a
/// new function with one of these facts needs a new version of the tile index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct FormulaTraits(u16);

impl FormulaTraits {
    /// No formula has any of the facts.
    pub const NONE: Self = Self(0);
    /// A formula uses a defined name, or a parameter of `LET` or `LAMBDA`. A defined name that is
    /// called, as `RATE` in `RATE(2)`, is not included.
    pub const NAMES: Self = Self(1);
    /// A formula names a sheet that did not exist. A newer sheet may get this name.
    pub const UNKNOWN_SHEETS: Self = Self(1 << 1);
    /// Only evaluation knows all cells that a formula reads: it uses `INDIRECT`, `OFFSET`, a range
    /// such as `A1:INDEX(B:B,3)`, a spilled range such as `A1#`, the cells of several sheets, or
    /// `SUMIF` or `AVERAGEIF` with ranges of different sizes.
    pub const CALCULATED_REFERENCES: Self = Self(1 << 2);
    /// The result depends on the row or column of the formula or of a referenced cell, or on the
    /// names or the order of sheets.
    pub const PLACES: Self = Self(1 << 3);
    /// The result depends on the current time.
    pub const TIME: Self = Self(1 << 4);
    /// The result depends on random numbers.
    pub const RANDOM_NUMBERS: Self = Self(1 << 5);
    /// A reference has `$` before a row.
    pub const FIXED_ROWS: Self = Self(1 << 6);
    /// A reference has `$` before a column.
    pub const FIXED_COLUMNS: Self = Self(1 << 7);
    /// The formulas name cells of more sheets than a bounded list of areas can contain.
    pub const UNLISTED_AREAS: Self = Self(1 << 8);
    /// The result may have several cells, so it may spill. Defined names count as single cells, and
    /// `INDEX` with a calculated row or column number counts as a single cell although 0 selects a
    /// whole row or column.
    pub const ARRAYS: Self = Self(1 << 9);
    /// All facts about values.
    pub const ANY_INPUT: Self = Self((1 << 6) - 1).with(Self::ARRAYS);
    /// All facts.
    const ALL: Self = Self((1 << 10) - 1);

    /// Returns the facts of a formula that follow from its functions, operators and names. Those of
    /// its references are not included.
    #[must_use]
    pub fn of(expression: &Expression) -> Self {
        let nodes = expression.nodes();
        let may_spill = expression.may_have_several_cells(|_| false);
        let shape = if may_spill { Self::ARRAYS } else { Self::NONE };
        nodes.iter().fold(shape, |traits, node| traits.with(of_node(node, nodes)))
    }

    /// Returns the functions that have one of the facts.
    pub fn functions() -> impl Iterator<Item = &'static str> {
        TABLES.into_iter().flat_map(|(functions, _)| functions).chain(&RESIZING_FUNCTIONS).copied()
    }

    /// Returns the facts of both sets.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns whether both sets have a fact in common.
    #[must_use]
    pub fn has_any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the stored form of the set.
    #[must_use]
    pub fn bits(self) -> u16 {
        self.0
    }

    /// Returns the set with this stored form, or `None` if there are others than the facts above.
    #[must_use]
    pub fn from_bits(bits: u16) -> Option<Self> {
        if bits <= Self::ALL.0 { Some(Self(bits)) } else { None }
    }
}

fn of_node(node: &Node, nodes: &[Node]) -> FormulaTraits {
    match node {
        Node::Call { function, arguments } => of_call(short_name(function), arguments, nodes),
        // A function can be passed as an argument, as in `MAP(A1:A3,INDIRECT)`.
        Node::Name(name) => of_function(short_name(name)).with(FormulaTraits::NAMES),
        Node::SeveralSheets { .. }
        | Node::Postfix { operator: PostfixOperator::Spill, .. }
        | Node::Binary { operator: BinaryOperator::Range, .. } => {
            FormulaTraits::CALCULATED_REFERENCES
        }
        _ => FormulaTraits::NONE,
    }
}

fn of_call(function: &str, arguments: &[NodeIndex], nodes: &[Node]) -> FormulaTraits {
    let is_resizing = RESIZING_FUNCTIONS.contains(&function) && !has_equal_ranges(arguments, nodes);
    // Without a reference, `CELL` describes the cell that contains the formula.
    let is_about_own_cell = function == "CELL" && arguments.len() == 1;
    let traits = of_function(function);
    if is_resizing || is_about_own_cell || function == "ANCHORARRAY" {
        return traits.with(FormulaTraits::CALCULATED_REFERENCES);
    }
    traits
}

fn of_function(name: &str) -> FormulaTraits {
    let of_table = |(names, traits): (&[&str], FormulaTraits)| {
        if names.contains(&name) { traits } else { FormulaTraits::NONE }
    };
    TABLES.into_iter().map(of_table).fold(FormulaTraits::NONE, FormulaTraits::with)
}

pub(super) fn short_name(name: &str) -> &str {
    STORAGE_PREFIXES.iter().fold(name, |name, prefix| name.strip_prefix(prefix).unwrap_or(name))
}

/// Returns whether the first and third arguments have the same size. Returns `true` if there is no
/// third argument.
fn has_equal_ranges(arguments: &[NodeIndex], nodes: &[Node]) -> bool {
    let size_at = |place: usize| match nodes.get(arguments.get(place)?.get())? {
        Node::Reference(reference) => size_of(&reference.area),
        Node::SeveralSheets { area, .. } => size_of(area),
        _ => None,
    };
    arguments.len() < 3 || (size_at(0).is_some() && size_at(0) == size_at(2))
}

/// The extent of a range along one axis: the number of rows or columns minus one, and whether each
/// end is absolute (has `$`). Two ranges with equal extents still have equal extents after the
/// formula is filled into other cells.
pub(super) type AxisExtent = (u32, bool, bool);
/// The extents of rows and of columns, or `None` for all.
pub(super) type AreaSize = (Option<AxisExtent>, Option<AxisExtent>);

/// The extent of one row or column.
pub(super) const ONE_LINE: Option<AxisExtent> = Some((0, false, false));

/// Returns the size of an area, or `None` if the reference is deleted.
pub(super) fn size_of(area: &Area) -> Option<AreaSize> {
    if matches!(area, Area::Deleted) {
        return None;
    }
    let size = |axis: Axis| {
        let Ends { first, last } = area.ends(axis)?;
        // If both ends move alike, the size does not depend on the cell.
        let is_mixed = first.is_absolute != last.is_absolute;
        let (first_is_fixed, last_is_fixed) =
            (is_mixed && first.is_absolute, is_mixed && last.is_absolute);
        Some((last.index.abs_diff(first.index), first_is_fixed, last_is_fixed))
    };
    Some((size(Axis::Rows), size(Axis::Columns)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Formula;
    use crate::reference::NoSheets;

    #[test]
    fn formulas_tell_what_they_depend_on() {
        for (text, expected) in [
            ("=A1+SUM(Data!B:B)+1", ""),
            ("=\"NOW()\"&INDEX(A:A,3)&A1:B2 B1:B3", ""),
            ("=SUM((A1,B1))+x", "names"),
            ("=SUMIF(A1:A9,1)+SUMIF(A1:A9,1,B2:B10)+AVERAGEIF(A:A,1,C:C)", ""),
            ("=SUMIF(Data!A1:A9,1,Data!$B$1:$B$9)+RATE2(1)", ""),
            ("=CELL(\"row\",A1)", "places"),
            ("=SUMIF(A$1:A9,1,B$1:B9)+SUMIF($A$1:$A$9,1,B1:B9)", ""),
            ("=SUMIF(A$1:A9,1,B1:B9)", "references"),
            ("=SUMIF(A1:A9,1,B1)", "references"),
            ("=SUMIF(A1:A9,1,#REF!)", "references"),
            ("=AVERAGEIF(A:A,1,B1:B9)", "references"),
            ("=SUMIF(A1:A9,1,IF(A1,B1:B9,C1))", "references"),
            ("=CELL(\"contents\")", "references places"),
            ("=SUM(Sheet1:Sheet3!A1)", "references"),
            ("=now()", "time"),
            ("=IF(A1,1+TODAY(),2)", "time"),
            ("=RAND()", "random"),
            ("=RANDBETWEEN(1,6)", "random"),
            ("=SUM(_xlfn.RANDARRAY(3))", "random"),
            ("=INDIRECT(A1)", "references"),
            ("=SUM(OFFSET(A1,1,0))", "references"),
            ("=SUM(A1:INDEX(A:A,B1))", "references"),
            ("=SUM(A1#)", "references"),
            ("=SUM(_xlfn.ANCHORARRAY(A1))", "references"),
            ("=MAP(A1:A3,_xleta.INDIRECT)", "names references"),
            ("=LET(f,RAND,f())", "names random"),
            ("=ROW()+COLUMN(A1)", "places"),
            ("=_xlfn.SHEETS()", "places"),
            ("=LAMBDA(x,x+NOW())(INDIRECT(\"A\"&RAND()))", "names references time random"),
        ] {
            let formula = Formula::parse(text, &NoSheets).unwrap();
            let traits = FormulaTraits::of(formula.expression());
            let names = [
                (FormulaTraits::NAMES, "names"),
                (FormulaTraits::CALCULATED_REFERENCES, "references"),
                (FormulaTraits::PLACES, "places"),
                (FormulaTraits::TIME, "time"),
                (FormulaTraits::RANDOM_NUMBERS, "random"),
            ];
            let names: Vec<_> = names
                .into_iter()
                .filter_map(|(one, name)| traits.has_any(one).then_some(name))
                .collect();
            assert_eq!(names.join(" "), expected, "{text}");
        }
    }
}
