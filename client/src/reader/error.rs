//! Why a spreadsheet cannot be read from its snapshots.

use cellar_api::{wire::Problem, wire::ProblemKind};
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_snapshot::SnapshotError;

use crate::ClientError;
use crate::error::advice;

/// Why a spreadsheet cannot be read: one variant for each cause, each with what to do about it.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum ReaderError {
    /// A request failed, or what is asked for is not there.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Client(#[from] ClientError),
    /// An object of the snapshot is gone.
    #[error("the object {key} of the snapshot is missing")]
    #[diagnostic(code(cellar::object_missing), help("{}", rebuild(log)))]
    Missing {
        /// The spreadsheet.
        log: LogId,
        /// The object's key.
        key: String,
    },
    /// An object of the snapshot is not what it should be.
    #[error("the object {key} of the snapshot is damaged ({why})")]
    #[diagnostic(code(cellar::object_damaged), help("{}", rebuild(log)))]
    Damaged {
        /// The spreadsheet.
        log: LogId,
        /// The object's key; the folder of all, if they do not fit each other.
        key: String,
        /// What is wrong.
        why: String,
    },
    /// The object of a large entry cannot be had.
    #[error("the object of the large entry at {position} is missing: {source}")]
    #[diagnostic(
        code(cellar::large_entry_missing),
        help("run the same command again; if it stays so, the object was deleted from the bucket")
    )]
    LargeEntry {
        /// Where the entry stands.
        position: Position,
        /// What the store says.
        source: Box<ClientError>,
    },
    /// It was restored, or went on too far, again and again while it was read.
    #[error("the spreadsheet changed under the reader's hands, {beginnings} times in a row")]
    #[diagnostic(code(cellar::changing), help("run the same command again"))]
    Changing {
        /// How often reading began.
        beginnings: u32,
    },
}

impl ReaderError {
    /// What the server says when it reads in the same case.
    pub(crate) fn refused(kind: ProblemKind, why: impl Into<String>) -> Self {
        let problem = Box::new(Problem::new(kind, why));
        Self::Client(ClientError::Problem { problem, uncertain: false, advice: advice(kind) })
    }

    /// Objects that do not fit each other.
    pub(super) fn shape(log: LogId, error: &SnapshotError) -> Self {
        Self::Damaged { log, key: format!("sheets/{log}"), why: error.to_string() }
    }

    /// Which object it is about, if a newer snapshot or another URL may help.
    pub(crate) fn object(&self) -> Option<String> {
        match self {
            Self::Missing { key, .. } | Self::Damaged { key, .. } => Some(key.clone()),
            Self::LargeEntry { position, .. } => Some(position.to_string()),
            Self::Client(_) | Self::Changing { .. } => None,
        }
    }
}

/// What to do about objects that are not as they should be.
fn rebuild(log: &LogId) -> String {
    format!(
        "the log still has everything, and `synth reprocess --rebuild --spreadsheet {log}` makes its snapshots \
         anew"
    )
}

/// Whether a store refuses an object: it is not there, or its URL has ended.
pub(super) fn is_refusal(error: &ClientError) -> bool {
    matches!(error, ClientError::UnexpectedStatus { status: 403 | 404, .. })
}

/// Whether a store says that the object does not exist.
pub(super) fn is_absence(error: &ClientError) -> bool {
    matches!(error, ClientError::UnexpectedStatus { status: 404, .. })
}

#[cfg(test)]
mod tests {
    use miette::Diagnostic as _;

    use super::*;

    #[test]
    fn a_missing_object_is_named_with_the_command_that_makes_it_anew() {
        let log = LogId::from_uuid(uuid::Uuid::from_bytes([7; 16]));
        let key = format!("sheets/{log}/chunks/ab");
        let missing = ReaderError::Missing { log, key: key.clone() };
        let damaged = ReaderError::Damaged { log, key: key.clone(), why: "a bit".into() };
        for error in [missing, damaged] {
            let (text, help) = (error.to_string(), error.help().unwrap().to_string());
            assert!(text.contains(&key), "{text}");
            assert!(help.contains(&format!("--rebuild --spreadsheet {log}`")), "{help}");
            assert_eq!(error.object(), Some(key.clone()));
        }
        let unknown = ReaderError::refused(ProblemKind::SheetNotFound, "sheet `x` does not exist");
        assert!(unknown.help().unwrap().to_string().contains("cellar sheets"));
        assert_eq!(unknown.object(), None);
    }
}
