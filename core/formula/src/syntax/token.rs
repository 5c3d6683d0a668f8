//! Tokens of a formula.

use std::ops::Range;

use crate::reference::Reference;

/// A token and its position in the text of a formula.
#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    /// The kind of the token.
    pub kind: TokenKind,
    /// Byte range of the token in the text. Both bounds are character boundaries.
    pub span: Range<usize>,
}

/// The kind of a token.
#[derive(Debug, Clone, PartialEq)]
pub enum TokenKind {
    /// The `=` at the start of the formula.
    Start,
    /// One or more spaces, tabs or line breaks. Between two references, they are the intersection
    /// operator.
    Space,
    /// An unsigned number, such as `1.5E3`.
    Number,
    /// A string in double quotes.
    Text,
    /// `TRUE` or `FALSE`.
    Boolean,
    /// An error value such as `#N/A`, except `#REF!`, which is a reference.
    Error,
    /// A reference to cells.
    Reference(Reference),
    /// A name: a defined name, a variable of `LET`, a parameter of `LAMBDA`, or an unknown word.
    Name,
    /// A function name. The opening parenthesis follows, possibly after spaces.
    Function,
    /// An unsupported reference, which is kept as text.
    Unsupported(Unsupported),
    /// `(`
    OpenParenthesis,
    /// `)`
    CloseParenthesis,
    /// `{`
    OpenArray,
    /// `}`
    CloseArray,
    /// `,` between arguments or array columns, or as the union operator between references.
    Comma,
    /// `;` between array rows.
    Semicolon,
    /// A binary or prefix operator, such as `*`, `<=` or `-`. The range operator `:` is a separate
    /// token only in computed ranges, such as `A1:INDEX(B:B,3)`. In `A1:B2`, it is part of the
    /// reference.
    Operator,
    /// `@`, the implicit intersection operator.
    At,
    /// `%`, which divides the preceding value by 100.
    Percent,
    /// `#`, the spill operator. `A1#` is the range that the array formula in `A1` spills into.
    Spill,
}

/// The kind of an unsupported reference. Imported files keep such references as text, and edits
/// that contain them are rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unsupported {
    /// A structured reference to a part of a table, such as `Sales[Amount]`.
    Table,
    /// An external reference to another file, such as `[1]Sheet1!A1`.
    File,
    /// A 3D reference to the same cells of several sheets, such as `Sheet1:Sheet3!A1`.
    Sheets,
    /// A name that is qualified with a sheet, such as `Sheet1!rate`.
    SheetName,
}

impl Unsupported {
    /// Returns the reason why the reference is not supported, and suggests an alternative.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::Table => "references to tables are not supported; use a range such as A2:A10",
            Self::File => {
                "references to other files are not supported; import the sheet and refer to the imported cells"
            }
            Self::Sheets => {
                "references to several sheets are not supported; refer to each sheet, \
                 as in Sheet1!A1+Sheet2!A1"
            }
            Self::SheetName => {
                "names after a sheet name are not supported; use a range such as Sheet1!A2:A10"
            }
        }
    }
}
