//! Converts between the operators `@` and `#` and the functions that files store instead.

use std::collections::BTreeSet;

use cellar_formula::Formula;
use cellar_formula::expression::{
    BinaryOperator, Expression, Node, NodeIndex, PostfixOperator, PrefixOperator,
};
use cellar_formula::syntax::TokenKind;

use super::edits::Edits;
use super::intersections::changed;
use super::{is_parenthesised, short_name};

/// Replaces the functions `SINGLE` and `ANCHORARRAY` by operators.
pub(super) fn with_operators(formula: Formula) -> Formula {
    let expression = formula.expression();
    let joined = joined_operands(expression);
    let mut edits = Edits::default();
    for (index, node) in expression.indexed_nodes() {
        let Node::Call { function, arguments } = node else { continue };
        let [argument] = arguments.as_slice() else { continue };
        let operators = match short_name(function) {
            // `@` would apply to the whole range, as in `@A1:B2`.
            "SINGLE" if !joined.contains(&index) => ("@", ""),
            "ANCHORARRAY" if can_spill(expression, *argument) => ("", "#"),
            _ => continue,
        };
        replace_call(&formula, index, *argument, operators, &mut edits);
    }
    changed(formula, edits)
}

fn joined_operands(expression: &Expression) -> BTreeSet<NodeIndex> {
    let operands = expression.nodes().iter().flat_map(|node| match node {
        Node::Binary {
            operator: BinaryOperator::Range | BinaryOperator::Intersection | BinaryOperator::Union,
            left,
            right,
        } => vec![*left, *right],
        Node::Postfix { operator: PostfixOperator::Spill, operand } => vec![*operand],
        _ => Vec::new(),
    });
    operands.collect()
}

fn can_spill(expression: &Expression, argument: NodeIndex) -> bool {
    matches!(expression.node(argument), Some(Node::Reference(_) | Node::Name(_)))
}

/// Replaces the name and the parentheses of a call.
fn replace_call(
    formula: &Formula,
    call: NodeIndex,
    argument: NodeIndex,
    (before, after): (&'static str, &'static str),
    edits: &mut Edits,
) {
    let expression = formula.expression();
    let (Some(call_span), Some(span)) = (expression.span(call), expression.span(argument)) else {
        return;
    };
    let needs_parentheses = match expression.node(argument) {
        Some(Node::Binary { .. } | Node::Prefix { .. } | Node::Postfix { .. }) => {
            !is_parenthesised(expression, argument, formula.text())
        }
        _ => false,
    };
    let (before, after) = match (before, needs_parentheses) {
        ("@", true) => ("@(", ")"),
        _ => (before, after),
    };
    // The call may itself be in parentheses.
    let is_before_name = |character: char| character == '(' || character.is_whitespace();
    let text = formula.text();
    let call_text = text.get(call_span.start..span.start).unwrap_or_default();
    let start = span.start - call_text.trim_start_matches(is_before_name).len();
    let rest = text.get(span.end..call_span.end).unwrap_or_default();
    let end = rest.find(')').map_or(call_span.end, |index| span.end + index + 1);
    edits.replace(start..span.start, before);
    edits.replace(span.end..end, after);
}

/// Returns the text of a formula with functions instead of the operators `@` and `#`.
pub(super) fn with_functions(formula: &Formula) -> String {
    let expression = formula.expression();
    let mut edits = Edits::default();
    for (index, node) in expression.indexed_nodes() {
        let Some(span) = inner_span(formula, index) else { continue };
        match node {
            Node::Prefix { operator: PrefixOperator::ImplicitIntersection, .. } => {
                edits.replace(span.start..span.start + 1, "SINGLE(");
                edits.insert(span.end, ")");
            }
            Node::Postfix { operator: PostfixOperator::Spill, .. } => {
                edits.insert(span.start, "ANCHORARRAY(");
                edits.replace(span.end - 1..span.end, ")");
            }
            _ => {}
        }
    }
    edits.apply_to(formula.text())
}

/// Returns the byte range of an operation without parentheses around it.
fn inner_span(formula: &Formula, index: NodeIndex) -> Option<std::ops::Range<usize>> {
    let expression = formula.expression();
    let span = expression.span(index)?;
    let text = formula.text();
    match expression.node(index)? {
        Node::Prefix { operand, .. } => {
            let end = expression.span(*operand)?.end;
            let start = text.get(span.start..end)?.find('@')? + span.start;
            Some(start..end)
        }
        Node::Postfix { operand, .. } => {
            let operand_span = expression.span(*operand)?;
            let end = operand_span.end + text.get(operand_span.end..)?.find('#')? + 1;
            Some(operand_span.start..end)
        }
        _ => None,
    }
}

/// Returns the text of a formula without `@`.
pub(super) fn without_intersections(formula: &Formula) -> String {
    let mut edits = Edits::default();
    for token in formula.tokens() {
        if token.kind == TokenKind::At {
            edits.replace(token.span.clone(), "");
        }
    }
    edits.apply_to(formula.text())
}
