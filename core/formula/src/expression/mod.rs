//! Expression trees: the values, operators and calls of a formula.

mod build;
mod operator;
mod several_sheets;
#[cfg(test)]
mod tests;

use crate::reference::{Area, Reference};
use crate::syntax::{Unsupported, word_bytes};

pub(crate) use build::build_expression;
pub use operator::{BinaryOperator, PostfixOperator, PrefixOperator};

/// A formula as a tree of nodes.
///
/// All nodes are in one list. A node follows the nodes that it is calculated from, and the last node
/// is the whole formula. Readers can therefore go through the list from its start, without
/// recursion: the tree of `=1+1+1+…` is as deep as the formula is long.
///
/// On any path from the root to a leaf, at most
/// [`MAX_EXPRESSION_DEPTH`](cellar_base::limits::MAX_EXPRESSION_DEPTH) steps lead to something else
/// than the left operand of a [`Node::Binary`], the operand of a [`Node::Postfix`] or the callee of
/// a [`Node::CallOf`]. Recursion is safe if it takes these three in a loop.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    nodes: Vec<Node>,
}

/// Place of a node in [`Expression::nodes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeIndex(usize);

impl NodeIndex {
    /// Returns the place in the list, from 0.
    #[must_use]
    pub fn get(self) -> usize {
        self.0
    }
}

/// A part of a formula. Parentheses are no nodes.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    /// A constant, such as `1.5` or `"text"`.
    Constant(Constant),
    /// An array of constants, such as `{1,2;3,4}`.
    Array {
        /// Number of values of each row, at least 1.
        columns: usize,
        /// The values, row by row.
        values: Vec<Constant>,
    },
    /// A reference to cells.
    Reference(Reference),
    /// The same cells of consecutive sheets, such as `Sheet1:Sheet3!A1`. Only files contain it: see
    /// [`Formula::check_supported`](crate::Formula::check_supported).
    SeveralSheets {
        /// Name of the first sheet.
        first_sheet: String,
        /// Name of the last sheet.
        last_sheet: String,
        /// The cells within each sheet.
        area: Area,
    },
    /// A reference that is kept as text.
    Unsupported {
        /// Kind of the reference.
        kind: Unsupported,
        /// The reference as it was written.
        text: String,
    },
    /// A name in upper case: a named range, or a parameter of `LET` or `LAMBDA`.
    Name(String),
    /// An argument without a value, such as the second one of `IF(A1,,2)`.
    Omitted,
    /// An operator before its operand.
    Prefix {
        /// The operator.
        operator: PrefixOperator,
        /// The operand.
        operand: NodeIndex,
    },
    /// An operator after its operand.
    Postfix {
        /// The operator.
        operator: PostfixOperator,
        /// The operand.
        operand: NodeIndex,
    },
    /// An operator between two operands.
    Binary {
        /// The operator.
        operator: BinaryOperator,
        /// The left operand.
        left: NodeIndex,
        /// The right operand.
        right: NodeIndex,
    },
    /// A call of a function or of a parameter that is a function, by its name.
    Call {
        /// The name in upper case, as it is stored in files: with prefixes such as `_XLFN.`.
        function: String,
        /// The arguments. `F()` has none, and `F(,)` has two omitted ones.
        arguments: Vec<NodeIndex>,
    },
    /// A call of a function that is itself calculated, such as `LAMBDA(x,x+1)(2)`.
    CallOf {
        /// The expression whose result is the function.
        callee: NodeIndex,
        /// The arguments, as those of a call by name.
        arguments: Vec<NodeIndex>,
    },
}

/// A constant of a formula.
#[derive(Debug, Clone, PartialEq)]
pub enum Constant {
    /// A number. It is infinite if the written number is too large. Only arrays contain negative
    /// numbers; elsewhere a sign is an operator.
    Number(f64),
    /// A text without its quotes.
    Text(String),
    /// `TRUE` or `FALSE`.
    Boolean(bool),
    /// An error value in upper case, such as `#N/A`. `#REF!` is a deleted reference, except in an
    /// array.
    Error(&'static str),
}

impl Expression {
    /// Returns all nodes. Each node follows the nodes that it is calculated from.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the whole formula, which is the last node.
    #[must_use]
    pub fn root(&self) -> NodeIndex {
        NodeIndex(self.nodes.len().saturating_sub(1))
    }

    /// Returns whether each reference that is only kept as text is an optional parameter of `LAMBDA`,
    /// such as `[y]`, in the order of the text.
    pub(crate) fn optional_parameters(&self) -> Vec<bool> {
        let mut is_parameter = vec![false; self.nodes.len()];
        for node in &self.nodes {
            if let Node::Call { function, arguments } = node
                && matches!(function.as_str(), "LAMBDA" | "_XLFN.LAMBDA")
                && let Some((_, parameters)) = arguments.split_last()
            {
                for parameter in parameters {
                    if let Some(flag) = is_parameter.get_mut(parameter.0) {
                        *flag = true;
                    }
                }
            }
        }
        let in_brackets = |text: &str| {
            let name = text.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
            name.is_some_and(|name| !name.is_empty() && word_bytes(name) == name.len())
        };
        let kept = self.nodes.iter().zip(is_parameter).filter_map(|(node, flag)| match node {
            Node::Unsupported { text, .. } => Some(flag && in_brackets(text)),
            Node::SeveralSheets { .. } => Some(false),
            _ => None,
        });
        kept.collect()
    }

    /// Returns the node at a place, or `None` if the place belongs to a longer formula.
    #[must_use]
    pub fn node(&self, index: NodeIndex) -> Option<&Node> {
        self.nodes.get(index.0)
    }
}
