//! Converts parsed formulas to expression trees.

use std::sync::Arc;

use cellar_formula::expression::{
    BinaryOperator, Constant, FormulaTraits, Node as ParsedNode, NodeIndex, PostfixOperator,
    PrefixOperator,
};
use cellar_formula::reference::{
    Area, Coordinate as ReferenceCoordinate, NoSheets, Reference, ReferenceSheet, SheetNames,
};
use cellar_formula::syntax::{SyntaxError, Unsupported};
use cellar_sheet::a1::CellName;
use cellar_sheet::cell::{ErrorCode, Value};

use crate::expression::{
    CellReference, Chain, Coordinate, Expression, Link, Node, Operator, Prefix, Sheets,
};
use crate::function::find_function;

/// A formula that is ready for evaluation. Cloning is cheap, and clones can be used by several
/// threads.
#[derive(Debug, Clone)]
pub struct Formula {
    tree: Arc<[Node]>,
    root: NodeIndex,
    traits: FormulaTraits,
}

impl Formula {
    /// Parses a formula such as `=SUM(A1:A3)`. Unknown functions and names are not syntax errors:
    /// they evaluate to `#NAME?`. Sheet names are resolved during evaluation.
    ///
    /// # Errors
    /// Returns the first syntax error, with its location and what to do.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        Ok(Self::of(&cellar_formula::Formula::parse(text, &NoSheets)?, &NoSheets))
    }

    /// Prepares a parsed formula for evaluation. `sheets` maps the sheet numbers in the formula to
    /// names. A reference to a number without a name evaluates to `#REF!`.
    #[must_use]
    pub fn of(parsed: &cellar_formula::Formula, sheets: &impl SheetNames) -> Self {
        Self::converted(parsed, sheets, None)
    }

    /// Prepares the formula in the cell `origin` for evaluation in any cell. In other cells,
    /// coordinates without `$` have the same distance from the cell, as if the formula was copied.
    #[must_use]
    pub fn of_copies(
        parsed: &cellar_formula::Formula,
        sheets: &impl SheetNames,
        origin: CellName,
    ) -> Self {
        Self::converted(parsed, sheets, Some(origin))
    }

    fn converted(
        parsed: &cellar_formula::Formula,
        sheets: &impl SheetNames,
        origin: Option<CellName>,
    ) -> Self {
        let expression = parsed.expression();
        let nodes = Vec::with_capacity(expression.nodes().len());
        let mut converter = Converter { sheets, origin, nodes };
        for node in expression.nodes() {
            let converted = converter.convert(node);
            converter.nodes.push(converted);
        }
        let traits = FormulaTraits::of(expression);
        Self { tree: converter.nodes.into(), root: expression.root(), traits }
    }

    /// Returns whether the result depends on the current time, because the formula uses `NOW` or
    /// `TODAY`.
    ///
    /// The formulas of defined names are not considered. If a variable or parameter has the name of
    /// such a function, the result can be `true` although the function is not used. The same
    /// applies to [`Self::uses_random_numbers`] and [`Self::has_calculated_references`].
    #[must_use]
    pub fn uses_time(&self) -> bool {
        self.traits.has_any(FormulaTraits::TIME)
    }

    /// Returns whether the result depends on the random seed, because the formula uses `RAND`,
    /// `RANDARRAY` or `RANDBETWEEN`.
    #[must_use]
    pub fn uses_random_numbers(&self) -> bool {
        self.traits.has_any(FormulaTraits::RANDOM_NUMBERS)
    }

    /// Returns whether the formula can read cells outside
    /// [`Formula::references`](cellar_formula::Formula::references). This is the case if it uses
    /// `INDIRECT`, `OFFSET`, `CELL` without a reference, a range such as `A1:INDEX(B:B,3)`, a
    /// spilled range such as `A1#`, a reference to several sheets, or `SUMIF` or `AVERAGEIF` with
    /// ranges of different sizes.
    #[must_use]
    pub fn has_calculated_references(&self) -> bool {
        self.traits.has_any(FormulaTraits::CALCULATED_REFERENCES)
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        &self.tree
    }

    pub(crate) fn expression(&self) -> Expression<'_> {
        Expression::new(&self.tree, self.root)
    }
}

struct Converter<'s> {
    sheets: &'s dyn SheetNames,
    /// The cell from which coordinates without `$` are measured, or `None` to fix all coordinates.
    origin: Option<CellName>,
    /// The converted nodes, at the same indices as the parsed nodes.
    nodes: Vec<Node>,
}

