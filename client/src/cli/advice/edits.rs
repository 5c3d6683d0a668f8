//! Advice for errors of cell edits and of live sheets.

use std::borrow::Cow;

use cellar_sheet::operation::{InvalidOperation, RejectionReason};

use super::{CommandAdvice, static_help};
use crate::ClientError;
use crate::editor::EditorError;
use crate::live::LiveError;

impl CommandAdvice for EditorError {
    fn code(&self) -> &'static str {
        match self {
            Self::Client(error) => error.code(),
            Self::File(error) => error.code(),
            Self::InvalidCell { .. } => "cellar::invalid_cell",
            Self::Invalid { .. } => "cellar::invalid_edit",
            Self::TooLarge { .. } => "cellar::edit_too_large",
            Self::UnknownSheet { .. } => "cellar::unknown_sheet",
            Self::Rejected { .. } => "cellar::rejected",
            Self::NothingToReverse { .. } => "cellar::nothing_to_revert",
            Self::EarlierRejected { .. } => "cellar::earlier_rejected",
            Self::Kept { .. } => "cellar::outcome_unknown",
            Self::EarlierKept { .. } => "cellar::earlier_edit",
            Self::Waiting { .. } => "cellar::edits_waiting",
            Self::SetAside { .. } => "cellar::edit_uncertain",
        }
    }

    fn help(&self) -> Option<Cow<'static, str>> {
        static_help(match self {
            Self::Client(error) if matches!(**error, ClientError::Unreachable { .. }) => {
                "the edit was not kept: start the local stack with `cargo run -p synth -- deploy --local`, or check the \
                 URL (--url, CELLAR_URL, .cellar/profile.json), then run the command again; to edit offline, use \
                 `cellar edit`, which must have opened the spreadsheet once while the server could be reached"
            }
            Self::Client(error) => return error.help(),
            Self::File(error) => return error.help(),
            Self::InvalidCell { .. } => {
                "pass a single cell, such as B2 or Sheet2!B2; nothing was sent"
            }
            Self::Invalid { fault } => invalid_edit_help(fault),
            Self::TooLarge { .. } => "split the edit into several commands; nothing was sent",
            Self::UnknownSheet { .. } => "`cellar sheets` lists the sheets",
            Self::Rejected { rejection, .. } => match rejection.reason {
                RejectionReason::ChangedSince => {
                    "undo an edit with `cellar undo POSITION`, delete a sheet with `cellar sheets delete NAME`; \
                     `cellar history` lists the edits"
                }
                RejectionReason::NothingToUndo => {
                    "nothing was changed; `cellar history` lists the edits, and `cellar revert --to POSITION` \
                     brings an earlier state back"
                }
                _ => {
                    "check the cells with `cellar get` and the edits with `cellar history`; the edit will not be resent"
                }
            },
            Self::NothingToReverse { .. } => {
                "nothing was changed; `cellar history` lists the positions"
            }
            Self::EarlierRejected { .. } => {
                "run the command again to make the new edit; the earlier edit will not be resent"
            }
            Self::Kept { .. } => {
                "the edit is kept; `cellar sync` or your next edit sends it again, and it takes effect only once"
            }
            Self::EarlierKept { .. } => {
                "resolve this error, then run the command again; the earlier edit is kept"
            }
            Self::Waiting { .. } => {
                "resolve this error, then run `cellar sync` again; the edits are kept"
            }
            Self::SetAside { file, .. } => {
                let file = file.display();
                return Some(Cow::Owned(format!(
                    "check with `cellar get` and `cellar history`, and repeat the edit only if it is missing; \
                     the edit was moved to {file}"
                )));
            }
        })
    }
}

fn invalid_edit_help(fault: &InvalidOperation) -> &'static str {
    match fault {
        InvalidOperation::TooLong { .. } => {
            "shorten the text, or distribute it over several cells; nothing was sent"
        }
        InvalidOperation::TooManyCells { .. } => {
            "split the edit into several commands; nothing was sent"
        }
        InvalidOperation::NumberFormat { .. } => {
            "`cellar format --help` lists number formats; nothing was sent"
        }
        _ => "correct the command; nothing was sent",
    }
}

impl CommandAdvice for LiveError {
    fn code(&self) -> &'static str {
        match self {
            Self::Client(error) => error.code(),
            Self::Reader(error) => error.code(),
            Self::File(error) => error.code(),
            Self::Invalid { .. } => "cellar::invalid_edit",
            Self::TooLarge { .. } => "cellar::edit_too_large",
            Self::TooManyPending { .. } => "cellar::too_many_unsent_edits",
            Self::CannotRebase { .. } => "cellar::entries_needed",
            Self::Import => "cellar::not_an_edit",
        }
    }

    fn help(&self) -> Option<Cow<'static, str>> {
        static_help(match self {
            Self::Client(error) => return error.help(),
            Self::Reader(error) => return error.help(),
            Self::File(error) => return error.help(),
            Self::Invalid { .. } => "correct the edit; it was not saved",
            Self::TooLarge { .. } => "split the edit into smaller edits; it was not saved",
            Self::TooManyPending { .. } => {
                "synchronise, then repeat the edit; the unsent edits are kept"
            }
            Self::CannotRebase { .. } => {
                "synchronise to send the edits, which does not require these log entries"
            }
            Self::Import => {
                "import files with the functions of the module `import`; nothing was saved"
            }
        })
    }
}
