//! Functions that return a part of an argument, whose size depends on other arguments.

use super::Shapes;
use crate::expression::traits::{AreaSize, AxisExtent, ONE_LINE, size_of};
use crate::expression::{BinaryOperator, Constant, Node, NodeIndex, PostfixOperator};

impl Shapes<'_> {
    /// Returns whether the call returns several cells, although the arguments that are passed as
    /// single values have one.
    pub(super) fn selects_several(&self, function: &str, arguments: &[NodeIndex]) -> bool {
        let argument = |place: usize| self.node(*arguments.get(place)?);
        match function {
            "INDEX" => self.index_selects_several(arguments),
            "COLUMN" => self.has_several_lines(arguments, |(_, columns)| columns),
            "ROW" => self.has_several_lines(arguments, |(rows, _)| rows),
            "REGEXEXTRACT" => !matches!(argument(2), None | Some(Node::Omitted)),
            "OFFSET" => !(is_one_or_absent(argument(3)) && is_one_or_absent(argument(4))),
            // The new values can be omitted. A parameter of `LAMBDA` can have an omitted value.
            "GROWTH" | "TREND" => {
                let is_given = matches!(argument(2), Some(Node::Reference(_) | Node::Constant(_)));
                !is_given && self.any(arguments)
            }
            "XLOOKUP" => {
                let (searched, results) = (argument(1).and_then(size), argument(2).and_then(size));
                let is_line = results.is_some_and(is_line) && results == searched;
                arguments.get(2).is_some_and(|results| self.at(*results)) && !is_line
            }
            _ => false,
        }
    }

    fn node(&self, index: NodeIndex) -> Option<&Node> {
        self.nodes.get(index.get())
    }

    fn has_several_lines(
        &self,
        arguments: &[NodeIndex],
        lines: impl Fn(AreaSize) -> Option<AxisExtent>,
    ) -> bool {
        let has_one = |node| size(node).is_some_and(|size| lines(size) == ONE_LINE);
        arguments.first().is_some_and(|argument| {
            self.at(*argument) && !self.node(*argument).is_some_and(has_one)
        })
    }

    /// A row or column number that is not a constant counts as larger than 0.
    fn index_selects_several(&self, arguments: &[NodeIndex]) -> bool {
        let [source, numbers @ ..] = arguments else { return false };
        if !self.at(*source) {
            return false;
        }
        let node = self.node(*source);
        let size = node.and_then(size);
        let is_all = |place: usize| {
            let number = numbers.get(place).and_then(|number| self.node(*number));
            number.is_none_or(selects_all)
        };
        match (numbers.len(), is_all(0), is_all(1)) {
            // Without a column, several rows and columns of a reference give an error.
            (1, false, _) => !(node.is_some_and(is_reference) || size.is_some_and(is_line)),
            (_, false, false) => false,
            (2.., true, false) => size.is_none_or(|(rows, _)| rows != ONE_LINE),
            (2.., false, true) => size.is_none_or(|(_, columns)| columns != ONE_LINE),
            _ => true,
        }
    }
}

/// Returns whether a row or column number is omitted or a constant that can be 0.
fn selects_all(number: &Node) -> bool {
    match number {
        Node::Omitted => true,
        Node::Constant(constant) => !is_positive(constant),
        Node::Array { values, .. } => !values.iter().all(is_positive),
        _ => false,
    }
}

fn is_positive(constant: &Constant) -> bool {
    match constant {
        Constant::Number(number) => *number >= 1.0,
        Constant::Boolean(value) => *value,
        Constant::Text(_) | Constant::Error(_) => false,
    }
}

fn is_one_or_absent(argument: Option<&Node>) -> bool {
    match argument {
        None | Some(Node::Omitted) => true,
        Some(Node::Constant(Constant::Number(number))) => (1.0..2.0).contains(number),
        Some(_) => false,
    }
}

/// Returns whether the result is a reference or an error.
fn is_reference(node: &Node) -> bool {
    use BinaryOperator::{Intersection, Range, Union};
    matches!(
        node,
        Node::Reference(_)
            | Node::SeveralSheets { .. }
            | Node::Postfix { operator: PostfixOperator::Spill, .. }
            | Node::Binary { operator: Range | Union | Intersection, .. }
    )
}

fn size(node: &Node) -> Option<AreaSize> {
    match node {
        Node::Reference(reference) => size_of(&reference.area),
        Node::Array { columns, values } => {
            let rows = values.len().checked_div(*columns)?;
            let extent =
                |count: usize| Some((u32::try_from(count).ok()?.checked_sub(1)?, false, false));
            Some((extent(rows), extent(*columns)))
        }
        _ => None,
    }
}

fn is_line((rows, columns): AreaSize) -> bool {
    rows == ONE_LINE || columns == ONE_LINE
}
