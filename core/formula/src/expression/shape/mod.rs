//! Determines whether a formula may return several cells.

mod passing;
mod selection;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use passing::{RESIZING, letters_of_arguments, passing};

use super::traits::{ONE_LINE, short_name, size_of};
use super::{BinaryOperator, Expression, Node, NodeIndex, PostfixOperator, PrefixOperator};

/// Returns whether the result may have several cells, and therefore spill. Cells that contain 0 are
/// not considered: `INDEX(A:A,B1)` is a whole column if `B1` is 0. `is_several_name` says which defined
/// names have several cells.
pub(super) fn may_have_several_cells(
    expression: &Expression,
    is_several_name: impl Fn(&str) -> bool,
) -> bool {
    let nodes = expression.nodes();
    let mut shapes =
        Shapes { nodes, several: Vec::with_capacity(nodes.len()), ..Shapes::default() };
    let names = nodes.iter().filter_map(|node| match node {
        Node::Name(name) | Node::Call { function: name, .. } => Some(name.as_str()),
        _ => None,
    });
    shapes.several_names.extend(names.filter(|name| is_several_name(name)).map(short_name));
    shapes.variables.extend(nodes.iter().flat_map(|node| variables_of(node, nodes)));
    for (index, node) in nodes.iter().enumerate() {
        let is_several = shapes.of_node(node);
        shapes.several.push(is_several);
        if is_several && let Some(name) = shapes.variables.get(&index) {
            shapes.several_names.insert(name);
        }
    }
    shapes.several.last().copied().unwrap_or(false)
}

/// Returns the variables that a call of `LET` defines, with the indices of their values.
fn variables_of<'e>(node: &Node, nodes: &'e [Node]) -> Vec<(usize, &'e str)> {
    let Node::Call { function, arguments } = node else { return Vec::new() };
    if stored_name(function) != "LET" {
        return Vec::new();
    }
    let pairs = arguments.chunks_exact(2);
    let variable = |pair: &[NodeIndex]| match pair {
        [name, value] => Some((value.get(), name_at(nodes, *name)?)),
        _ => None,
    };
    pairs.filter_map(variable).collect()
}

fn name_at(nodes: &[Node], index: NodeIndex) -> Option<&str> {
    match nodes.get(index.get())? {
        Node::Name(name) => Some(short_name(name)),
        _ => None,
    }
}

/// Removes the prefixes that a file can store before the name of a built-in function. Other prefixes
/// show that a variable is called.
fn stored_name(function: &str) -> &str {
    let name = function.strip_prefix("_XLFN.").unwrap_or(function);
    name.strip_prefix("_XLWS.").unwrap_or(name)
}

/// Which nodes may have several cells.
///
/// A function value counts as several cells if its result may have several cells for arguments of
/// single cells. The parameters of `LAMBDA` therefore count as single cells in its body.
#[derive(Default)]
struct Shapes<'e> {
    nodes: &'e [Node],
    /// Whether each of the first nodes may have several cells.
    several: Vec<bool>,
    /// Variables of `LET`, by the index of their value.
    variables: HashMap<usize, &'e str>,
    /// Variables that have several cells in at least one `LET`.
    several_names: HashSet<&'e str>,
    has_function_values: bool,
}

impl Shapes<'_> {
    fn at(&self, index: NodeIndex) -> bool {
        self.several.get(index.get()).copied().unwrap_or(true)
    }

    fn any(&self, arguments: &[NodeIndex]) -> bool {
        arguments.iter().any(|argument| self.at(*argument))
    }

    fn of_node(&mut self, node: &Node) -> bool {
        match node {
            Node::Constant(_) | Node::Unsupported { .. } | Node::Omitted => false,
            Node::Array { values, .. } => values.len() > 1,
            Node::Reference(reference) => {
                size_of(&reference.area).is_some_and(|size| size != (ONE_LINE, ONE_LINE))
            }
            Node::SeveralSheets { .. }
            | Node::Postfix { operator: PostfixOperator::Spill, .. }
            | Node::Binary { operator: BinaryOperator::Range, .. } => true,
            Node::Name(name) => self.of_name(short_name(name)),
            Node::Prefix { operator: PrefixOperator::ImplicitIntersection, operand } => {
                self.of_intersection(*operand)
            }
            Node::Prefix { operand, .. } | Node::Postfix { operand, .. } => self.at(*operand),
            Node::Binary { left, right, .. } => self.at(*left) || self.at(*right),
            Node::Call { function, arguments } => self.of_call(function, arguments),
            Node::CallOf { callee, arguments } => self.at(*callee) || self.any(arguments),
        }
    }

    fn of_name(&mut self, name: &str) -> bool {
        let is_function = matches!(passing(name), "*" | RESIZING);
        self.has_function_values |= is_function;
        is_function || self.several_names.contains(name)
    }

    /// `@` does not change function values.
    fn of_intersection(&self, operand: NodeIndex) -> bool {
        let is_reference = matches!(self.nodes.get(operand.get()), Some(Node::Reference(_)));
        self.has_function_values && !is_reference && self.at(operand)
    }

    fn of_call(&mut self, function: &str, arguments: &[NodeIndex]) -> bool {
        let name = stored_name(function);
        match (name, arguments) {
            ("SINGLE", [operand, ..]) => self.of_intersection(*operand),
            ("ANCHORARRAY", _) => true,
            ("LAMBDA", [.., body]) => {
                self.has_function_values = true;
                self.at(*body)
            }
            ("LET", [definitions @ .., body]) => self.at(*body) || self.has_odd_names(definitions),
            _ => match passing(name) {
                "s" => self.of_name(short_name(function)) || self.any(arguments),
                "*" => true,
                letters => {
                    self.of_passed(letters, arguments) || self.selects_several(name, arguments)
                }
            },
        }
    }

    /// Returns whether a value of several cells is defined as something else than a plain name.
    fn has_odd_names(&self, definitions: &[NodeIndex]) -> bool {
        definitions.chunks_exact(2).any(|pair| match pair {
            [name, value] => self.at(*value) && name_at(self.nodes, *name).is_none(),
            _ => false,
        })
    }

    fn of_passed(&self, letters: &str, arguments: &[NodeIndex]) -> bool {
        letters_of_arguments(letters)
            .zip(arguments)
            .any(|(letter, argument)| letter == b's' && self.at(*argument))
    }
}
