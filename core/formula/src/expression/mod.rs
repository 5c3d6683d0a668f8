//! Expression trees of formulas.

mod build;
mod operator;
mod several_sheets;
mod shape;
#[cfg(test)]
mod tests;
mod traits;

use std::ops::Range;

use crate::reference::{Area, Reference};
use crate::syntax::{Unsupported, word_bytes};

pub(crate) use build::build_expression;
pub use operator::{BinaryOperator, PostfixOperator, PrefixOperator};
pub use traits::FormulaTraits;

/// The expression tree of a formula.
///
/// The nodes are stored in a list. Each node follows its children, and the last node is the root.
/// An expression can therefore be evaluated in list order, without recursion. Recursion could
/// overflow the stack for long formulas such as `=1+1+1+…`.
///
/// Recursive code must descend in a loop into the left operand of a [`Node::Binary`], the operand
/// of a [`Node::Postfix`] and the callee of a [`Node::CallOf`], because these can be nested to any
/// depth. All other children are nested at most
/// [`MAX_EXPRESSION_DEPTH`](cellar_base::limits::MAX_EXPRESSION_DEPTH) levels deep.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    nodes: Vec<Node>,
    /// Byte range of each node in the text of the formula.
    spans: Vec<Range<usize>>,
}

/// Index of a node in [`Expression::nodes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeIndex(usize);

impl NodeIndex {
    /// Returns the zero-based index.
    #[must_use]
    pub fn get(self) -> usize {
        self.0
    }
}

/// A node of an expression tree. Parentheses have no nodes.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    /// A constant, such as `1.5` or `"text"`.
    Constant(Constant),
    /// An array of constants, such as `{1,2;3,4}`.
    Array {
        /// Number of columns, at least 1.
        columns: usize,
        /// The values in row-major order.
        values: Vec<Constant>,
    },
    /// A reference to cells.
    Reference(Reference),
    /// A 3D reference to the same cells of consecutive sheets, such as `Sheet1:Sheet3!A1`. It
    /// occurs only in imported files, because
    /// [`Formula::check_supported`](crate::Formula::check_supported) rejects it.
    SeveralSheets {
        /// Name of the first sheet.
        first_sheet: String,
        /// Name of the last sheet.
        last_sheet: String,
        /// The area on each sheet.
        area: Area,
    },
    /// An unsupported reference, which is kept as text.
    Unsupported {
        /// The kind of the reference.
        kind: Unsupported,
        /// The text of the reference.
        text: String,
    },
    /// A name in upper case: a defined name, a variable of `LET` or a parameter of `LAMBDA`.
    Name(String),
    /// An omitted argument, such as the second argument of `IF(A1,,2)`.
    Omitted,
    /// A prefix operator with its operand.
    Prefix {
        /// The operator.
        operator: PrefixOperator,
        /// The operand.
        operand: NodeIndex,
    },
    /// A postfix operator with its operand.
    Postfix {
        /// The operator.
        operator: PostfixOperator,
        /// The operand.
        operand: NodeIndex,
    },
    /// A binary operator with its operands.
    Binary {
        /// The operator.
        operator: BinaryOperator,
        /// The left operand.
        left: NodeIndex,
        /// The right operand.
        right: NodeIndex,
    },
    /// A call to a function by name. The name can also be a variable or parameter whose value is a
    /// function.
    Call {
        /// The name in upper case, including prefixes such as `_XLFN.`.
        function: String,
        /// The arguments. `F()` has no arguments, and `F(,)` has two omitted arguments.
        arguments: Vec<NodeIndex>,
    },
    /// A call to a function that is the result of an expression, such as `LAMBDA(x,x+1)(2)`.
    CallOf {
        /// The expression that returns the function.
        callee: NodeIndex,
        /// The arguments.
        arguments: Vec<NodeIndex>,
    },
}

/// A constant in a formula.
#[derive(Debug, Clone, PartialEq)]
pub enum Constant {
    /// A number, or infinity if the literal is too large. Negative numbers occur only in arrays.
    /// Elsewhere, the sign is a prefix operator.
    Number(f64),
    /// A string, without the enclosing quotes.
    Text(String),
    /// `TRUE` or `FALSE`.
    Boolean(bool),
    /// An error value in upper case, such as `#N/A`. `#REF!` occurs only in arrays. Elsewhere, it
    /// is a deleted reference.
    Error(&'static str),
}

impl Expression {
    /// Returns all nodes. Each node follows its children.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns whether the result may have several cells. `is_several_name` says which defined names
    /// have several cells.
    #[must_use]
    pub fn may_have_several_cells(&self, is_several_name: impl Fn(&str) -> bool) -> bool {
        shape::may_have_several_cells(self, is_several_name)
    }

    /// Returns the index of the root, which is the last node.
    #[must_use]
    pub fn root(&self) -> NodeIndex {
        NodeIndex(self.nodes.len().saturating_sub(1))
    }

    /// Returns, for each unsupported reference in text order, whether it is an optional parameter
    /// of `LAMBDA`, such as `[y]`.
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

    /// Returns the byte range of a node in the text of the formula, with the parentheses around it.
    /// The range of an omitted argument is empty. Returns `None` if the index is out of bounds.
    #[must_use]
    pub fn span(&self, index: NodeIndex) -> Option<Range<usize>> {
        self.spans.get(index.0).cloned()
    }

    /// Returns all nodes with their indices. Each node follows its children.
    pub fn indexed_nodes(&self) -> impl Iterator<Item = (NodeIndex, &Node)> {
        self.nodes.iter().enumerate().map(|(index, node)| (NodeIndex(index), node))
    }

    /// Returns the node at `index`, or `None` if the index is out of bounds.
    #[must_use]
    pub fn node(&self, index: NodeIndex) -> Option<&Node> {
        self.nodes.get(index.0)
    }
}
