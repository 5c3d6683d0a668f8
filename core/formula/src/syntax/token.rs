//! Tokens of a formula.

use std::ops::Range;

use crate::reference::Reference;

/// A token of a formula and its place in the text.
#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    /// Kind of the token.
    pub kind: TokenKind,
    /// Place of the token in the text, in bytes. Both ends are boundaries of characters.
    pub span: Range<usize>,
}

/// Kind of a token.
#[derive(Debug, Clone, PartialEq)]
pub enum TokenKind {
    /// The `=` at the start of the formula.
    Start,
    /// One or more spaces, tabs or line breaks. Between two references, they are the operator that
    /// intersects them.
    Space,
    /// A number without a sign, such as `1.5E3`.
    Number,
    /// A text in double quotes.
    Text,
    /// `TRUE` or `FALSE`.
    Boolean,
    /// An error value such as `#N/A`. `#REF!` is a reference.
    Error,
    /// A reference to cells.
    Reference(Reference),
    /// A name: a named range, a parameter of `LET` or `LAMBDA`, or a word that means nothing.
    Name,
    /// The name of a function. A parenthesis follows, perhaps after spaces.
    Function,
    /// A reference that is kept as text and not calculated.
    Unsupported(Unsupported),
    /// `(`
    OpenParenthesis,
    /// `)`
    CloseParenthesis,
    /// `{`
    OpenArray,
    /// `}`
    CloseArray,
    /// `,` between arguments or columns of an array, or the operator that unites references.
    Comma,
    /// `;` between rows of an array.
    Semicolon,
    /// An operator between two values, such as `*` or `<=`, or before a value, such as `-`. `:` is
    /// an operator only where it is not part of a reference, as in `A1:INDEX(B:B,3)`.
    Operator,
    /// `@`, which takes one value of a range.
    At,
    /// `%` after a value.
    Percent,
    /// `#` after a cell, which refers to all cells that the array result of the cell extends to.
    Spill,
}

/// Kind of a reference that is kept as text and not calculated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unsupported {
    /// A reference to a part of a table, such as `Sales[Amount]`.
    Table,
    /// A reference to another file, such as `[1]Sheet1!A1`.
    File,
    /// A reference to the same cells of several sheets, such as `Sheet1:Sheet3!A1`.
    Sheets,
    /// A name that belongs to a sheet, such as `Sheet1!rate`.
    SheetName,
}

impl Unsupported {
    /// Returns why the reference is not calculated and what to write instead.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::Table => "references to tables are not supported; use a range such as A2:A10",
            Self::File => {
                "references to other files are not supported; import the sheet and refer to it"
            }
            Self::Sheets => {
                "references to several sheets are not supported; refer to each sheet, \
                 as in Sheet1!A1+Sheet2!A1"
            }
            Self::SheetName => {
                "names are not supported after a sheet; use a range such as Sheet1!A2:A10"
            }
        }
    }
}
