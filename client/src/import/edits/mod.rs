//! Imports a file's cells into an existing sheet as ordinary edits, leaving the other cells
//! unchanged.
//!
//! `plan` and `batches` split the cells into mutations, `journal` records which of them were sent,
//! and [`run`] sends them.

mod batches;
mod journal;
mod plan;

pub use journal::{ImportEditStep, Journal, JournalKey};
pub use plan::Plan;

use std::path::PathBuf;

use cellar_api::wire::SheetsReply;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_sheet::operation::SheetId;

use super::{ImportError, delete_journal};
use crate::files::FileLock;
use crate::sheet_deletion::{find_possible_deletion, find_sheet, is_deleted_at, list_sheet_names};
use crate::text::escape;
use crate::{Client, ClientError, Spreadsheet};

/// Maximum length of a file that is imported as edits, and of the texts in the file, in bytes.
pub const MAX_EDIT_FILE_BYTES: u64 = 16 * 1024 * 1024;
/// Maximum number of cells that can be imported as edits.
pub const MAX_EDITED_CELLS: usize = 100_000;

/// The target of an import and its journal.
#[derive(Debug, Clone)]
pub struct Target {
    /// Path of the imported file, for messages and the journal.
    pub source: PathBuf,
    /// The target spreadsheet.
    pub into: LogId,
    /// Name of the target sheet.
    pub sheet: String,
    /// Journal path ([`JournalKey::path`]).
    pub journal: PathBuf,
    /// Whether to discard the journal of an interrupted run.
    pub restart: bool,
}

/// Progress of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EditsProgress {
    /// Number of cells that are known to be committed.
    pub committed_cells: usize,
    /// Number of cells in the file.
    pub cells: usize,
}

/// Result of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Imported {
    /// The spreadsheet.
    pub spreadsheet: LogId,
    /// A position at which the spreadsheet contains all imported cells.
    pub position: Position,
    /// Number of cells that an interrupted run had already imported.
    pub resumed_cells: usize,
}

/// Sends the cells of a plan. The call may be cancelled or the process killed at any time: the
/// journal is written before each request, so the next call resumes the import and each cell is
/// imported exactly once.
///
/// # Errors
///
/// Returns an [`ImportError`] if the import is incomplete. The same import can be resumed later.
/// The journal is deleted if there is nothing to resume.
pub async fn run(
    client: &Client,
    plan: &Plan,
    target: &Target,
    mut report_progress: impl FnMut(EditsProgress),
) -> Result<Imported, ImportError> {
    let journal_path = target.journal.as_path();
    let lock_path = journal_path.with_extension("lock");
    let lock = FileLock::try_acquire(&lock_path)?;
    if target.restart {
        delete_journal(journal_path)?;
    }
    let resumed = Journal::resume(journal_path, plan)?;
    let is_resumed = resumed.is_some();
    let mut journal = resumed.unwrap_or_else(|| Journal::new(&target.source, plan, target.into));
    journal.save(journal_path)?;
    let resumed_cells = plan.cells_in(journal.acknowledged_batches());
    loop {
        let committed_cells = plan.cells_in(journal.acknowledged_batches());
        report_progress(EditsProgress { committed_cells, cells: plan.cells });
        let step = journal.next_step(plan.batches.len());
        let error = match run_step(client, plan, target, &mut journal, step).await {
            Ok(None) => {
                // Persist the acknowledgement and the next base in a single write.
                if journal.next_step(plan.batches.len()) == ImportEditStep::ChooseBase {
                    journal.choose_base();
                }
                journal.save(journal_path)?;
                continue;
            }
            Ok(Some((spreadsheet, position))) => {
                delete_journal(journal_path)?;
                lock.release_and_delete(&lock_path);
                return Ok(Imported { spreadsheet, position, resumed_cells });
            }
            Err(StepError::Request(error)) if can_resume(step, is_resumed, &error) => {
                return Err(interrupted_error(error, committed_cells, plan.cells));
            }
            Err(StepError::Request(error)) => nothing_sent_error(error, plan.cells),
            Err(StepError::Permanent(error)) => error,
        };
        // Return the original error even if deleting the journal fails.
        if delete_journal(journal_path).is_ok() {
            lock.release_and_delete(&lock_path);
        }
        return Err(error);
    }
}

