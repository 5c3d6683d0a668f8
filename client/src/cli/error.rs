//! Why a command failed.

use std::io;

use cellar_core::operation::RejectionReason;
use cellar_core::position::Position;
use miette::Diagnostic;

use super::output::grouped;
use super::{EXIT_ERROR, EXIT_USAGE};
use crate::ClientError;
use crate::editor::EditorError;
use crate::export::ExportError;
use crate::files::FileError;
use crate::import::ImportError;
use crate::live::LiveError;
use crate::profile::ProfileError;
use crate::reader::ReaderError;
use crate::rebase::RebaseError;

/// Why a command failed.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub(super) enum CliError {
    #[error(transparent)]
    #[diagnostic(transparent)]
    Client(#[from] ClientError),
    #[error(transparent)]
    #[diagnostic(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    #[diagnostic(transparent)]
    Profile(#[from] ProfileError),
    #[error(transparent)]
    #[diagnostic(transparent)]
    Editor(#[from] EditorError),
    #[error(transparent)]
    #[diagnostic(transparent)]
    Import(#[from] ImportError),
    #[error(transparent)]
    #[diagnostic(transparent)]
    Export(#[from] ExportError),
    #[error(transparent)]
    #[diagnostic(transparent)]
    Reader(#[from] ReaderError),
    #[error(transparent)]
    #[diagnostic(transparent)]
    Live(#[from] LiveError),
    #[error(transparent)]
    #[diagnostic(transparent)]
    Rebase(#[from] RebaseError),
    #[error(
        "the feed is another one than the checkpoint is of: it was built anew, or the stack restored"
    )]
    #[diagnostic(
        code(cellar::feed_changed),
        help("begin it anew: without --after, or with the file of --checkpoint removed")
    )]
    FeedChanged,
    #[error("no Cellar is known here: there is no .cellar/profile.json, and no --url")]
    #[diagnostic(
        code(cellar::no_url),
        help(
            "start one on this machine:   cargo run -p synth -- deploy --local\n\
             or name one that is running: cellar --url https://… --token … health"
        )
    )]
    NoUrl,
    #[error("no spreadsheet is chosen")]
    #[diagnostic(
        code(cellar::no_spreadsheet),
        help(
            "make one:           cellar create\n\
             or from a file:     cellar import FILE.csv\n\
             or choose one:      cellar use ID   (or give -s ID)"
        )
    )]
    NoSpreadsheet,
    #[error("there is a sheet `{name}` already")]
    #[diagnostic(
        code(cellar::sheet_exists),
        help("choose another name; `cellar sheets` lists them")
    )]
    SheetExists { name: String },
    #[error("`{name}` is the only sheet: a spreadsheet has at least one")]
    #[diagnostic(code(cellar::last_sheet), help("add another first: cellar sheets add NAME"))]
    LastSheet { name: String },
    #[error("there is no edit of yours to take back")]
    #[diagnostic(
        code(cellar::nothing_to_undo),
        help("`cellar history` lists all edits; take one back with: cellar undo POSITION")
    )]
    NothingToUndo,
    #[error("nothing of your newest edits is still there: {tried}")]
    #[diagnostic(
        code(cellar::nothing_to_undo),
        help(
            "`cellar history` lists all edits; take an older one back with: cellar undo POSITION"
        )
    )]
    NothingLeftToUndo { tried: String },
    #[error("{position} cannot be taken back: {why}")]
    #[diagnostic(
        code(cellar::no_edit),
        help("nothing was sent; `cellar history` lists the edits and their positions")
    )]
    NoEdit { position: Position, why: String },
    #[error("{position} cannot be restored: {why}")]
    #[diagnostic(
        code(cellar::no_position),
        help("nothing was sent; `cellar history` lists the positions")
    )]
    NoPosition { position: Position, why: String },
    #[error("what has changed since {position} is more than one entry can take back")]
    #[diagnostic(
        code(cellar::too_much_to_restore),
        help(
            "nothing was changed; this makes a spreadsheet of its own that is what it was: \
             cellar fork --at {position}"
        )
    )]
    TooMuchToRestore { position: Position },
    #[error("only owners see the links of a spreadsheet")]
    #[diagnostic(code(cellar::only_owners), help("`cellar details` shows your role"))]
    OnlyOwners,
    #[error("{why}")]
    #[diagnostic(code(cellar::usage))]
    Usage {
        why: String,
        #[help]
        advice: Option<String>,
    },
    #[error(
        "{} of {} cells are in the spreadsheet; the import was interrupted",
        grouped(*done), grouped(*cells)
    )]
    #[diagnostic(
        code(cellar::import::stopped),
        help("run the same command again: it goes on where it was, and nothing happens twice")
    )]
    Stopped { done: usize, cells: usize },
    #[error("the import was interrupted: nothing of it is in a spreadsheet")]
    #[diagnostic(
        code(cellar::import::stopped),
        help(
            "run the same command again when you like; what was uploaded is deleted by itself after \
             three days"
        )
    )]
    StoppedBefore,
    #[error("the import was interrupted at its end: it is not known whether it got through")]
    #[diagnostic(
        code(cellar::import::stopped),
        help("run the same command again: it finds out, and nothing happens twice")
    )]
    StoppedAtTheEnd,
    #[error("not everything is reachable: {missing}")]
    #[diagnostic(
        code(cellar::unhealthy),
        help("the logs of the API function say more; it may be starting still")
    )]
    Unhealthy { missing: String },
    #[error("the output cannot be written: {source}")]
    #[diagnostic(code(cellar::output))]
    Output { source: io::Error },
}

