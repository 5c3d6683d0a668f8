//! Errors of the `cellar` commands.

use std::io;

use cellar_api::wire::SpreadsheetStatus;
use cellar_base::position::Position;
use cellar_sheet::operation::RejectionReason;
use miette::Diagnostic;

use super::advice::Advised;
use super::output::{count, grouped};
use super::resolve::MIN_ID_PREFIX_CHARACTERS;
use super::{EXIT_DIFFERENCES, EXIT_ERROR, EXIT_USAGE};
use crate::ClientError;
use crate::editor::EditorError;
use crate::export::ExportError;
use crate::files::FileError;
use crate::import::ImportError;
use crate::live::LiveError;
use crate::profile::ProfileError;
use crate::reader::ReaderError;
use crate::replay::ReplayError;

#[derive(Debug, thiserror::Error, Diagnostic)]
pub(super) enum CliError {
    #[error(transparent)]
    #[diagnostic(transparent)]
    Client(Advised<ClientError>),
    #[error(transparent)]
    #[diagnostic(transparent)]
    File(Advised<FileError>),
    #[error(transparent)]
    #[diagnostic(transparent)]
    Profile(Advised<ProfileError>),
    #[error(transparent)]
    #[diagnostic(transparent)]
    Editor(Advised<EditorError>),
    #[error(transparent)]
    #[diagnostic(transparent)]
    Import(Advised<ImportError>),
    #[error(transparent)]
    #[diagnostic(transparent)]
    Export(Advised<ExportError>),
    #[error(transparent)]
    #[diagnostic(transparent)]
    Reader(Advised<ReaderError>),
    #[error(transparent)]
    #[diagnostic(transparent)]
    Live(Advised<LiveError>),
    #[error(transparent)]
    #[diagnostic(transparent)]
    Replay(Advised<ReplayError>),
    #[error(
        "the checkpoint belongs to an earlier generation of the feed: the feed was rebuilt, or the tables were restored"
    )]
    #[diagnostic(
        code(cellar::feed_changed),
        help("read the feed from its beginning: omit --after, or delete the file of --checkpoint")
    )]
    FeedGenerationChanged,
    #[error(
        "no API URL is configured: --url and CELLAR_URL are not set, .cellar/profile.json was not found, and you are \
         not logged in"
    )]
    #[diagnostic(
        code(cellar::no_url),
        help(
            "start Cellar with `cargo run -p synth -- deploy --local`. Commands find its profile in the folder where it was \
             started and in the folders below; elsewhere, log in with `cellar login URL`, or pass --url and --token"
        )
    )]
    NoUrl,
    #[error("no spreadsheet is selected")]
    #[diagnostic(
        code(cellar::no_spreadsheet),
        help(
            "create one with `cellar create` or `cellar import FILE.csv`, or select one with `cellar use NAME` \
             or -s NAME"
        )
    )]
    NoSpreadsheet,
    #[error("no spreadsheet is named `{text}`, and {}", match is_short_id {
        true => format!("the beginning of an id needs at least {MIN_ID_PREFIX_CHARACTERS} characters"),
        false => "no id begins like this".to_owned(),
    })]
    #[diagnostic(
        code(cellar::unknown_spreadsheet),
        help(
            "{}`cellar list` lists the spreadsheets; a new one appears after a few seconds, and can be named by its id \
             before",
            describe_similar(similar)
        )
    )]
    UnknownSpreadsheet {
        text: String,
        /// Whether the text may be the beginning of an id, but is too short.
        is_short_id: bool,
        /// Names that contain the text or differ from it in few letters.
        similar: Vec<String>,
    },
    #[error("sheet `{name}` already exists")]
    #[diagnostic(
        code(cellar::sheet_exists),
        help("choose another name; `cellar sheets` lists the sheets")
    )]
    SheetExists { name: String },
    #[error("there is no name `{name}`")]
    #[diagnostic(
        code(cellar::unknown_name),
        help("`cellar names` lists the names; nothing was sent")
    )]
    UnknownName { name: String },
    #[error("`{name}` is the only sheet; a spreadsheet must have at least one")]
    #[diagnostic(
        code(cellar::last_sheet),
        help("add another sheet first with `cellar sheets add NAME`")
    )]
    LastSheet { name: String },
    #[error("{source}")]
    #[diagnostic(
        code(cellar::no_position),
        help(
            "the first state is at position 0.0, as in `--at 0.0`; `cellar history` lists all positions with their times"
        )
    )]
    BeforeCreation { source: Advised<ClientError> },
    #[error("you have no edit to undo")]
    #[diagnostic(
        code(cellar::nothing_to_undo),
        help(
            "list all edits with `cellar history`, and undo one with `cellar undo POSITION`; `cellar redo` takes back your newest undo"
        )
    )]
    NothingToUndo,
    #[error(
        "nothing to redo: you made the edit at {position} after your last undo, or you undid nothing"
    )]
    #[diagnostic(
        code(cellar::nothing_to_redo),
        help(
            "list all edits and undos with `cellar history`, and take back an undo with `cellar undo POSITION`"
        )
    )]
    NothingToRedo { position: Position },
    #[error("nothing to redo: you undid nothing in this spreadsheet")]
    #[diagnostic(
        code(cellar::nothing_to_redo),
        help(
            "list all edits and undos with `cellar history`, and take back an undo with `cellar undo POSITION`"
        )
    )]
    NoUndo,
    #[error("nothing is left to undo of your newest edits: {tried}")]
    #[diagnostic(
        code(cellar::nothing_to_undo),
        help(
            "list all edits with `cellar history`, and undo an older one with `cellar undo POSITION`"
        )
    )]
    NothingLeftToUndo { tried: String },
    #[error("cannot undo {position}: {why}")]
    #[diagnostic(
        code(cellar::no_edit),
        help("nothing was sent; `cellar history` lists the edits and their positions")
    )]
    NoEdit { position: Position, why: String },
    #[error("cannot revert to {position}: {why}")]
    #[diagnostic(
        code(cellar::no_position),
        help("nothing was sent; `cellar history` lists the positions")
    )]
    NoPosition { position: Position, why: String },
    #[error("the edit had no effect, because others have deleted its target: {edit}")]
    #[diagnostic(
        code(cellar::no_effect),
        help(
            "read the cells again, such as with `cellar get`, and then run the command for what is there now"
        )
    )]
    NoEffect { edit: String },
    #[error("the changes since {position} are too many to revert in one entry")]
    #[diagnostic(
        code(cellar::too_much_to_revert),
        help(
            "nothing was changed; `cellar fork --at {position}` creates a new spreadsheet with the state at \
             this position"
        )
    )]
    TooMuchToRevert { position: Position },
    #[error("the spreadsheet is {}", match status {
        SpreadsheetStatus::Active => "active",
        SpreadsheetStatus::Archived => "archived, not deleted",
        SpreadsheetStatus::Deleted => "deleted, not archived",
    })]
    #[diagnostic(code(cellar::wrong_status), help("{}", match status {
        SpreadsheetStatus::Deleted => "recover the spreadsheet with `cellar undelete`",
        SpreadsheetStatus::Active | SpreadsheetStatus::Archived => {
            "make the spreadsheet editable again with `cellar unarchive`"
        }
    }))]
    WrongStatus { status: SpreadsheetStatus },
    #[error("only owners can list the share links of a spreadsheet")]
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
        "{} of {} cells were imported; the import was interrupted",
        grouped(*committed_cells), grouped(*cells)
    )]
    #[diagnostic(
        code(cellar::import::stopped),
        help("run the command again to resume the import; no cell is imported twice")
    )]
    Interrupted { committed_cells: usize, cells: usize },
    #[error("the import was interrupted; nothing was imported")]
    #[diagnostic(
        code(cellar::import::stopped),
        help(
            "run the command again to resume the import; uploaded objects expire after three days"
        )
    )]
    InterruptedBeforeAppend,
    #[error("the import was interrupted while it was being committed; its outcome is unknown")]
    #[diagnostic(
        code(cellar::import::stopped),
        help("run the command again to finish the import; no sheet is imported twice")
    )]
    InterruptedDuringAppend,
    #[error("{waiting} still wait: others edit the spreadsheet at the same time")]
    #[diagnostic(
        code(cellar::edits_waiting),
        help("run the command again; the edits are kept, and each takes effect once")
    )]
    StillWaiting { waiting: String },
    #[error("{source}. {} in this folder", count(*edits, "edit waits", "edits wait"))]
    #[diagnostic(
        code(cellar::edits_waiting),
        help("run `cellar sync` again when the server can be reached; the edits are kept")
    )]
    WaitingOffline { edits: usize, source: Box<CliError> },
    #[error("{source}, and the spreadsheet was never opened with `cellar edit` in this folder")]
    #[diagnostic(
        code(cellar::never_opened),
        help(
            "open it once with `cellar edit` while the server can be reached; after that, `cellar edit` \
             also opens it offline and keeps the edits"
        )
    )]
    NeverOpened { source: Box<LiveError> },
    #[error("{source}, and no spreadsheet that was opened in this folder is named `{text}`")]
    #[diagnostic(
        code(cellar::never_opened),
        help("offline, name it by its id: {}", describe_opened(opened))
    )]
    UnknownOffline {
        text: String,
        /// Ids, with names if they are known.
        opened: Vec<String>,
        source: Box<CliError>,
    },
    #[error("dependencies of the API are unavailable: {unavailable}")]
    #[diagnostic(
        code(cellar::unhealthy),
        help("wait until the stack has started, or check the logs of the API function")
    )]
    Unhealthy { unavailable: String },
    #[error("cannot write the output: {source}")]
    #[diagnostic(code(cellar::output))]
    Output { source: io::Error },
}

