//! Sending a planned import, one step of its journal after the other.

use std::path::{Path, PathBuf};

use cellar_core::api::{CreateRequest, ProblemKind, SheetsReply};
use cellar_core::identity::LogId;
use cellar_core::operation::SheetId;
use cellar_core::position::Position;

use super::journal::{Journal, Step};
use super::{ImportError, Plan};
use crate::files::{FileError, FileLock, sync_folder};
use crate::sheet_loss::{doubt, find_sheet, is_gone, listed_sheets};
use crate::table::escape;
use crate::{Client, ClientError};

/// Where an import goes and where its journal is.
#[derive(Debug, Clone)]
pub struct Target {
    /// The file, for messages and the journal.
    pub source: PathBuf,
    /// The spreadsheet; `None` makes a new one.
    pub into: Option<LogId>,
    /// The sheet's name; the first sheet without it.
    pub sheet: Option<String>,
    /// The journal ([`super::JournalKey::path`]).
    pub journal: PathBuf,
    /// Forget the journal of an interrupted run.
    pub restart: bool,
}

/// How far an import has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
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
    mut progress: impl FnMut(Progress),
) -> Result<Imported, ImportError> {
    let path = target.journal.as_path();
    let lock_path = path.with_extension("lock");
    let lock = FileLock::take(&lock_path)?;
    if target.restart {
        remove(path)?;
    }
    let before = Journal::resume(path, plan)?;
    let begun_now = before.is_none();
    let mut journal = before.unwrap_or_else(|| Journal::begin(&target.source, plan, target.into));
    journal.save(path)?;
    let resumed = plan.cells_in(journal.acknowledged());
    loop {
        let done = plan.cells_in(journal.acknowledged());
        progress(Progress { done, cells: plan.cells });
        match step(client, plan, target, &mut journal).await {
            Ok(None) => {}
            Ok(Some((spreadsheet, position))) => {
                remove(path)?;
                lock.remove(&lock_path);
                return Ok(Imported { spreadsheet, position, resumed });
            }
            Err(Failed::ForGood(error)) => {
                // The error says more than a journal that could not be removed.
                if remove(path).is_ok() {
                    lock.remove(&lock_path);
                }
                return Err(error);
            }
            Err(Failed::Call(error)) => {
                let step = journal.next_step(plan.batches.len());
                if !nothing_to_resume(step, begun_now, target.into, &error) {
                    return Err(interrupted(error, done, plan.cells));
                }
                if remove(path).is_ok() {
                    lock.remove(&lock_path);
                }
                return Err(not_begun(error, plan.cells));
            }
        }
        // One save for the acknowledgement and the next base together.
        if journal.next_step(plan.batches.len()) == Step::ChooseBase {
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
        Step::Create => {
            let request = CreateRequest { nonce: journal.nonce().to_owned() };
            let reply = client.create(&request).await?;
            journal.found(reply.id, SheetId::FIRST, reply.epoch, reply.head);
        }
        Step::FindSheet(spreadsheet) => {
            let reply = client.sheets(spreadsheet, None, None).await?;
            let sheet = sheet(&reply, target.sheet.as_deref()).map_err(Failed::ForGood)?;
            journal.found(spreadsheet, sheet, reply.epoch, reply.position);
        }
        Step::ChooseBase => journal.choose_base(),
        Step::Send { spreadsheet, batch } => {
            let cells = plan.batches.get(batch).map(Vec::as_slice).unwrap_or_default();
            let Some(request) = journal.request(batch, cells) else {
                journal.choose_base();
                return Ok(None);
            };
            let reply = client.append(spreadsheet, &request).await?;
            // Its base is where the batch before ended: between them, the answers have every entry.
            // Not acknowledged before it is known: a later run would not ask again.
            if let Some(at) = doubt(&reply, journal.sheet(), reply.head)
                && is_gone(client, spreadsheet, journal.sheet(), at).await?
            {
                let cells = plan.cells;
                return Err(Failed::ForGood(ImportError::SheetDeleted { spreadsheet, cells }));
            }
            journal.acknowledge(reply.head);
        }
        Step::Finished { spreadsheet, position } => return Ok(Some((spreadsheet, position))),
    }
    Ok(None)
}

/// The number of the sheet with a name; of the first without one.
fn sheet(sheets: &SheetsReply, name: Option<&str>) -> Result<SheetId, ImportError> {
    let found = match name {
        Some(name) => find_sheet(sheets, name),
        None => sheets.sheets.first(),
    };
    found.map(|found| found.sheet).ok_or_else(|| ImportError::UnknownSheet {
        name: escape(name.unwrap_or("the first")),
        sheets: listed_sheets(sheets),
    })
}

/// Whether a later run of the same import loses nothing if it begins anew, after `step` failed.
fn nothing_to_resume(
    step: Step,
    begun_now: bool,
    into: Option<LogId>,
    error: &ClientError,
) -> bool {
    // An earlier run may have done what this one was refused.
    let never_done = begun_now && error.certainly_not_done();
    match step {
        // Only a question, and nothing is sent before its answer.
        Step::FindSheet(_) => true,
        Step::Create => never_done,
        // A spreadsheet that was made for this import is not to be left behind, empty.
        Step::Send { batch: 0, .. } => never_done && into.is_some(),
        Step::Send { .. } | Step::ChooseBase | Step::Finished { .. } => false,
    }
}

fn not_begun(error: ClientError, cells: usize) -> ImportError {
    let advice = match error.problem_kind() {
        Some(ProblemKind::NotFound) => {
            "nothing was sent: check the id (--into or -s) and that the token covers it"
        }
        Some(ProblemKind::Unauthorized | ProblemKind::Forbidden) => {
            "nothing was sent: run the same command again with a token that may edit (--token or \
             CELLAR_TOKEN)"
        }
        _ => "nothing was sent: run the same command again when that is solved",
    };
    let advice = advice.to_owned();
    ImportError::Interrupted { acknowledged: 0, cells, advice, source: Box::new(error) }
}

fn interrupted(error: ClientError, acknowledged: usize, cells: usize) -> ImportError {
    let advice = match error.problem_kind() {
        Some(ProblemKind::UnknownBase | ProblemKind::Reload | ProblemKind::MutationGap) => {
            "the spreadsheet was restored or is not the one this import began with: begin anew \
             with --restart, and check what is there already"
        }
        Some(ProblemKind::NotFound) => {
            "check the token and the id; if the spreadsheet is gone, begin anew with --restart"
        }
        Some(ProblemKind::Unauthorized | ProblemKind::Forbidden) => {
            "run the same command again with a token that may edit (--token or CELLAR_TOKEN): it \
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

/// Removes the journal, durably: if it came back, the next import of the file would be taken for
/// this one.
fn remove(path: &Path) -> Result<(), FileError> {
    let fault = |source| FileError::Unwritable { path: path.to_owned(), source };
    match std::fs::remove_file(path) {
        Ok(()) => sync_folder(path.parent().unwrap_or(Path::new("."))).map_err(fault),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(fault(error)),
    }
}
