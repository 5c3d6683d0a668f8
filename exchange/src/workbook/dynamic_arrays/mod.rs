//! Formulas of files and results of several cells.
//!
//! A file stores a formula in one of two ways. Excel evaluates an *ordinary formula* with implicit
//! intersection: it uses one cell of a range where a single value is expected, and shows `@` there.
//! An *array formula* is evaluated as it is written. If its cell has the metadata of a dynamic
//! array, the result extends into other cells.
//!
//! Files have no `@` and no `#`. They store the functions `SINGLE` and `ANCHORARRAY` instead.

mod edits;
mod intersections;
mod notation;
mod spilled_areas;

use cellar_formula::Formula;
use cellar_formula::expression::{Expression, Node, NodeIndex, PostfixOperator};
use cellar_formula::reference::{Area, NoSheets};

use super::functions::{PrefixedFormula, with_prefixes};
use intersections::with_implicit_intersections;
use notation::{with_functions, with_operators, without_intersections};
pub(crate) use spilled_areas::SpilledAreas;

/// How a file says that a formula is evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Evaluation {
    /// With implicit intersection.
    #[default]
    Ordinary,
    /// As an array.
    Array,
}

/// Converts a formula of a file to the formula that Excel shows.
pub(crate) fn as_shown(formula: Formula, evaluation: Evaluation) -> Formula {
    let formula = with_operators(formula);
    match evaluation {
        Evaluation::Ordinary => with_implicit_intersections(formula),
        Evaluation::Array => formula,
    }
}

/// Converts a formula to the notation of files. `text` may start with `=`.
///
/// A formula is written as an ordinary formula if it is read back unchanged. All others must be
/// array formulas, because Excel would insert `@` into them.
pub(crate) fn as_stored(text: &str) -> PrefixedFormula {
    let text = text.strip_prefix('=').unwrap_or(text);
    let Ok(formula) = Formula::parse(&format!("={text}"), &NoSheets) else {
        return with_prefixes(text);
    };
    if let Some(ordinary) = as_ordinary(&formula) {
        let prefixed = with_prefixes(ordinary.strip_prefix('=').unwrap_or(&ordinary));
        if !prefixed.is_dynamic {
            return prefixed;
        }
    }
    array_form(&formula)
}

/// Converts a formula that Excel never evaluates with implicit intersection.
pub(crate) fn as_stored_array(text: &str) -> PrefixedFormula {
    let text = text.strip_prefix('=').unwrap_or(text);
    match Formula::parse(&format!("={text}"), &NoSheets) {
        Ok(formula) => array_form(&formula),
        Err(_) => with_prefixes(text),
    }
}

/// Returns whether the result may have several cells. Names count as single cells.
fn may_spill(formula: &Formula) -> bool {
    formula.expression().may_have_several_cells(|_| false)
}

fn array_form(formula: &Formula) -> PrefixedFormula {
    let stored = with_functions(formula);
    let prefixed = with_prefixes(stored.strip_prefix('=').unwrap_or(&stored));
    PrefixedFormula { is_dynamic: true, ..prefixed }
}

/// Returns the text of the ordinary formula that is read back as `formula`, if there is one.
fn as_ordinary(formula: &Formula) -> Option<String> {
    let has_spill =
        |node: &Node| matches!(node, Node::Postfix { operator: PostfixOperator::Spill, .. });
    if may_spill(formula) || formula.expression().nodes().iter().any(has_spill) {
        return None;
    }
    let ordinary = without_intersections(formula);
    let read_back = with_implicit_intersections(Formula::parse(&ordinary, &NoSheets).ok()?);
    (read_back.text() == formula.text()).then_some(ordinary)
}

/// Returns whether an area has more than one cell.
fn has_several_cells(area: &Area) -> bool {
    match area {
        Area::Cell { .. } | Area::Deleted => false,
        Area::Range { rows, columns } => {
            rows.first.index != rows.last.index || columns.first.index != columns.last.index
        }
        Area::Rows(_) | Area::Columns(_) => true,
    }
}

/// Returns the name of a function without the prefixes of files.
fn short_name(function: &str) -> &str {
    let name = function.strip_prefix("_XLFN.").unwrap_or(function);
    name.strip_prefix("_XLWS.").unwrap_or(name)
}

/// Returns whether a node is in parentheses of its own.
fn is_parenthesised(expression: &Expression, index: NodeIndex, text: &str) -> bool {
    let Some(span) = expression.span(index) else { return false };
    let starts_later = |child: &NodeIndex| {
        expression.span(*child).is_some_and(|child_span| child_span.start > span.start)
    };
    let starts_with_parenthesis = text.get(span.start..).is_some_and(|rest| rest.starts_with('('));
    starts_with_parenthesis
        && match expression.node(index) {
            Some(Node::Binary { left: child, .. } | Node::Postfix { operand: child, .. })
            | Some(Node::CallOf { callee: child, .. }) => starts_later(child),
            _ => true,
        }
}

#[cfg(test)]
mod tests;