impl From<io::Error> for CliError {
    fn from(source: io::Error) -> Self {
        Self::Output { source }
    }
}

impl CliError {
    pub(super) fn usage(why: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::Usage { why: why.into(), advice: Some(advice.into()) }
    }

    /// What clap says about a command line, for programs: its first line is the message, the rest,
    /// such as which arguments are missing, the help.
    pub(super) fn of_command_line(text: &str) -> Self {
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        let why = first.strip_prefix("error: ").unwrap_or(first).trim_end().to_owned();
        let advice = Some(rest.trim().to_owned()).filter(|rest| !rest.is_empty());
        Self::Usage { why, advice }
    }

    pub(super) fn exit_code(&self) -> u8 {
        if matches!(self, Self::Usage { .. }) { EXIT_USAGE } else { EXIT_ERROR }
    }

    /// Whether an undo found nothing of the edit still there.
    pub(super) fn is_nothing_to_undo(&self) -> bool {
        matches!(self, Self::Editor(EditorError::Rejected { rejection, .. })
            if rejection.reason == RejectionReason::NothingToUndo)
    }

    /// Whether the reader of the output simply went away: `cellar export - | head`.
    pub(super) fn is_broken_pipe(&self) -> bool {
        match self {
            Self::Output { source } | Self::Export(ExportError::Unwritable { source, .. }) => {
                source.kind() == io::ErrorKind::BrokenPipe
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{as_graphical, as_json, as_plain};

    #[test]
    fn every_form_says_what_to_do() {
        let error = CliError::NoUrl;
        let command = "cargo run -p synth -- deploy --local";
        for text in [as_json(&error), as_plain(&error), as_graphical(&error)] {
            assert!(text.contains(command), "{text}");
        }
        let json: serde_json::Value = serde_json::from_str(&as_json(&error)).unwrap();
        assert_eq!(json["error"]["code"], "cellar::no_url");
        assert_eq!(error.exit_code(), EXIT_ERROR);
        assert_eq!(CliError::usage("a", "b").exit_code(), EXIT_USAGE);
    }

    #[test]
    fn numbers_are_written_alike_everywhere() {
        let stopped = CliError::Stopped { done: 26_931, cells: 80_000 };
        assert!(stopped.to_string().starts_with("26,931 of 80,000 cells"), "{stopped}");
        let source = Box::new(ClientError::Setup { why: "because".into() });
        let advice = String::new();
        let error =
            ImportError::Interrupted { acknowledged: 26_931, cells: 80_000, advice, source };
        assert!(error.to_string().starts_with("after 26,931 of 80,000 cells"), "{error}");
    }

    #[test]
    fn a_broken_pipe_is_told_from_other_failures() {
        let output = |kind: io::ErrorKind| CliError::from(io::Error::from(kind));
        assert!(output(io::ErrorKind::BrokenPipe).is_broken_pipe());
        assert!(!output(io::ErrorKind::StorageFull).is_broken_pipe());
        assert!(!CliError::NoUrl.is_broken_pipe());
    }
}
