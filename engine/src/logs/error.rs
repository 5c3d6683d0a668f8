//! What can go wrong with a log.

use cellar_core::append::Refusal;
use cellar_core::position::Position;

use crate::ports::PortError;

/// Why an operation on a log failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// There is no such log.
    #[error("there is no such spreadsheet")]
    NotFound,
    /// The append was refused.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The client is too far behind, or has read a position that the log does not have.
    #[error("the spreadsheet has moved on too far: load it again")]
    Reload,
    /// A position that the log has not reached.
    #[error("position {at} does not exist, the newest is {newest}")]
    NoSuchPosition {
        /// The position asked for.
        at: Position,
        /// The newest there is.
        newest: Position,
    },
    /// The spreadsheet holds more than one read may.
    #[error(transparent)]
    TooLarge(#[from] cellar_core::workbook::WorkbookTooLarge),
    /// A sheet that the spreadsheet does not have at that position.
    #[error("there is no sheet `{sheet}`")]
    UnknownSheet {
        /// Its name or number, as asked for.
        sheet: String,
    },
    /// An upload that cannot become an entry.
    #[error(transparent)]
    Upload(#[from] super::UploadFault),
    /// An import whose chunks are not there, or not what they must be.
    #[error(transparent)]
    Import(#[from] super::ImportFault),
    /// A fork that cannot be made.
    #[error(transparent)]
    Fork(#[from] super::ForkFault),
    /// The segment was not rolled.
    #[error(transparent)]
    Roll(#[from] cellar_core::roll::RollRefusal),
    /// The log itself is damaged.
    #[error("the log is corrupt at {at}")]
    Corrupt {
        /// Where.
        at: Position,
    },
    /// An object of a snapshot is missing or damaged.
    #[error(transparent)]
    Snapshot(crate::snapshots::ObjectFault),
    /// The store does not answer or refuses.
    #[error("the store failed: {0}")]
    Store(PortError),
}

impl From<crate::snapshots::ObjectFault> for LogError {
    fn from(fault: crate::snapshots::ObjectFault) -> Self {
        match fault {
            crate::snapshots::ObjectFault::Store(error) => Self::Store(error),
            fault => Self::Snapshot(fault),
        }
    }
}