impl Converter<'_> {
    fn convert(&mut self, node: &ParsedNode) -> Node {
        match node {
            ParsedNode::Constant(constant) => Node::Literal(convert_constant(constant)),
            ParsedNode::Array { columns, values } => Node::Array {
                columns: *columns,
                values: values.iter().map(convert_constant).collect(),
            },
            ParsedNode::Reference(reference) => self.convert_reference(reference),
            ParsedNode::SeveralSheets { first_sheet, last_sheet, area } => {
                let sheets = Sheets::Between(first_sheet.clone(), last_sheet.clone());
                self.cells(sheets, *area)
            }
            ParsedNode::Unsupported { kind, text } => convert_unsupported(*kind, text),
            ParsedNode::Name(name) => Node::Name(variable_name(name).into()),
            ParsedNode::Omitted => Node::Omitted,
            ParsedNode::Prefix { operator, operand } => {
                Node::Prefix(convert_prefix(*operator), *operand)
            }
            ParsedNode::Postfix { operator, operand } => {
                let link = match operator {
                    PostfixOperator::Percent => Link::Percent,
                    PostfixOperator::Spill => Link::Spill,
                };
                self.chain(*operand, link)
            }
            ParsedNode::Binary { operator, left, right } => {
                self.chain(*left, Link::Operator(convert_operator(*operator), *right))
            }
            ParsedNode::Call { function, arguments } => self.convert_call(function, arguments),
            ParsedNode::CallOf { callee, arguments } => {
                self.chain(*callee, Link::Call(arguments.as_slice().into()))
            }
        }
    }

    fn convert_reference(&self, reference: &Reference) -> Node {
        let sheets = match &reference.sheet {
            ReferenceSheet::Own => Sheets::Own,
            ReferenceSheet::Unknown(name) => Sheets::Named(name.clone()),
            ReferenceSheet::Numbered(number) => match self.sheets.name(*number) {
                Some(name) => Sheets::Named(name.to_owned()),
                None => return Node::Error(ErrorCode::Ref),
            },
        };
        self.cells(sheets, reference.area)
    }

    fn cells(&self, sheets: Sheets, area: Area) -> Node {
        let row = |row| Some(coordinate_from(self.origin.map(|origin| origin.row), row));
        let column =
            |column| Some(coordinate_from(self.origin.map(|origin| origin.column), column));
        let (rows, columns) = match area {
            Area::Cell { row: own_row, column: own_column } => {
                ((row(own_row), row(own_row)), (column(own_column), column(own_column)))
            }
            Area::Range { rows, columns } => {
                ((row(rows.first), row(rows.last)), (column(columns.first), column(columns.last)))
            }
            Area::Rows(rows) => ((row(rows.first), row(rows.last)), (None, None)),
            Area::Columns(columns) => ((None, None), (column(columns.first), column(columns.last))),
            Area::Deleted => return Node::Error(ErrorCode::Ref),
        };
        Node::Reference(CellReference {
            sheets,
            first_row: rows.0,
            first_column: columns.0,
            last_row: rows.1,
            last_column: columns.1,
        })
    }

    /// Appends a link to the chain at `first`, or starts a new chain if `first` is another node. An
    /// existing chain is moved out of its node, which is not used afterwards.
    fn chain(&mut self, first: NodeIndex, link: Link) -> Node {
        let empty = Chain { first, links: Vec::new(), links_of_references: 0 };
        let mut chain = match self.nodes.get_mut(first.get()) {
            Some(Node::Chain(chain)) => std::mem::replace(chain, empty),
            _ => empty,
        };
        chain.push(link);
        Node::Chain(chain)
    }

    fn convert_call(&mut self, name: &str, arguments: &[NodeIndex]) -> Node {
        let short = without_storage_prefix(name);
        match (short, arguments.first()) {
            ("SINGLE", Some(operand)) => return Node::Prefix(Prefix::Intersect, *operand),
            ("ANCHORARRAY", Some(operand)) => return self.chain(*operand, Link::Spill),
            ("SINGLE" | "ANCHORARRAY", None) => return Node::Error(ErrorCode::Value),
            _ => {}
        }
        match find_function(short) {
            Some(function) => Node::Call(function, arguments.into()),
            None => Node::CallName(variable_name(name).into(), arguments.into()),
        }
    }
}

fn convert_constant(constant: &Constant) -> Value {
    match constant {
        Constant::Number(number) if number.is_finite() => Value::Number(*number),
        Constant::Number(_) => Value::Error(ErrorCode::Num),
        Constant::Text(text) => Value::Text(text.clone()),
        Constant::Boolean(value) => Value::Bool(*value),
        // Error values that Cellar does not support become #VALUE!, as in imported files.
        Constant::Error(text) => Value::Error(text.parse().unwrap_or(ErrorCode::Value)),
    }
}

