//! Errors of log operations.

use cellar_api::time::format_utc;
use cellar_base::position::Position;
use cellar_log::append::Refusal;

use crate::ports::PortError;

/// Error of a log operation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// The log does not exist.
    #[error("the spreadsheet does not exist")]
    NotFound,
    /// The append was refused.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The client's position is too old. The client must reload the spreadsheet.
    #[error("the position is older than the two newest log segments; reload the spreadsheet")]
    Reload,
    /// The client's position does not exist in the log, for example because the tables were restored to
    /// an earlier time. The client must reload the spreadsheet.
    #[error("position {after} does not exist; the newest is {newest}; reload the spreadsheet")]
    ReloadUnknownPosition {
        /// Position after which entries were requested.
        after: Position,
        /// Newest position.
        newest: Position,
    },
    /// The requested position is after the latest position.
    #[error("position {at} does not exist; the newest is {newest}")]
    NoSuchPosition {
        /// Requested position.
        at: Position,
        /// Newest position.
        newest: Position,
    },
    /// The spreadsheet was created after the requested time.
    #[error(
        "the spreadsheet has no state at {}; it was created at {}",
        format_utc(*time_s),
        format_utc(*created_s)
    )]
    BeforeCreation {
        /// Requested time, in seconds since the Unix epoch.
        time_s: u64,
        /// Time of the first entry, in seconds since the Unix epoch.
        created_s: u64,
    },
    /// The spreadsheet is larger than the memory limit for reads.
    #[error(transparent)]
    TooLarge(#[from] cellar_sheet::workbook::WorkbookTooLarge),
    /// The history of the requested cells is too large to be computed in one request.
    #[error(
        "the cells have moved or changed too often at {at} to compute their history; request a smaller \
         range"
    )]
    HistoryTooLarge {
        /// Position of the entry at which the history became too large.
        at: Position,
    },
    /// The sheet does not exist at the requested position.
    #[error("sheet `{sheet}` does not exist")]
    UnknownSheet {
        /// Number or name of the requested sheet.
        sheet: String,
    },
    /// The undo or revert would change nothing, and the caller asked to refuse it in this case.
    /// Nothing was appended.
    #[error("{why}")]
    NothingToReverse {
        /// Reason why there is nothing to undo or revert.
        why: String,
    },
    /// The uploaded object cannot become an entry.
    #[error(transparent)]
    Upload(#[from] super::UploadFault),
    /// Chunks of the import are missing or invalid.
    #[error(transparent)]
    Import(#[from] super::ImportFault),
    /// The fork cannot be created.
    #[error(transparent)]
    Fork(#[from] super::ForkFault),
    /// The fork cannot be merged.
    #[error(transparent)]
    Merge(#[from] super::MergeFault),
    /// The segment could not be rolled.
    #[error(transparent)]
    Roll(#[from] cellar_log::roll::RollRefusal),
    /// The log is damaged.
    #[error("the log is corrupt at {at}")]
    Corrupt {
        /// Position of the damage.
        at: Position,
    },
    /// A snapshot object is missing or damaged.
    #[error(transparent)]
    Snapshot(crate::snapshots::ObjectFault),
    /// A store request failed.
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