fn describe_opened(opened: &[String]) -> String {
    if opened.is_empty() {
        return "cellar edit -s ID. None was opened with `cellar edit` in this folder".to_owned();
    }
    format!("cellar edit -s ID. Opened in this folder: {}", opened.join(", "))
}

fn describe_similar(similar: &[String]) -> String {
    if similar.is_empty() { String::new() } else { format!("similar: {}; ", similar.join(", ")) }
}

/// Implements `From` for library errors, which are wrapped so that they have command-line advice.
macro_rules! advise {
    ($($variant:ident: $error:ty),* $(,)?) => {
        $(impl From<$error> for CliError {
            fn from(error: $error) -> Self {
                Self::$variant(Advised(error))
            }
        })*
    };
}

advise! {
    Client: ClientError,
    File: FileError,
    Profile: ProfileError,
    Editor: EditorError,
    Import: ImportError,
    Export: ExportError,
    Reader: ReaderError,
    Live: LiveError,
    Replay: ReplayError,
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

    /// The first line becomes the message. The rest, such as the list of missing arguments, becomes
    /// the help text.
    pub(super) fn from_clap_message(text: &str) -> Self {
        let (first_line, rest) = text.split_once('\n').unwrap_or((text, ""));
        let why = first_line.strip_prefix("error: ").unwrap_or(first_line).trim_end().to_owned();
        let advice = match rest.trim() {
            "" => None,
            rest => Some(rest.to_owned()),
        };
        Self::Usage { why, advice }
    }

    pub(super) fn exit_code(&self) -> u8 {
        match self {
            Self::Usage { .. } => EXIT_USAGE,
            Self::NoEffect { .. } => EXIT_DIFFERENCES,
            _ => EXIT_ERROR,
        }
    }

    /// Returns whether the server refused an undo because the undone edit no longer has any
    /// effect.
    pub(super) fn is_nothing_to_undo(&self) -> bool {
        match self {
            Self::Editor(Advised(EditorError::NothingToReverse { .. })) => true,
            Self::Editor(Advised(EditorError::Rejected { rejection, .. })) => {
                rejection.reason == RejectionReason::NothingToUndo
            }
            _ => false,
        }
    }

    /// Returns whether the server did not respond, so that other edits cannot be sent either.
    pub(super) fn is_offline(&self) -> bool {
        match self {
            Self::Client(Advised(error)) => error.is_offline(),
            Self::Live(Advised(error)) => error.is_offline(),
            Self::NeverOpened { .. }
            | Self::UnknownOffline { .. }
            | Self::WaitingOffline { .. } => true,
            Self::Editor(Advised(
                EditorError::Client(source) | EditorError::Waiting { source, .. },
            )) => source.is_offline(),
            _ => false,
        }
    }

    /// Returns whether output failed because the reading program has closed the pipe, as `head`
    /// does.
    pub(super) fn is_broken_pipe(&self) -> bool {
        match self {
            Self::Output { source }
            | Self::Export(Advised(ExportError::Unwritable { source, .. })) => {
                source.kind() == io::ErrorKind::BrokenPipe
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::report::{format_graphical, format_json, format_plain};

    #[test]
    fn every_format_contains_the_help() {
        let error = CliError::NoUrl;
        let command = "cargo run -p synth -- deploy --local";
        for text in [format_json(&error), format_plain(&error), format_graphical(&error)] {
            assert!(text.contains(command), "{text}");
        }
        let json: serde_json::Value = serde_json::from_str(&format_json(&error)).unwrap();
        assert_eq!(json["error"]["code"], "cellar::no_url");
        assert_eq!(error.exit_code(), EXIT_ERROR);
        assert_eq!(CliError::usage("a", "b").exit_code(), EXIT_USAGE);
    }

    #[test]
    fn numbers_are_grouped() {
        let interrupted = CliError::Interrupted { committed_cells: 26_931, cells: 80_000 };
        assert!(interrupted.to_string().starts_with("26,931 of 80,000 cells"), "{interrupted}");
        let source = Box::new(ClientError::Setup { why: "because".into() });
        let (acknowledged, cells, was_sent) = (26_931, 80_000, true);
        let error = ImportError::Interrupted { acknowledged, cells, was_sent, source };
        assert!(error.to_string().starts_with("26,931 of 80,000 cells"), "{error}");
    }

    #[test]
    fn recognises_a_broken_pipe() {
        let output = |kind: io::ErrorKind| CliError::from(io::Error::from(kind));
        assert!(output(io::ErrorKind::BrokenPipe).is_broken_pipe());
        assert!(!output(io::ErrorKind::StorageFull).is_broken_pipe());
        assert!(!CliError::NoUrl.is_broken_pipe());
    }
}
