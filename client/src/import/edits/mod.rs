//! A file's cells into a sheet that is there, as ordinary edits: what stands around them stays.
//!
//! `plan` and `batches` cut the cells into mutations, `journal` keeps what was sent; here they are
//! sent, one step of the journal after the other.

mod batches;
mod journal;
mod plan;

pub use journal::{ImportEditStep, Journal, JournalKey};
pub use plan::Plan;

use std::path::PathBuf;

use cellar_api::{wire::ProblemKind, wire::SheetsReply};
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_sheet::operation::SheetId;

use super::{ImportError, remove_journal};
use crate::files::FileLock;
use crate::sheet_deletion::{doubt, find_sheet, is_gone, list_sheet_names};
use crate::table::escape;
use crate::{Client, ClientError};

/// Bytes of a file that goes in as edits, and of the texts in it.
pub const MAX_EDIT_FILE_BYTES: u64 = 16 * 1024 * 1024;
/// Cells that one import sets as edits.
pub const MAX_EDITED_CELLS: usize = 100_000;

/// Where an import goes and where its journal is.
#[derive(Debug, Clone)]
pub struct Target {
    /// The file, for messages and the journal.
    pub source: PathBuf,
    /// The spreadsheet.
    pub into: LogId,
    /// The sheet's name.
    pub sheet: String,
    /// The journal ([`JournalKey::path`]).
    pub journal: PathBuf,
    /// Forget the journal of an interrupted run.
    pub restart: bool,
}

/// How far an import has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EditsProgress {
    /// Cells that are known to be in the spreadsheet.
    pub done: usize,
    /// Cells of the file.
    pub cells: usize,
}

/// A finished import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Imported {
    /// The spreadsheet.
    pub spreadsheet: LogId,
    /// A version that has all the cells.
    pub position: Position,
    /// Cells that an earlier, interrupted run had sent.
    pub resumed: usize,
}

/// Sends a plan. Every state that a later run needs is on disk before anything is sent, so that it
/// may be dropped, or killed, at any time and called again: nothing happens twice.
///
/// # Errors
/// [`ImportError`]; the journal stays, and the same import goes on where it was. Only where
/// nothing was sent that a later run would have to know of, it is removed.
pub async fn run(
    client: &Client,
    plan: &Plan,
    target: &Target,
    mut progress: impl FnMut(EditsProgress),
) -> Result<Imported, ImportError> {
    let path = target.journal.as_path();
    let lock_path = path.with_extension("lock");
    let lock = FileLock::try_acquire(&lock_path)?;
    if target.restart {
        remove_journal(path)?;
    }
    let before = Journal::resume(path, plan)?;
    let begun_now = before.is_none();
    let mut journal = before.unwrap_or_else(|| Journal::begin(&target.source, plan, target.into));
    journal.save(path)?;
    let resumed = plan.cells_in(journal.acknowledged());
    loop {
        let done = plan.cells_in(journal.acknowledged());
        progress(EditsProgress { done, cells: plan.cells });
        match step(client, plan, target, &mut journal).await {
            Ok(None) => {}
            Ok(Some((spreadsheet, position))) => {
                remove_journal(path)?;
                lock.release_and_delete(&lock_path);
                return Ok(Imported { spreadsheet, position, resumed });
            }
            Err(Failed::ForGood(error)) => {
                // The error says more than a journal that could not be removed.
                if remove_journal(path).is_ok() {
                    lock.release_and_delete(&lock_path);
                }
                return Err(error);
            }
            Err(Failed::Call(error)) => {
                let step = journal.next_step(plan.batches.len());
                if !nothing_to_resume(step, begun_now, &error) {
                    return Err(interrupted(error, done, plan.cells));
                }
                if remove_journal(path).is_ok() {
                    lock.release_and_delete(&lock_path);
                }
                return Err(not_begun(error, plan.cells));
            }
        }
        // One save for the acknowledgement and the next base together.
        if journal.next_step(plan.batches.len()) == ImportEditStep::ChooseBase {
            journal.choose_base();
        }
        journal.save(path)?;
    }
}

/// Why a step was not done.
enum Failed {
    /// A later run may go on.
    Call(ClientError),
    /// There is nothing to go on with.
    ForGood(ImportError),
}

