//! Determines what a formula depends on, other than the cells that it references.

use cellar_formula::expression::NodeIndex;

use crate::expression::{CellReference, Link, Node, Operator, Sheets};
use crate::function::function_of_name;

/// Functions that depend on the current time.
const FUNCTIONS_OF_TIME: [&str; 2] = ["NOW", "TODAY"];
/// Functions that return random numbers.
const RANDOM_FUNCTIONS: [&str; 3] = ["RAND", "RANDARRAY", "RANDBETWEEN"];
/// Functions that can return references to cells outside their arguments.
const FUNCTIONS_OF_REFERENCES: [&str; 2] = ["INDIRECT", "OFFSET"];
/// Functions that resize the range in their third argument to the size of their first argument.
const RESIZING_FUNCTIONS: [&str; 2] = ["AVERAGEIF", "SUMIF"];

/// The inputs of a formula other than the cells that it references.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Dependence {
    pub(crate) time: bool,
    pub(crate) random_numbers: bool,
    pub(crate) calculated_references: bool,
}

impl Dependence {
    /// Adds the inputs of a node, excluding those of its children in `nodes`.
    pub(crate) fn add(&mut self, node: &Node, nodes: &[Node]) {
        match node {
            Node::Call(function, arguments) => {
                self.add_function(function.name);
                self.calculated_references |= RESIZING_FUNCTIONS.contains(&function.name)
                    && !has_equal_ranges(arguments, nodes);
                // Without a reference, `CELL` describes the cell that contains the formula.
                self.calculated_references |= function.name == "CELL" && arguments.len() == 1;
            }
            Node::Reference(reference) => {
                self.calculated_references |= matches!(reference.sheets, Sheets::Between(..));
            }
            // A function can be passed as an argument, as in `MAP(A1:A3,INDIRECT)`.
            Node::Name(name) | Node::CallName(name, _) => {
                if let Some(function) = function_of_name(name) {
                    self.add_function(function.name);
                }
            }
            Node::Chain(chain) => {
                self.calculated_references |= matches!(
                    chain.links.last(),
                    Some(Link::Spill | Link::Operator(Operator::Range, _))
                );
            }
            _ => {}
        }
    }

    fn add_function(&mut self, name: &str) {
        self.time |= FUNCTIONS_OF_TIME.contains(&name);
        self.random_numbers |= RANDOM_FUNCTIONS.contains(&name);
        self.calculated_references |= FUNCTIONS_OF_REFERENCES.contains(&name);
    }
}

/// Returns whether the first and third arguments have the same size. Returns `true` if there is no
/// third argument.
fn has_equal_ranges(arguments: &[NodeIndex], nodes: &[Node]) -> bool {
    let size_at = |index: usize| match nodes.get(arguments.get(index)?.get())? {
        Node::Reference(reference) => Some(size_of(reference)),
        _ => None,
    };
    arguments.len() < 3 || (size_at(0).is_some() && size_at(0) == size_at(2))
}

/// Returns the number of rows and the number of columns, each minus one. `None` means all rows or
/// all columns of the sheet.
fn size_of(reference: &CellReference) -> (Option<u32>, Option<u32>) {
    let size = |first: Option<u32>, last: Option<u32>| Some(last?.abs_diff(first?));
    (
        size(reference.first_row, reference.last_row),
        size(reference.first_column, reference.last_column),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Formula;

    #[test]
    fn the_functions_exist() {
        for name in
            FUNCTIONS_OF_TIME.iter().chain(&RANDOM_FUNCTIONS).chain(&FUNCTIONS_OF_REFERENCES)
        {
            assert!(function_of_name(name).is_some(), "{name}");
        }
    }

    #[test]
    fn formulas_tell_what_they_depend_on() {
        for (text, expected) in [
            ("=A1+SUM(Data!B:B)+1", ""),
            ("=\"NOW()\"&INDEX(A:A,3)&A1:B2 B1:B3", ""),
            ("=SUM((A1,B1))+x", ""),
            ("=SUMIF(A1:A9,1)+SUMIF(A1:A9,1,B2:B10)+AVERAGEIF(A:A,1,C:C)+CELL(\"row\",A1)", ""),
            ("=SUMIF(A1:A9,1,B1)", "references"),
            ("=AVERAGEIF(A:A,1,B1:B9)", "references"),
            ("=SUMIF(A1:A9,1,IF(A1,B1:B9,C1))", "references"),
            ("=CELL(\"contents\")", "references"),
            ("=SUM(Sheet1:Sheet3!A1)", "references"),
            ("=now()", "time"),
            ("=IF(A1,1+TODAY(),2)", "time"),
            ("=RAND()", "random"),
            ("=RANDBETWEEN(1,6)", "random"),
            ("=SUM(_xlfn.RANDARRAY(3))", "random"),
            ("=INDIRECT(A1)", "references"),
            ("=SUM(OFFSET(A1,1,0))", "references"),
            ("=SUM(A1:INDEX(A:A,B1))", "references"),
            ("=SUM(A1#)", "references"),
            ("=SUM(_xlfn.ANCHORARRAY(A1))", "references"),
            ("=MAP(A1:A3,_xleta.INDIRECT)", "references"),
            ("=LET(f,RAND,f())", "random"),
            ("=LAMBDA(x,x+NOW())(INDIRECT(\"A\"&RAND()))", "time random references"),
        ] {
            let formula = Formula::parse(text).unwrap();
            let names = [
                (formula.uses_time(), "time"),
                (formula.uses_random_numbers(), "random"),
                (formula.has_calculated_references(), "references"),
            ];
            let names: Vec<_> =
                names.into_iter().filter_map(|(is_used, name)| is_used.then_some(name)).collect();
            assert_eq!(names.join(" "), expected, "{text}");
        }
    }
}