/// Reason why an import step failed.
enum StepError {
    /// A request failed; the import may be resumed.
    Request(ClientError),
    /// The import cannot be resumed.
    Permanent(ImportError),
}

impl From<ClientError> for StepError {
    fn from(error: ClientError) -> Self {
        Self::Request(error)
    }
}

/// Runs one step and records its result in the journal. Returns the spreadsheet and its position
/// once the import is finished.
async fn run_step(
    client: &Client,
    plan: &Plan,
    target: &Target,
    journal: &mut Journal,
    step: ImportEditStep,
) -> Result<Option<(LogId, Position)>, StepError> {
    match step {
        ImportEditStep::FindSheet(spreadsheet) => {
            let reply = client.spreadsheet(spreadsheet).sheets(None, None).await?;
            let sheet = sheet_number(&reply, &target.sheet).map_err(StepError::Permanent)?;
            journal.record_sheet(sheet, reply.incarnation, reply.position);
        }
        ImportEditStep::ChooseBase => journal.choose_base(),
        ImportEditStep::Send { spreadsheet, batch } => {
            send_batch(&client.spreadsheet(spreadsheet), plan, journal, batch).await?;
        }
        ImportEditStep::Finished { spreadsheet, position } => {
            return Ok(Some((spreadsheet, position)));
        }
    }
    Ok(None)
}

/// Sends a batch. Fails permanently if another client has deleted the sheet.
async fn send_batch(
    spreadsheet: &Spreadsheet,
    plan: &Plan,
    journal: &mut Journal,
    batch: usize,
) -> Result<(), StepError> {
    let cells = plan.batches.get(batch).map(Vec::as_slice).unwrap_or_default();
    let Some(request) = journal.request(batch, cells) else {
        journal.choose_base();
        return Ok(());
    };
    let reply = spreadsheet.append(&request).await?;
    // Each base is the head of the previous response, so the responses together contain every entry
    // that may delete the sheet. Check for a deletion before acknowledging the batch, because a
    // later run does not resend an acknowledged batch.
    if let Some(sheet) = journal.sheet()
        && let Some(position) = find_possible_deletion(&reply, sheet, reply.head)
        && is_deleted_at(spreadsheet, sheet, position).await?
    {
        let (spreadsheet, cells) = (spreadsheet.id(), plan.cells);
        return Err(StepError::Permanent(ImportError::SheetDeleted { spreadsheet, cells }));
    }
    journal.acknowledge_batch(reply.head);
    Ok(())
}

fn sheet_number(reply: &SheetsReply, name: &str) -> Result<SheetId, ImportError> {
    match find_sheet(&reply.sheets, name) {
        Some(found) => Ok(found.sheet),
        None => Err(ImportError::UnknownSheet {
            name: escape(name),
            sheets: list_sheet_names(&reply.sheets),
        }),
    }
}

/// Returns whether to retain the journal after a request of `step` failed.
fn can_resume(step: ImportEditStep, is_resumed: bool, error: &ClientError) -> bool {
    match step {
        // Nothing was sent yet, because the sheet is still unknown.
        ImportEditStep::FindSheet(_) => false,
        // An earlier run may have sent the first batch.
        ImportEditStep::Send { batch: 0, .. } => is_resumed || !error.certainly_not_done(),
        ImportEditStep::Send { .. }
        | ImportEditStep::ChooseBase
        | ImportEditStep::Finished { .. } => true,
    }
}

/// Builds the error for an import that sent nothing.
fn nothing_sent_error(error: ClientError, cells: usize) -> ImportError {
    ImportError::Interrupted { acknowledged: 0, cells, was_sent: false, source: Box::new(error) }
}

/// Builds the error for an import that can be resumed.
fn interrupted_error(error: ClientError, acknowledged: usize, cells: usize) -> ImportError {
    ImportError::Interrupted { acknowledged, cells, was_sent: true, source: Box::new(error) }
}
