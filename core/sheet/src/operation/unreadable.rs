//! Errors of decoding stored operations.

/// A stored operation that this version cannot read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnreadableOperation {
    /// An unknown error value.
    #[error("error value number {number} is unknown")]
    Number {
        /// The number.
        number: u8,
    },
    /// A cell outside the largest sheet, or an unlisted format.
    #[error("a cell of the operation is outside the sheet or names a format that does not exist")]
    OutOfRange,
    /// More than an operation allows: not written by Cellar.
    #[error("the operation has too many cells or too long formats")]
    TooLarge,
    /// An empty or too long sheet name: not written by Cellar.
    #[error("the name of a sheet is empty or too long")]
    SheetName,
    /// A number that is infinite or NaN.
    #[error("a number of the operation is not finite")]
    NotFinite,
    /// An imported sheet with an invalid tile index.
    #[error("the tile index of an imported sheet is unreadable")]
    Index,
}
