//! The expression tree of a formula.

use std::sync::Arc;

use cellar_formula::expression::NodeIndex;
use cellar_sheet::cell::{ErrorCode, Value};

use crate::function::Function;

/// A binary operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Concatenate,
    Equal,
    NotEqual,
    Less,
    Greater,
    LessOrEqual,
    GreaterOrEqual,
    Range,
    Union,
    Intersection,
}

impl Operator {
    /// Returns whether the operator combines references: range, union or intersection.
    pub(crate) fn joins_references(self) -> bool {
        matches!(self, Self::Range | Self::Union | Self::Intersection)
    }
}

/// A prefix operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prefix {
    Plus,
    Minus,
    Intersect,
}

/// The sheet or sheets of a reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sheets {
    /// The sheet that contains the formula.
    Own,
    Named(String),
    /// All sheets between two sheets, inclusive, as in `Sheet1:Sheet3!A1`.
    Between(String, String),
}

/// A row or column of a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coordinate {
    /// Zero-based index.
    Fixed(u32),
    /// Distance from the row or column of the formula.
    Relative(i32),
}

impl Coordinate {
    /// Returns the index of the row or column for a formula in the row or column `own`, or `None`
    /// if the index is negative or too large.
    pub(crate) fn at(self, own: u32) -> Option<u32> {
        match self {
            Self::Fixed(index) => Some(index),
            Self::Relative(distance) => own.checked_add_signed(distance),
        }
    }
}

/// A reference to cells. `None` is the edge of the sheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CellReference {
    pub(crate) sheets: Sheets,
    pub(crate) first_row: Option<Coordinate>,
    pub(crate) first_column: Option<Coordinate>,
    pub(crate) last_row: Option<Coordinate>,
    pub(crate) last_column: Option<Coordinate>,
}

/// A node of an expression tree.
#[derive(Debug)]
pub(crate) enum Node {
    Literal(Value),
    Omitted,
    Reference(CellReference),
    /// A defined name, a variable of `LET` or a parameter of `LAMBDA`, in upper case.
    Name(Box<str>),
    Prefix(Prefix, NodeIndex),
    Chain(Chain),
    Call(&'static Function, Box<[NodeIndex]>),
    /// A call to a lambda in a variable or defined name.
    CallName(Box<str>, Box<[NodeIndex]>),
    /// An array constant, with its values in row-major order.
    Array {
        columns: usize,
        values: Vec<Value>,
    },
    /// An expression that always evaluates to an error value, such as a reference to another
    /// workbook.
    Error(ErrorCode),
}

/// A sequence of operators and calls that are applied from left to right, as in `1+2+3`. It is
/// evaluated in a loop instead of by recursion, because it can be as long as its formula.
#[derive(Debug)]
pub(crate) struct Chain {
    pub(crate) first: NodeIndex,
    pub(crate) links: Vec<Link>,
    /// Number of links up to and including the last operator that combines references. Implicit
    /// intersection does not apply to the operands of these links.
    pub(crate) links_of_references: usize,
}

/// An operator with its right operand, or a call with its arguments.
#[derive(Debug)]
pub(crate) enum Link {
    Operator(Operator, NodeIndex),
    Percent,
    Spill,
    Call(Box<[NodeIndex]>),
}

impl Chain {
    pub(crate) fn push(&mut self, link: Link) {
        let joins_references =
            matches!(link, Link::Operator(operator, _) if operator.joins_references());
        self.links.push(link);
        if joins_references {
            self.links_of_references = self.links.len();
        }
    }
}

/// A node and its descendants.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expression<'t> {
    tree: &'t Arc<[Node]>,
    index: NodeIndex,
}

impl<'t> Expression<'t> {
    pub(crate) fn new(tree: &'t Arc<[Node]>, index: NodeIndex) -> Self {
        Self { tree, index }
    }

    pub(crate) fn node(self) -> &'t Node {
        const MISSING: &Node = &Node::Error(ErrorCode::Value);
        self.tree.get(self.index.get()).unwrap_or(MISSING)
    }

    pub(crate) fn index(self) -> usize {
        self.index.get()
    }

    pub(crate) fn at(self, index: NodeIndex) -> Self {
        Self { tree: self.tree, index }
    }

    pub(crate) fn list(self, indices: &'t [NodeIndex]) -> Expressions<'t> {
        Expressions { tree: self.tree, indices }
    }

    pub(crate) fn to_owned(self) -> OwnedExpression {
        OwnedExpression { tree: Arc::clone(self.tree), index: self.index }
    }
}

/// A list of expressions, such as the arguments of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expressions<'t> {
    tree: &'t Arc<[Node]>,
    indices: &'t [NodeIndex],
}

impl<'t> Expressions<'t> {
    pub(crate) fn len(self) -> usize {
        self.indices.len()
    }

    pub(crate) fn get(self, index: usize) -> Option<Expression<'t>> {
        self.indices.get(index).map(|index| Expression { tree: self.tree, index: *index })
    }

    pub(crate) fn iter(self) -> impl DoubleEndedIterator<Item = Expression<'t>> {
        self.indices.iter().map(move |index| Expression { tree: self.tree, index: *index })
    }
}

/// An expression that shares ownership of its tree.
#[derive(Debug, Clone)]
pub(crate) struct OwnedExpression {
    tree: Arc<[Node]>,
    index: NodeIndex,
}

impl OwnedExpression {
    pub(crate) fn borrowed(&self) -> Expression<'_> {
        Expression { tree: &self.tree, index: self.index }
    }
}
