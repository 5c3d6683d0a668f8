//! Inserts `@` where Excel evaluates an ordinary formula with implicit intersection.

use cellar_formula::Formula;
use cellar_formula::expression::{
    BinaryOperator, Constant, Expression, Node, NodeIndex, PrefixOperator,
};
use cellar_formula::reference::NoSheets;
use cellar_functions::{Passing, argument_passing};

use super::edits::Edits;
use super::{has_several_cells, is_parenthesised, may_spill, short_name};

/// Inserts `@` before each range that is used as a single value, and before the whole formula if its
/// result may still have several cells.
pub(super) fn with_implicit_intersections(formula: Formula) -> Formula {
    let expression = formula.expression();
    let mut edits = Edits::default();
    for index in intersected_nodes(expression) {
        if let Some(span) = expression.span(index) {
            edits.insert(span.start, "@");
        }
    }
    let formula = changed(formula, edits);
    if may_spill(&formula) { with_single_result(formula) } else { formula }
}

/// Returns the formula unchanged if it would be too deep or too long.
pub(super) fn changed(formula: Formula, edits: Edits) -> Formula {
    if edits.is_empty() {
        return formula;
    }
    Formula::parse(&edits.apply_to(formula.text()), &NoSheets).unwrap_or(formula)
}

fn with_single_result(formula: Formula) -> Formula {
    let expression = formula.expression();
    let root = expression.root();
    let Some(span) = expression.span(root) else { return formula };
    let is_operation = match expression.node(root) {
        Some(Node::Binary { operator, .. }) => !joins_references(*operator),
        Some(Node::Prefix { .. } | Node::Postfix { .. }) => true,
        _ => false,
    };
    let mut edits = Edits::default();
    if is_operation && !is_parenthesised(expression, root, formula.text()) {
        edits.insert(span.start, "@(");
        edits.insert(span.end, ")");
    } else {
        edits.insert(span.start, "@");
    }
    changed(formula, edits)
}

/// How the result of a node is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    /// As a single value.
    Single,
    /// As it is.
    Whole,
}

/// Returns the nodes whose result is a range and is used as a single value.
fn intersected_nodes(expression: &Expression) -> Vec<NodeIndex> {
    let mut intersected = Vec::new();
    let mut unvisited = vec![(expression.root(), Use::Single)];
    while let Some((index, usage)) = unvisited.pop() {
        let Some(node) = expression.node(index) else { continue };
        if usage == Use::Single && is_range(expression, node) {
            intersected.push(index);
        }
        push_children(node, usage, &mut unvisited);
    }
    intersected
}

fn joins_references(operator: BinaryOperator) -> bool {
    use BinaryOperator::{Intersection, Range, Union};
    matches!(operator, Range | Intersection | Union)
}

pub(super) fn is_range(expression: &Expression, node: &Node) -> bool {
    match node {
        Node::Reference(reference) => has_several_cells(&reference.area),
        Node::Binary { operator, .. } => {
            matches!(operator, BinaryOperator::Range | BinaryOperator::Intersection)
        }
        Node::Call { function, arguments } => {
            selects_range(expression, short_name(function), arguments)
        }
        _ => false,
    }
}

/// Returns whether a function may return a range of several cells. `A1#` is not a range here: only
/// array formulas contain it.
fn selects_range(expression: &Expression, name: &str, arguments: &[NodeIndex]) -> bool {
    let node_at = |index: usize| arguments.get(index).and_then(|index| expression.node(*index));
    match name {
        "INDIRECT" => true,
        "OFFSET" => {
            let is_cell = matches!(node_at(0), Some(Node::Reference(reference))
                if !has_several_cells(&reference.area));
            arguments.len() > 3 || !is_cell
        }
        // The row or column 0 selects a whole column or row.
        "INDEX" => [1, 2].into_iter().filter_map(node_at).any(|node| !is_above_zero(node)),
        _ => false,
    }
}

/// Returns whether a node is certainly not 0.
fn is_above_zero(node: &Node) -> bool {
    match node {
        Node::Constant(Constant::Number(number)) => *number >= 1.0,
        Node::Call { function, .. } => {
            matches!(
                short_name(function),
                "COLUMN" | "COLUMNS" | "MATCH" | "ROW" | "ROWS" | "XMATCH"
            )
        }
        _ => false,
    }
}

fn push_children(node: &Node, usage: Use, unvisited: &mut Vec<(NodeIndex, Use)>) {
    match node {
        // The operand is evaluated as an array.
        Node::Prefix { operator: PrefixOperator::ImplicitIntersection, .. } => {}
        Node::Prefix { operand, .. } | Node::Postfix { operand, .. } => {
            unvisited.push((*operand, Use::Single));
        }
        Node::Binary { operator, left, right } if !joins_references(*operator) => {
            unvisited.extend([(*left, Use::Single), (*right, Use::Single)]);
        }
        Node::Call { function, arguments } => {
            let name = short_name(function);
            for (index, argument) in arguments.iter().enumerate() {
                if let Some(usage) = use_of_argument(name, index, arguments.len(), usage) {
                    unvisited.push((*argument, usage));
                }
            }
        }
        Node::CallOf { arguments, .. } => {
            unvisited.extend(arguments.iter().map(|argument| (*argument, Use::Whole)));
        }
        _ => {}
    }
}

/// Returns how a function uses an argument, or `None` if it evaluates the argument as an array.
/// `usage` is the use of the function's result.
fn use_of_argument(name: &str, index: usize, count: usize, usage: Use) -> Option<Use> {
    match argument_passing(name, index) {
        Some(Passing::Single) => return Some(Use::Single),
        Some(Passing::Whole) => return Some(Use::Whole),
        Some(Passing::Array) => return None,
        None => {}
    }
    let is_result = match name {
        "IF" | "CHOOSE" => index > 0,
        "IFERROR" | "IFNA" => false,
        "IFS" => index % 2 == 1,
        // The last argument of an even number is the default.
        "SWITCH" => index > 0 && (index.is_multiple_of(2) || index + 1 == count),
        "LET" if index + 1 == count => true,
        "LAMBDA" => return None,
        _ => return Some(Use::Whole),
    };
    Some(if is_result { usage } else { Use::Single })
}
