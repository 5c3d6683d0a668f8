//! Errors in the syntax of a formula.

use std::ops::Range;

use cellar_base::limits::{
    MAX_EXPRESSION_DEPTH, MAX_FORMULA_BYTES, MAX_FORMULA_DEPTH, MAX_FORMULA_REFERENCES,
};

/// An error in the syntax of a formula, and its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("character {character}: {problem}")]
pub struct SyntaxError {
    /// The error, with a remedy.
    pub problem: SyntaxProblem,
    /// Number of the first wrong character of the formula. The `=` is character 1.
    pub character: usize,
    /// Place of the error in the text, in bytes. It is empty at the end of the text.
    pub span: Range<usize>,
}

/// An error in a formula, with a remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SyntaxProblem {
    /// The text does not start with `=`.
    #[error("a formula starts with `=`")]
    NoStart,
    /// The text is too long.
    #[error("the formula has {bytes} bytes; at most {MAX_FORMULA_BYTES} are allowed")]
    TooLong {
        /// Length of the text.
        bytes: usize,
    },
    /// Parentheses, functions or arrays are nested too deeply.
    #[error(
        "parentheses are nested more than {MAX_FORMULA_DEPTH} levels deep; use other cells for parts of the formula"
    )]
    TooDeep,
    /// Operators, parentheses and functions are nested too deeply.
    #[error(
        "operators and parentheses are nested more than {MAX_EXPRESSION_DEPTH} levels deep; remove repeated signs, or use other cells for parts of the formula"
    )]
    OperatorsTooDeep,
    /// There are too many references.
    #[error(
        "the formula has more than {MAX_FORMULA_REFERENCES} references; use ranges, or other cells for parts of it"
    )]
    TooManyReferences,
    /// A text or a sheet name has no closing quote.
    #[error("the closing {quote} is missing")]
    Unclosed {
        /// The quote.
        quote: char,
    },
    /// A parenthesis, brace or bracket is not closed.
    #[error("`{open}` is not closed; add `{close}`")]
    NotClosed {
        /// The opening character.
        open: char,
        /// The missing character.
        close: char,
    },
    /// A closing parenthesis, brace or bracket has no opening one.
    #[error("`{close}` closes nothing; remove it or add `{open}`")]
    NotOpened {
        /// The missing character.
        open: char,
        /// The closing character.
        close: char,
    },
    /// An operator or separator has no value after it.
    #[error("a value is missing after `{after}`")]
    NoValueAfter {
        /// The text before the missing value.
        after: String,
    },
    /// An operator or separator has no value before it.
    #[error("a value is missing before `{before}`")]
    NoValueBefore {
        /// The text after the missing value.
        before: String,
    },
    /// Two values follow each other.
    #[error("an operator or `,` is missing before `{before}`")]
    NoOperator {
        /// The second value.
        before: String,
    },
    /// A `;` outside an array.
    #[error("`;` separates only rows of an array; separate arguments with `,`")]
    Semicolon,
    /// A `,` outside a function, an array and parentheses.
    #[error("`,` separates arguments of a function; put several ranges in parentheses")]
    Comma,
    /// An array contains something else than constants.
    #[error(
        "an array contains only numbers, texts, TRUE, FALSE and error values; `{found}` is none of them"
    )]
    NotConstant {
        /// The text that is not a constant.
        found: String,
    },
    /// The rows of an array have different lengths.
    #[error(
        "the rows of an array have equally many values; the first row has {first}, this one {found}"
    )]
    UnequalRows {
        /// Number of values in the first row.
        first: usize,
        /// Number of values in the wrong row.
        found: usize,
    },
    /// A word starts with `#` and is not an error value.
    #[error("`{found}` is not an error value; write a text in double quotes")]
    UnknownError {
        /// The word.
        found: String,
    },
    /// A sheet name without cells.
    #[error("a cell or range is missing after the sheet name; write it as Sheet1!A1")]
    NoCells,
    /// An empty sheet name.
    #[error("the sheet name before `!` is empty")]
    NoSheet,
    /// A sheet name that needs quotes.
    #[error("put the sheet name in quotes: '{name}'!")]
    UnquotedSheet {
        /// The name.
        name: String,
    },
    /// A `$` that is not part of a reference.
    #[error("`$` is only allowed in references such as $A$1; `{found}` is none")]
    NotAReference {
        /// The word with the `$`.
        found: String,
    },
    /// A `:` beside something else than a reference.
    #[error("`:` joins two cells, as in A1:B2")]
    RangeOfValue,
    /// A spill operator after something else than a reference.
    #[error("`#` follows only a cell such as A1#")]
    SpillOfValue,
    /// A character that formulas do not contain.
    #[error("`{}` is not allowed in a formula outside quotes", character.escape_default())]
    Character {
        /// The character.
        character: char,
    },
    /// A control character.
    #[error("control character `{}` is not allowed in a formula", character.escape_default())]
    ControlCharacter {
        /// The character.
        character: char,
    },
    /// A reference that is kept in imported files only.
    #[error("{reason}")]
    Unsupported {
        /// Why the reference is not supported and what to write instead.
        reason: &'static str,
    },
}

/// Maximum number of characters of a formula that an error quotes.
const MAX_QUOTED_CHARACTERS: usize = 20;

/// Returns the start of a text for an error message.
pub(super) fn excerpt(text: &str) -> String {
    match text.char_indices().nth(MAX_QUOTED_CHARACTERS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

impl SyntaxError {
    /// Creates an error at a place of `text`.
    pub(crate) fn at(text: &str, span: Range<usize>, problem: SyntaxProblem) -> Self {
        let before = text.get(..span.start).unwrap_or(text);
        Self { problem, character: before.chars().count() + 1, span }
    }
}
