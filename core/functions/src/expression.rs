//! Formulas in the form that is evaluated.

use std::sync::Arc;

use cellar_formula::expression::NodeIndex;
use cellar_sheet::cell::{ErrorCode, Value};

use crate::function::Function;

/// An operator between two expressions.
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
    /// Returns whether the operator joins references.
    pub(crate) fn joins_references(self) -> bool {
        matches!(self, Self::Range | Self::Union | Self::Intersection)
    }
}

/// An operator before one expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prefix {
    Plus,
    Minus,
    Intersect,
}

/// The sheets of a reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sheets {
    /// The sheet of the formula.
    Own,
    Named(String),
    /// All sheets from the first to the last.
    Between(String, String),
}

/// A reference to cells. Rows and columns are counted from 0; `None` is the edge of the sheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CellReference {
    pub(crate) sheets: Sheets,
    pub(crate) first_row: Option<u32>,
    pub(crate) first_column: Option<u32>,
    pub(crate) last_row: Option<u32>,
    pub(crate) last_column: Option<u32>,
}

/// A node of a parsed formula.
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
    /// A call of a variable or of a defined name.
    CallName(Box<str>, Box<[NodeIndex]>),
    /// An array of constants, row by row.
    Array {
        columns: usize,
        values: Vec<Value>,
    },
    /// A part that always is an error value, such as a reference to another workbook.
    Error(ErrorCode),
}

/// Operators and calls that are applied one after the other to what is before them, as in `1+2+3`.
/// They are evaluated in a loop, because a chain is as long as its formula.
#[derive(Debug)]
pub(crate) struct Chain {
    pub(crate) first: NodeIndex,
    pub(crate) links: Vec<Link>,
    /// Number of links up to the last operator that joins references. The operands of such an
    /// operator are not reduced to single cells.
    pub(crate) links_of_references: usize,
}

/// An operator or call and what is after it.
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

/// A node and everything below it.
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

/// Consecutive expressions, such as the arguments of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expressions<'t> {
    tree: &'t Arc<[Node]>,
    indices: &'t [NodeIndex],
}

impl<'t> Expressions<'t> {
    pub(crate) fn len(self) -> usize {
        self.indices.len()
    }

    pub(crate) fn get(self, place: usize) -> Option<Expression<'t>> {
        self.indices.get(place).map(|index| Expression { tree: self.tree, index: *index })
    }

    pub(crate) fn iter(self) -> impl DoubleEndedIterator<Item = Expression<'t>> {
        self.indices.iter().map(move |index| Expression { tree: self.tree, index: *index })
    }
}

/// An expression that keeps its formula in memory.
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
