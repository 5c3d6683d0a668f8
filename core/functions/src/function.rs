//! Definitions of functions, and how arguments are passed to them.

use std::collections::HashMap;
use std::fmt;
use std::sync::OnceLock;

use cellar_sheet::cell::{ErrorCode, Value};

use crate::call::Call;
use crate::evaluate::{Evaluator, Scope};
use crate::expression::Expressions;
use crate::operand::{Operand, Outcome};

/// Computes the result of a function from its evaluated arguments.
type Eager = for<'c, 'e> fn(&'c Call<'c, 'e>) -> Outcome<Operand>;
/// Computes the result of a function from its unevaluated arguments.
type Lazy = for<'c, 'e> fn(&'c LazyCall<'c, 'e>) -> Outcome<Operand>;

pub(crate) enum Body {
    Eager(Eager),
    Lazy(Lazy),
}

/// How an argument is passed to a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passing {
    /// As a single value. If the argument is an array, the function is called once for each
    /// element.
    Single,
    /// As it is: a value, an array or a reference.
    Whole,
    /// As it is, and evaluated as an array even in a formula with implicit intersection.
    Array,
}

/// A worksheet function.
pub(crate) struct Function {
    pub(crate) name: &'static str,
    pub(crate) least: usize,
    pub(crate) most: usize,
    /// How each argument is passed: `s` for single, `w` for whole, `a` for array. The letters after
    /// `|` repeat for all remaining arguments. Without `|`, the last letter repeats.
    pub(crate) passing: &'static str,
    pub(crate) body: Body,
}

impl fmt::Debug for Function {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name)
    }
}

impl Function {
    /// Returns the error for an argument that a function of the Analysis ToolPak rejects.
    pub(crate) fn rejected_argument_error(
        &self,
        index: usize,
        operand: &Operand,
    ) -> Option<ErrorCode> {
        const CALCULATION_METHOD: usize = 7;
        let error = match operand {
            Operand::Omitted if index < self.least => ErrorCode::NotAvailable,
            Operand::Value(Value::Bool(_)) => ErrorCode::Value,
            Operand::Reference(areas) if !areas.iter().all(|area| area.is_cell()) => {
                ErrorCode::Value
            }
            _ => return None,
        };
        let is_boolean_argument = self.name == "ACCRINT" && index == CALCULATION_METHOD;
        let is_rejected =
            ANALYSIS_TOOLPAK.binary_search(&self.name).is_ok() && !is_boolean_argument;
        is_rejected.then_some(error)
    }

    pub(crate) fn passing(&self, index: usize) -> Passing {
        let (fixed, repeated) = match self.passing.split_once('|') {
            Some((fixed, repeated)) => (fixed, repeated),
            None => (self.passing, ""),
        };
        let letter = match fixed.as_bytes().get(index) {
            Some(letter) => Some(*letter),
            None if repeated.is_empty() => fixed.as_bytes().last().copied(),
            None => repeated.as_bytes().get((index - fixed.len()) % repeated.len()).copied(),
        };
        match letter {
            Some(b'w') => Passing::Whole,
            Some(b'a') => Passing::Array,
            _ => Passing::Single,
        }
    }
}

/// A call to a function that evaluates its own arguments.
pub(crate) struct LazyCall<'c, 'e> {
    pub(crate) evaluator: &'c Evaluator<'e>,
    pub(crate) arguments: Expressions<'c>,
    pub(crate) scope: &'c Scope,
    pub(crate) is_array: bool,
}

/// The functions of Excel's former Analysis ToolPak, in alphabetical order. Their single arguments
/// cannot be booleans or references to several cells, and their required arguments cannot be
/// omitted.
const ANALYSIS_TOOLPAK: [&str; 88] = [
    "ACCRINT",
    "ACCRINTM",
    "AMORDEGRC",
    "AMORLINC",
    "BESSELI",
    "BESSELJ",
    "BESSELK",
    "BESSELY",
    "BIN2DEC",
    "BIN2HEX",
    "BIN2OCT",
    "COMPLEX",
    "CONVERT",
    "COUPDAYBS",
    "COUPDAYS",
    "COUPDAYSNC",
    "COUPNCD",
    "COUPNUM",
    "COUPPCD",
    "CUMIPMT",
    "CUMPRINC",
    "DEC2BIN",
    "DEC2HEX",
    "DEC2OCT",
    "DELTA",
    "DISC",
    "DOLLARDE",
    "DOLLARFR",
    "DURATION",
    "EDATE",
    "EFFECT",
    "EOMONTH",
    "ERF",
    "ERFC",
    "FACTDOUBLE",
    "FVSCHEDULE",
    "GESTEP",
    "HEX2BIN",
    "HEX2DEC",
    "HEX2OCT",
    "IMABS",
    "IMAGINARY",
    "IMARGUMENT",
    "IMCONJUGATE",
    "IMCOS",
    "IMDIV",
    "IMEXP",
    "IMLN",
    "IMLOG10",
    "IMLOG2",
    "IMPOWER",
    "IMREAL",
    "IMSIN",
    "IMSQRT",
    "IMSUB",
    "INTRATE",
    "ISEVEN",
    "ISODD",
    "MDURATION",
    "MROUND",
    "NETWORKDAYS",
    "NOMINAL",
    "OCT2BIN",
    "OCT2DEC",
    "OCT2HEX",
    "ODDFPRICE",
    "ODDFYIELD",
    "ODDLPRICE",
    "ODDLYIELD",
    "PRICE",
    "PRICEDISC",
    "PRICEMAT",
    "QUOTIENT",
    "RANDBETWEEN",
    "RECEIVED",
    "SERIESSUM",
    "SQRTPI",
    "TBILLEQ",
    "TBILLPRICE",
    "TBILLYIELD",
    "WEEKNUM",
    "WORKDAY",
    "XIRR",
    "XNPV",
    "YEARFRAC",
    "YIELD",
    "YIELDDISC",
    "YIELDMAT",
];