impl From<ClientError> for Failed {
    fn from(error: ClientError) -> Self {
        Self::Call(error)
    }
}

/// Does the next step; gives spreadsheet and position once there is none left.
async fn step(
    client: &Client,
    plan: &Plan,
    target: &Target,
    journal: &mut Journal,
) -> Result<Option<(LogId, Position)>, Failed> {
    match journal.next_step(plan.batches.len()) {
        ImportEditStep::FindSheet(spreadsheet) => {
            let reply = client.sheets(spreadsheet, None, None).await?;
            let sheet = sheet(&reply, &target.sheet).map_err(Failed::ForGood)?;
            journal.found(sheet, reply.incarnation, reply.position);
        }
        ImportEditStep::ChooseBase => journal.choose_base(),
        ImportEditStep::Send { spreadsheet, batch } => {
            let cells = plan.batches.get(batch).map(Vec::as_slice).unwrap_or_default();
            let Some(request) = journal.request(batch, cells) else {
                journal.choose_base();
                return Ok(None);
            };
            let reply = client.append(spreadsheet, &request).await?;
            // Its base is where the batch before ended: between them, the answers have every entry.
            // Not acknowledged before it is known: a later run would not ask again.
            if let Some(sheet) = journal.sheet()
                && let Some(at) = doubt(&reply, sheet, reply.head)
                && is_gone(client, spreadsheet, sheet, at).await?
            {
                let cells = plan.cells;
                return Err(Failed::ForGood(ImportError::SheetDeleted { spreadsheet, cells }));
            }
            journal.acknowledge(reply.head);
        }
        ImportEditStep::Finished { spreadsheet, position } => {
            return Ok(Some((spreadsheet, position)));
        }
    }
    Ok(None)
}

/// The number of the sheet with a name.
fn sheet(sheets: &SheetsReply, name: &str) -> Result<SheetId, ImportError> {
    let unknown =
        || ImportError::UnknownSheet { name: escape(name), sheets: list_sheet_names(&sheets.sheets) };
    find_sheet(&sheets.sheets, name).map(|found| found.sheet).ok_or_else(unknown)
}

/// Whether a later run of the same import loses nothing if it begins anew, after `step` failed.
fn nothing_to_resume(step: ImportEditStep, begun_now: bool, error: &ClientError) -> bool {
    match step {
        // Only a question, and nothing is sent before its answer.
        ImportEditStep::FindSheet(_) => true,
        // An earlier run may have done what this one was refused.
        ImportEditStep::Send { batch: 0, .. } => begun_now && error.certainly_not_done(),
        ImportEditStep::Send { .. }
        | ImportEditStep::ChooseBase
        | ImportEditStep::Finished { .. } => false,
    }
}

fn not_begun(error: ClientError, cells: usize) -> ImportError {
    let advice = match error.problem_kind() {
        Some(ProblemKind::NotFound) => {
            "nothing was sent: check the id (--into or -s) and that the token covers it"
        }
        Some(ProblemKind::Unauthorized | ProblemKind::Forbidden) => {
            "nothing was sent: run the same command again with a token that may edit (--url and \
             --token)"
        }
        _ => "nothing was sent: run the same command again when that is solved",
    };
    let advice = advice.to_owned();
    ImportError::Interrupted { acknowledged: 0, cells, advice, source: Box::new(error) }
}

fn interrupted(error: ClientError, acknowledged: usize, cells: usize) -> ImportError {
    let advice = match error.problem_kind() {
        Some(ProblemKind::UnknownBase | ProblemKind::ReloadRequired | ProblemKind::MutationGap) => {
            "the spreadsheet was restored or is not the one this import began with: begin anew \
             with --restart, and check what is there already"
        }
        Some(ProblemKind::NotFound) => {
            "check the token and the id; if the spreadsheet is gone, begin anew with --restart"
        }
        Some(ProblemKind::Unauthorized | ProblemKind::Forbidden) => {
            "run the same command again with a token that may edit (--url and --token): it \
             goes on where it was"
        }
        _ => "run the same command again: it goes on where it was, and nothing happens twice",
    };
    ImportError::Interrupted {
        acknowledged,
        cells,
        advice: advice.to_owned(),
        source: Box::new(error),
    }
}
