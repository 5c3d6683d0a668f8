//! The cells that the formulas of a run read.

use cellar_sheet::a1::CellName;

use super::costs::Costs;
use super::{RunEvaluator, RunTotals};
use crate::context::EvaluationContext;
use crate::expression::{CellReference, Chain, Expression, Link, Node};
use crate::parse::Formula;
use crate::source::{CellSource, SheetIndex};

/// Functions whose first argument is always evaluated, and the others only in some cases.
const CONDITIONAL_FUNCTIONS: [&str; 5] = ["IF", "IFERROR", "IFNA", "IFS", "SWITCH"];

/// Cells that formulas read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InputArea {
    /// Index of the sheet.
    pub sheet: SheetIndex,
    /// Top left cell.
    pub first: CellName,
    /// Bottom right cell. It is outside the sheet if the reference has no last row or column.
    pub last: CellName,
    /// Whether each formula reads a single cell of the area, and always does so unless an earlier
    /// operand is an error.
    pub is_certain: bool,
}

impl Formula {
    /// Returns the cells to which the references of the formula in `row_count` consecutive cells of
    /// a column refer. `context` is that of the first cell.
    #[must_use]
    pub fn inputs(
        &self,
        context: &EvaluationContext,
        row_count: u32,
        source: &dyn CellSource,
    ) -> Vec<InputArea> {
        let Some(last_offset) = row_count.checked_sub(1) else { return Vec::new() };
        let mut totals = RunTotals::default();
        let totals = std::cell::RefCell::new(&mut totals);
        let run = RunEvaluator { source, context, row_count, totals, costs: Costs::default() };
        let mut certain = vec![false; self.nodes().len()];
        mark_certain(self.expression(), &mut certain);
        let mut areas = Vec::new();
        for (node, is_certain) in self.nodes().iter().zip(certain) {
            let Node::Reference(reference) = node else { continue };
            let Some(sheet) = run.sheet_of(reference) else { continue };
            let Some((first, last)) = reference.bounds(context.cell, last_offset) else { continue };
            let is_certain = is_certain && reference.only_cell().is_some();
            areas.push(InputArea { sheet, first, last, is_certain });
        }
        areas
    }

    /// Returns whether the formula always reads the cell above its own, unless an earlier operand is
    /// an error.
    #[must_use]
    pub fn reads_cell_above(&self) -> bool {
        let mut certain = vec![false; self.nodes().len()];
        mark_certain(self.expression(), &mut certain);
        let is_above =
            |node: &Node| matches!(node, Node::Reference(reference) if reference.is_above());
        self.nodes().iter().zip(certain).any(|(node, is_certain)| is_certain && is_above(node))
    }
}

impl CellReference {
    fn is_above(&self) -> bool {
        use crate::expression::{Coordinate, Sheets};
        let above = (Coordinate::Relative(-1), Coordinate::Relative(0));
        self.sheets == Sheets::Own && self.only_cell() == Some(above)
    }
}

/// Marks the nodes that an evaluation always reaches unless there are errors.
fn mark_certain(expression: Expression<'_>, certain: &mut [bool]) {
    if let Some(mark) = certain.get_mut(expression.index()) {
        *mark = true;
    }
    match expression.node() {
        Node::Prefix(_, operand) => mark_certain(expression.at(*operand), certain),
        Node::Chain(Chain { first, links, .. }) => {
            mark_certain(expression.at(*first), certain);
            for link in links {
                if let Link::Operator(operator, right) = link
                    && !operator.joins_references()
                {
                    mark_certain(expression.at(*right), certain);
                }
            }
        }
        Node::Call(function, arguments) => {
            let count = match (CONDITIONAL_FUNCTIONS.contains(&function.name), &function.body) {
                (true, _) => 1,
                (false, crate::function::Body::Eager(_)) => arguments.len(),
                (false, crate::function::Body::Lazy(_)) => 0,
            };
            for argument in arguments.iter().take(count) {
                mark_certain(expression.at(*argument), certain);
            }
        }
        _ => {}
    }
}