/// Maximum number of arguments of a variadic function, as in Excel.
pub(crate) const MANY: usize = 255;

/// Defines a function that receives evaluated arguments.
pub(crate) const fn eager(
    name: &'static str,
    least: usize,
    most: usize,
    passing: &'static str,
    body: Eager,
) -> Function {
    Function { name, least, most, passing, body: Body::Eager(body) }
}

/// Defines a function that evaluates its own arguments.
pub(crate) const fn lazy(name: &'static str, least: usize, most: usize, body: Lazy) -> Function {
    Function { name, least, most, passing: "s", body: Body::Lazy(body) }
}

/// Finds a function by its upper-case name, without the prefix `_XLFN.`.
pub(crate) fn find_function(name: &str) -> Option<&'static Function> {
    static FUNCTIONS: OnceLock<HashMap<&'static str, &'static Function>> = OnceLock::new();
    FUNCTIONS
        .get_or_init(|| {
            crate::library::all_functions().map(|function| (function.name, function)).collect()
        })
        .get(name)
        .copied()
}

/// Finds a function that is passed as an argument, as in `BYROW(A1:B2,SUM)`, by its upper-case
/// name. Files store such a name with the prefix `_xleta.`.
pub(crate) fn function_of_name(name: &str) -> Option<&'static Function> {
    find_function(name.strip_prefix("_XLETA.").unwrap_or(name))
}

/// Returns how a function receives an argument. `name` is in upper case and has no prefix. Returns
/// `None` if there is no such function, or if it evaluates its own arguments, as `IF` does.
#[must_use]
pub fn argument_passing(name: &str, argument: usize) -> Option<Passing> {
    let function = find_function(name)?;
    match function.body {
        Body::Eager(_) => Some(function.passing(argument)),
        Body::Lazy(_) => None,
    }
}

/// Returns the smallest and the largest number of arguments of a function. `name` is in upper case and
/// has no prefix. Returns `None` if there is no such function.
#[must_use]
pub fn argument_counts(name: &str) -> Option<(usize, usize)> {
    find_function(name).map(|function| (function.least, function.most))
}

/// Returns the names of all functions, in alphabetical order.
#[must_use]
pub fn function_names() -> Vec<&'static str> {
    let mut names: Vec<_> = crate::library::all_functions().map(|function| function.name).collect();
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests {
    use cellar_formula::expression::FormulaTraits;
    use cellar_formula::reference::NoSheets;

    use super::*;

    /// Functions that return several cells for an argument that they take whole.
    const SPREADING: &str = "BYCOL BYROW CHOOSECOLS CHOOSEROWS COLUMN DROP EXPAND FILTER FREQUENCY GROWTH HSTACK \
        LINEST LOGEST MAKEARRAY MAP MINVERSE MMULT MODE.MULT OFFSET REDUCE ROW SCAN SORT \
        SORTBY TAKE TEXTSPLIT TOCOL TOROW TRANSPOSE TREND TRIMRANGE UNIQUE VSTACK WRAPCOLS \
        WRAPROWS XLOOKUP";
    /// Number of functions without arguments that they take whole. If one of these returns an array
    /// for single values, `expression/shape/passing.rs` must contain it.
    const FUNCTIONS_OF_SINGLE_VALUES: usize = 310;

    /// Returns whether the call may spill if the argument at `several` has several cells.
    fn may_spill(function: &Function, count: usize, several: usize) -> bool {
        let argument = |index| if index == several { "A1:A2" } else { "A1" };
        let arguments: Vec<_> = (0..count).map(argument).collect();
        let text = format!("={}({})", function.name, arguments.join(","));
        let formula = cellar_formula::Formula::parse(&text, &NoSheets).unwrap();
        FormulaTraits::of(formula.expression()).has_any(FormulaTraits::ARRAYS)
    }

    /// Returns the letter of the first argument that the table of shapes describes in another way.
    fn wrong_letter(function: &Function) -> Option<(usize, Passing)> {
        let counts = function.least..=function.most.min(function.least + 4);
        let mut places = counts.flat_map(|count| (0..count).map(move |index| (count, index)));
        let is_wrong = |(count, index): (usize, usize)| {
            let is_spreading = SPREADING.split_whitespace().any(|name| name == function.name);
            match function.passing(index) {
                Passing::Single => !may_spill(function, count, index),
                _ => !is_spreading && may_spill(function, count, index),
            }
        };
        let (_, index) = places.find(|place| is_wrong(*place))?;
        Some((index, function.passing(index)))
    }

    #[test]
    fn the_table_of_shapes_describes_all_functions() {
        let is_eager = |function: &&Function| matches!(function.body, Body::Eager(_));
        for function in crate::library::all_functions().filter(is_eager) {
            assert_eq!(wrong_letter(function), None, "{function:?}");
        }
    }

    #[test]
    fn new_functions_of_single_values_are_checked_for_arrays() {
        let has_single_values = |function: &&Function| {
            matches!(function.body, Body::Eager(_)) && !function.passing.contains(['a', 'w'])
        };
        let count = crate::library::all_functions().filter(has_single_values).count();
        assert_eq!(count, FUNCTIONS_OF_SINGLE_VALUES, "does the new function return an array?");
    }

    #[test]
    fn functions_with_other_inputs_than_cells_exist() {
        assert!(FormulaTraits::functions().count() > 9);
        for name in FormulaTraits::functions() {
            assert!(find_function(name).is_some(), "{name}");
        }
    }
}
