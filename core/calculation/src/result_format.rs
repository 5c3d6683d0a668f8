//! Derives the number format for displaying a formula's result if its cell has none. For example, a
//! date plus a number is displayed as a date, and a sum is displayed in the format of the first
//! cell that it adds, or of the cell below a header.

use std::sync::Arc;

use cellar_formula::expression::{BinaryOperator, Expression, Node, NodeIndex, PrefixOperator};
use cellar_formula::reference::Reference;
use cellar_sheet::cell::NumberFormat;

const DATE: &str = "yyyy-mm-dd";
const DATE_TIME: &str = "yyyy-mm-dd hh:mm";
const TIME: &str = "hh:mm:ss";

/// Functions whose result has the format of one of their arguments, with the index of this
/// argument. Sorted by name.
const FORMAT_ARGUMENTS: [(&str, usize); 26] = [
    ("ABS", 0),
    ("AVERAGE", 0),
    ("CHOOSE", 1),
    ("DROP", 0),
    ("FILTER", 0),
    ("IF", 1),
    ("IFERROR", 0),
    ("IFNA", 0),
    ("INDEX", 0),
    ("LARGE", 0),
    ("MAX", 0),
    ("MAXIFS", 0),
    ("MEDIAN", 0),
    ("MIN", 0),
    ("MINIFS", 0),
    ("OFFSET", 0),
    ("SMALL", 0),
    ("SORT", 0),
    ("SORTBY", 0),
    ("SUBTOTAL", 1),
    ("SUM", 0),
    ("SUMIFS", 0),
    ("TAKE", 0),
    ("UNIQUE", 0),
    ("XLOOKUP", 2),
    ("_XLFN.XLOOKUP", 2),
];

/// Functions of [`FORMAT_ARGUMENTS`] that may not read the argument. Sorted.
const UNREAD_ARGUMENTS: [&str; 10] = [
    "CHOOSE",
    "IF",
    "INDEX",
    "MAXIFS",
    "MINIFS",
    "OFFSET",
    "SUBTOTAL",
    "SUMIFS",
    "XLOOKUP",
    "_XLFN.XLOOKUP",
];

/// Which number formats of a cell count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FormatSource {
    /// Also the format of the result of its formula.
    Result,
    /// Only the format that is set on the cell or on a range. The formula of a cell that is not read
    /// has no result at some times and has one at others.
    Set,
}

/// Returns the number format of a formula's result, or `None` for `General`. `format_of` returns
/// the number format of the first cell of a reference.
pub(crate) fn result_format(
    expression: &Expression,
    format_of: impl Fn(&Reference, FormatSource) -> Option<Arc<str>>,
) -> Option<Arc<str>> {
    let node_count = expression.nodes().len();
    let mut formats: Vec<Option<Arc<str>>> = Vec::with_capacity(node_count);
    let mut set_formats: Vec<Option<Arc<str>>> = Vec::with_capacity(node_count);
    for node in expression.nodes() {
        let of_set = |reference: &Reference| format_of(reference, FormatSource::Set);
        let set_format = Operands(&set_formats).format(node, &of_set);
        let format = if may_leave_argument_unread(node) {
            set_format.clone()
        } else {
            let of_result = |reference: &Reference| format_of(reference, FormatSource::Result);
            Operands(&formats).format(node, &of_result)
        };
        formats.push(format);
        set_formats.push(set_format);
    }
    formats.pop().flatten()
}

fn may_leave_argument_unread(node: &Node) -> bool {
    match node {
        Node::Call { function, .. } => UNREAD_ARGUMENTS.binary_search(&function.as_str()).is_ok(),
        _ => false,
    }
}

/// The formats of all nodes that precede a node. They include the node's operands.
struct Operands<'a>(&'a [Option<Arc<str>>]);

