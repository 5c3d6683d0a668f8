//! Errors of decoding stored operations.

/// The reason why a stored operation cannot be decoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnreadableOperation {
    /// An unknown error value.
    #[error("{number} is not the number of a known error value")]
    UnknownErrorValue {
        /// The stored number, to which no error value corresponds.
        number: u8,
    },
    /// A cell is outside the largest possible sheet, or its number format is missing.
    #[error("a cell of the operation is outside the sheet or references a missing format")]
    OutOfRange,
    /// The operation has too many cells, or a number format is too long. Cellar never writes such
    /// an operation.
    #[error("the operation has too many cells or a format that is too long")]
    TooLarge,
    /// A sheet name is empty or too long. Cellar never writes such a name.
    #[error("the name of the sheet is empty or too long")]
    InvalidSheetName,
    /// A number is infinite or NaN.
    #[error("a number of the operation is infinite or NaN")]
    NumberNotFinite,
    /// A tile index is too long.
    #[error("the tile index of an imported sheet is too long")]
    TileIndexTooLong,
}