fn convert_prefix(operator: PrefixOperator) -> Prefix {
    match operator {
        PrefixOperator::Plus => Prefix::Plus,
        PrefixOperator::Minus => Prefix::Minus,
        PrefixOperator::ImplicitIntersection => Prefix::Intersect,
    }
}

fn convert_operator(operator: BinaryOperator) -> Operator {
    match operator {
        BinaryOperator::Add => Operator::Add,
        BinaryOperator::Subtract => Operator::Subtract,
        BinaryOperator::Multiply => Operator::Multiply,
        BinaryOperator::Divide => Operator::Divide,
        BinaryOperator::Power => Operator::Power,
        BinaryOperator::Concatenate => Operator::Concatenate,
        BinaryOperator::Equal => Operator::Equal,
        BinaryOperator::NotEqual => Operator::NotEqual,
        BinaryOperator::Less => Operator::Less,
        BinaryOperator::Greater => Operator::Greater,
        BinaryOperator::LessOrEqual => Operator::LessOrEqual,
        BinaryOperator::GreaterOrEqual => Operator::GreaterOrEqual,
        BinaryOperator::Range => Operator::Range,
        BinaryOperator::Union => Operator::Union,
        BinaryOperator::Intersection => Operator::Intersection,
    }
}

/// Removes the prefixes with which files store the names of newer functions.
fn without_storage_prefix(name: &str) -> &str {
    let name = name.strip_prefix("_XLFN.").unwrap_or(name);
    name.strip_prefix("_XLWS.").unwrap_or(name)
}

/// Removes the prefix `_xlpm.`, with which files store variables. Keeps the prefix `_xlop.`,
/// because it marks optional parameters.
fn variable_name(name: &str) -> &str {
    name.strip_prefix("_XLPM.").unwrap_or(name)
}

/// Converts a coordinate. Without an origin, the coordinate is fixed.
fn coordinate_from(origin: Option<u32>, from: ReferenceCoordinate) -> Coordinate {
    match origin {
        Some(origin) if !from.is_absolute => {
            // Indices are less than 2³⁰, so the difference always fits.
            let distance = i64::from(from.index) - i64::from(origin);
            Coordinate::Relative(i32::try_from(distance).unwrap_or(i32::MAX))
        }
        _ => Coordinate::Fixed(from.index),
    }
}

/// Converts an unsupported reference to the error value that Excel returns if the table, file or
/// name does not exist.
fn convert_unsupported(kind: Unsupported, text: &str) -> Node {
    match kind {
        // An optional lambda parameter such as `[x]` is parsed as a table reference.
        Unsupported::Table if text.starts_with('[') => Node::Name(text.to_uppercase().into()),
        Unsupported::File => Node::Error(ErrorCode::Ref),
        _ if text.contains("#REF!") => Node::Error(ErrorCode::Ref),
        Unsupported::Table | Unsupported::Sheets | Unsupported::SheetName => {
            Node::Error(ErrorCode::Name)
        }
    }
}

#[cfg(test)]
mod tests {
    use cellar_grid::SheetId;

    use super::*;

    /// A renamed sheet with the number 7, and a deleted sheet with the number 8.
    struct Renamed;

    impl SheetNames for Renamed {
        fn number(&self, name: &str) -> Option<SheetId> {
            [("Old", SheetId(7)), ("Gone", SheetId(8))]
                .into_iter()
                .find_map(|(known, number)| (known == name).then_some(number))
        }

        fn name(&self, sheet: SheetId) -> Option<&str> {
            (sheet == SheetId(7)).then_some("New")
        }
    }

    #[test]
    fn numbers_of_sheets_become_their_names() {
        let reference = |text: &str| {
            let parsed = cellar_formula::Formula::parse(text, &Renamed).unwrap();
            match Formula::of(&parsed, &Renamed).expression().node() {
                Node::Reference(CellReference { sheets, .. }) => Ok(sheets.clone()),
                Node::Error(code) => Err(*code),
                node => panic!("{node:?}"),
            }
        };
        assert_eq!(reference("=A1"), Ok(Sheets::Own));
        assert_eq!(reference("=Old!A1"), Ok(Sheets::Named("New".to_owned())));
        assert_eq!(reference("=Other!A1"), Ok(Sheets::Named("Other".to_owned())));
        assert_eq!(reference("=Gone!A1"), Err(ErrorCode::Ref));
    }
}
