//! Error values in formulas.

/// Error values of Excel and Cellar. None of them is a prefix of another.
const ERROR_VALUES: [&str; 18] = [
    "#NULL!",
    "#DIV/0!",
    "#VALUE!",
    "#REF!",
    "#NAME?",
    "#NUM!",
    "#N/A",
    "#GETTING_DATA",
    "#SPILL!",
    "#CONNECT!",
    "#BLOCKED!",
    "#CALC!",
    "#LOST!",
    "#UNKNOWN!",
    "#FIELD!",
    "#EXTERNAL!",
    "#BUSY!",
    "#PYTHON!",
];

/// Returns the error value at the start of `text`, ignoring case, or `None` if there is none.
pub(crate) fn error_value_at(text: &str) -> Option<&'static str> {
    ERROR_VALUES.into_iter().find(|value| {
        text.get(..value.len()).is_some_and(|start| start.eq_ignore_ascii_case(value))
    })
}