impl Operands<'_> {
    fn of(&self, index: NodeIndex) -> Option<Arc<str>> {
        self.0.get(index.get()).cloned().flatten()
    }

    fn format(
        &self,
        node: &Node,
        format_of: &impl Fn(&Reference) -> Option<Arc<str>>,
    ) -> Option<Arc<str>> {
        match node {
            Node::Reference(reference) => format_of(reference),
            Node::Prefix { operator, operand } => match operator {
                PrefixOperator::Plus
                | PrefixOperator::Minus
                | PrefixOperator::ImplicitIntersection => self.of(*operand),
            },
            Node::Binary { operator: BinaryOperator::Add, left, right } => {
                self.of(*left).or_else(|| self.of(*right))
            }
            Node::Binary { operator: BinaryOperator::Subtract, left, right } => {
                let format = self.of(*left)?;
                // The difference between two dates is a number of days.
                let is_difference =
                    is_date(&format) && self.of(*right).is_some_and(|right| is_date(&right));
                (!is_difference).then_some(format)
            }
            Node::Call { function, arguments } => self.format_of_call(function, arguments),
            _ => None,
        }
    }

    fn format_of_call(&self, function: &str, arguments: &[NodeIndex]) -> Option<Arc<str>> {
        match function {
            "DATE" | "DATEVALUE" | "EDATE" | "EOMONTH" | "TODAY" | "WORKDAY" | "WORKDAY.INTL" => {
                Some(Arc::from(DATE))
            }
            "NOW" => Some(Arc::from(DATE_TIME)),
            "TIME" | "TIMEVALUE" => Some(Arc::from(TIME)),
            _ => {
                let found = FORMAT_ARGUMENTS.binary_search_by_key(&function, |(name, _)| *name);
                let (_, argument) = FORMAT_ARGUMENTS.get(found.ok()?)?;
                self.of(*arguments.get(*argument)?)
            }
        }
    }
}

/// Returns whether a number format displays dates or times.
fn is_date(format: &str) -> bool {
    NumberFormat::parse(format).is_ok_and(|format| format.is_date())
}

#[cfg(test)]
mod tests {
    use cellar_formula::Formula;
    use cellar_formula::reference::{Area, NoSheets};

    use super::*;

    /// Returns the format derived for a formula. Column A has a date format, and column B has two
    /// decimal places.
    fn format(text: &str) -> Option<String> {
        let formula = Formula::parse(text, &NoSheets).unwrap();
        let format_of = |reference: &Reference, _| {
            let cell = match reference.area {
                Area::Cell { column, .. } => column.index,
                _ => reference.area.rectangle()?.first.column,
            };
            [Some(DATE), Some("0.00")].get(cell as usize).copied().flatten().map(Arc::from)
        };
        result_format(formula.expression(), format_of).map(|format| format.to_string())
    }

    #[test]
    fn results_have_the_format_of_their_operands() {
        for (text, expected) in [
            ("=TODAY()", Some(DATE)),
            ("=NOW()+1", Some(DATE_TIME)),
            ("=A1", Some(DATE)),
            ("=A1+7", Some(DATE)),
            ("=7+A1", Some(DATE)),
            ("=A1-7", Some(DATE)),
            ("=A1-A2", None),
            ("=B1-B2", Some("0.00")),
            ("=7-A1", None),
            ("=SUM(B1:B9)", Some("0.00")),
            ("=MAX(A:A)", Some(DATE)),
            ("=IF(C1,A1,0)", Some(DATE)),
            ("=A1*2", None),
            ("=COUNT(A:A)", None),
            ("=YEAR(A1)", None),
            ("=C1", None),
        ] {
            assert_eq!(format(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn an_argument_that_may_not_be_read_has_only_its_set_format() {
        let format = |text: &str| {
            let formula = Formula::parse(text, &NoSheets).unwrap();
            let of_results =
                |_: &Reference, source| (source == FormatSource::Result).then(|| Arc::from(DATE));
            result_format(formula.expression(), of_results)
        };
        for text in ["=A1", "=SUM(A1:A9)+1", "=IFERROR(A1,B1)", "=ABS(A1)"] {
            assert!(format(text).is_some(), "{text}");
        }
        for text in
            ["=IF(C1,A1,B1)", "=IF(C1,A1+1,B1)+2", "=INDEX(A1:A9,2)", "=SUM(OFFSET(A1,1,0))"]
        {
            assert_eq!(format(text), None, "{text}");
        }
    }

    #[test]
    fn the_names_of_functions_are_sorted() {
        assert!(FORMAT_ARGUMENTS.is_sorted() && UNREAD_ARGUMENTS.is_sorted());
    }
}
