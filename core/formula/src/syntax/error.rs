//! Syntax errors in formulas.

use std::ops::Range;

use cellar_base::limits::{
    MAX_EXPRESSION_DEPTH, MAX_FORMULA_BYTES, MAX_FORMULA_DEPTH, MAX_FORMULA_REFERENCES,
};

/// A syntax error and its position in the formula.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("character {character}: {problem}")]
pub struct SyntaxError {
    /// The problem. Its message says how to fix it.
    pub problem: SyntaxProblem,
    /// Position of the first invalid character, counted in characters from 1. The `=` is character
    /// 1.
    pub character: usize,
    /// Byte range of the error in the text. It is empty if the error is at the end of the text.
    pub span: Range<usize>,
}

/// The problem in an invalid formula. The message says how to fix it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SyntaxProblem {
    /// The text does not start with `=`.
    #[error("a formula starts with `=`")]
    NoStart,
    /// The formula is too long.
    #[error("the formula has {bytes} bytes; at most {MAX_FORMULA_BYTES} are allowed")]
    TooLong {
        /// Length of the formula in bytes.
        bytes: usize,
    },
    /// Parentheses, function calls or arrays are nested too deeply.
    #[error(
        "parentheses are nested more than {MAX_FORMULA_DEPTH} levels deep; move parts of the formula to other cells"
    )]
    TooDeep,
    /// Operators, parentheses and function calls are nested too deeply.
    #[error(
        "operators and parentheses are nested more than {MAX_EXPRESSION_DEPTH} levels deep; remove repeated signs, or move parts of the formula to other cells"
    )]
    OperatorsTooDeep,
    /// The formula has too many references.
    #[error(
        "the formula has more than {MAX_FORMULA_REFERENCES} references; use ranges, or move parts of the formula to other cells"
    )]
    TooManyReferences,
    /// A string or sheet name has no closing quote.
    #[error("the closing {quote} is missing")]
    Unclosed {
        /// The missing quote.
        quote: char,
    },
    /// A parenthesis, brace or bracket has no matching closing character.
    #[error("`{open}` is not closed; add `{close}`")]
    NotClosed {
        /// The opening character.
        open: char,
        /// The missing character.
        close: char,
    },
    /// A closing parenthesis or brace has no matching opening character.
    #[error("`{close}` has no matching `{open}`; remove `{close}` or add `{open}`")]
    NotOpened {
        /// The missing character.
        open: char,
        /// The closing character.
        close: char,
    },
    /// An operator or separator is not followed by a value.
    #[error("a value is missing after `{after}`")]
    NoValueAfter {
        /// The text before the missing value.
        after: String,
    },
    /// An operator or separator is not preceded by a value.
    #[error("a value is missing before `{before}`")]
    NoValueBefore {
        /// The text after the missing value.
        before: String,
    },
    /// Two consecutive values have no operator or separator between them.
    #[error("an operator or `,` is missing before `{before}`")]
    NoOperator {
        /// The second value.
        before: String,
    },
    /// A `;` outside an array.
    #[error("`;` can only separate the rows of an array; use `,` to separate arguments")]
    Semicolon,
    /// A `,` outside a function, an array and parentheses.
    #[error(
        "`,` can only separate the arguments of a function; enclose a union of ranges in parentheses"
    )]
    Comma,
    /// An array contains an element that is not a constant.
    #[error(
        "an array can only contain numbers, quoted strings, TRUE, FALSE and error values; `{found}` is not allowed here"
    )]
    NotConstant {
        /// Text of the element.
        found: String,
    },
    /// The rows of an array have different lengths.
    #[error(
        "all rows of an array must have the same number of values; the first row has {first}, this row has {found}"
    )]
    UnequalRows {
        /// Number of values in the first row.
        first: usize,
        /// Number of values in the first row whose length differs.
        found: usize,
    },
    /// A `#` does not start an error value.
    #[error("`{found}` is not an error value; enclose strings in double quotes")]
    UnknownError {
        /// The text that starts with `#`.
        found: String,
    },
    /// A sheet name is not followed by a reference.
    #[error("a cell or range is missing after the sheet name; add it, as in Sheet1!A1")]
    NoCells,
    /// A sheet name is empty.
    #[error("the sheet name before `!` is empty")]
    NoSheet,
    /// A sheet name needs quotes.
    #[error("put the sheet name in quotes: '{name}'!")]
    UnquotedSheet {
        /// The sheet name.
        name: String,
    },
    /// A word contains `$` but is not a reference.
    #[error("`$` is only allowed in references such as $A$1; `{found}` is not a reference")]
    NotAReference {
        /// The word.
        found: String,
    },
    /// An operand of `:` is not a reference.
    #[error("`:` can only join two references, as in A1:B2")]
    RangeOfValue,
    /// A `#` follows a value that is not a reference.
    #[error("`#` is only allowed after a reference, as in A1#")]
    SpillOfValue,
    /// A character is not allowed outside quotes.
    #[error("`{}` is not allowed in a formula outside quotes", character.escape_default())]
    Character {
        /// The character.
        character: char,
    },
    /// The formula contains a control character.
    #[error("control character `{}` is not allowed in a formula", character.escape_default())]
    ControlCharacter {
        /// The character.
        character: char,
    },
    /// A reference is supported only in imported files.
    #[error("{reason}")]
    Unsupported {
        /// The reason why the reference is not supported, and an alternative.
        reason: &'static str,
    },
}

/// Maximum number of characters of a formula that an error message quotes.
const MAX_QUOTED_CHARACTERS: usize = 20;

/// Shortens formula text for an error message.
pub(super) fn excerpt(text: &str) -> String {
    match text.char_indices().nth(MAX_QUOTED_CHARACTERS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

impl SyntaxError {
    /// Creates an error at the byte range `span` of `text`.
    pub(crate) fn at(text: &str, span: Range<usize>, problem: SyntaxProblem) -> Self {
        let before = text.get(..span.start).unwrap_or(text);
        Self { problem, character: before.chars().count() + 1, span }
    }
}
