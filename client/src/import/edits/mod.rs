//! Imports the cells of a file into an existing sheet as ordinary edits. Cells outside the imported
//! range do not change.
//!
//! `plan` and `batches` split the cells into mutations, and `journal` records which mutations were
//! sent. [`import_edits`] sends the mutations.

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
use crate::{Client, ClientError};

/// Maximum length of a file that can be imported as edits, in bytes. The total length of the texts
/// in the file has the same limit.
pub const MAX_EDIT_FILE_BYTES: u64 = 16 * 1024 * 1024;
/// Maximum number of cells that can be imported as edits.
pub const MAX_EDITED_CELLS: usize = 100_000;

/// The target sheet of an import and the path of the import's journal.
#[derive(Debug, Clone)]
pub struct Target {
    /// Path of the imported file. It identifies the import and appears in messages.
    pub source: PathBuf,
    /// The target spreadsheet.
    pub into: LogId,
    /// Name of the target sheet.
    pub sheet: String,
    /// Journal path ([`JournalKey::path`]).
    pub journal: PathBuf,
    /// Whether to discard the journal of an interrupted import and start over.
    pub restart: bool,
}

/// Progress of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct EditsProgress {
    /// Number of cells that are known to be committed.
    pub committed_cells: usize,
    /// Number of cells in the file.
    pub cells: usize,
}

/// Result of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Imported {
    /// The spreadsheet.
    pub spreadsheet: LogId,
    /// A position at which the spreadsheet contains all imported cells.
    pub position: Position,
    /// Number of cells that were already imported when an interrupted import was resumed.
    pub resumed_cells: usize,
}

/// Sends the cells of a plan. The call may be cancelled and the process may be killed at any time,
/// because the journal is written before each request. The next call then resumes the import, and
/// each cell is imported exactly once.
///
/// # Errors
///
/// Returns an [`ImportError`] if the import is incomplete. The same import can be resumed later. If
/// nothing needs to be resumed, the journal is deleted.
pub async fn import_edits(
    client: &Client,
    plan: &Plan,
    target: &Target,
    report_progress: impl FnMut(EditsProgress),
) -> Result<Imported, ImportError> {
    let journal_path = target.journal.as_path();
    let lock_path = journal_path.with_extension("lock");
    let lock = FileLock::try_acquire(&lock_path)?;
    if target.restart {
        delete_journal(journal_path)?;
    }
    let mut import = EditImport::start_or_resume(client, plan, target)?;
    match import.run_steps(report_progress).await {
        Ok(imported) => {
            delete_journal(journal_path)?;
            lock.release_and_delete(&lock_path);
            Ok(imported)
        }
        Err(ImportFailure::Resumable(error)) => Err(error),
        Err(ImportFailure::Final(error)) => {
            // If deleting the journal fails, the original error is still the one to return.
            if delete_journal(journal_path).is_ok() {
                lock.release_and_delete(&lock_path);
            }
            Err(error)
        }
    }
}

enum ImportFailure {
    Resumable(ImportError),
    Final(ImportError),
}

struct EditImport<'a> {
    client: &'a Client,
    plan: &'a Plan,
    target: &'a Target,
    journal: Journal,
    is_resumed: bool,
    /// Number of cells that were already imported when this call started.
    resumed_cells: usize,
}

impl<'a> EditImport<'a> {
    fn start_or_resume(
        client: &'a Client,
        plan: &'a Plan,
        target: &'a Target,
    ) -> Result<Self, ImportError> {
        let resumed_journal = Journal::read(&target.journal, plan)?;
        let is_resumed = resumed_journal.is_some();
        let journal =
            resumed_journal.unwrap_or_else(|| Journal::new(&target.source, plan, target.into));
        journal.save(&target.journal)?;
        let resumed_cells = plan.cells_in(journal.acknowledged_batches());
        Ok(Self { client, plan, target, journal, is_resumed, resumed_cells })
    }

    /// The journal is saved after each step.
    async fn run_steps(
        &mut self,
        mut report_progress: impl FnMut(EditsProgress),
    ) -> Result<Imported, ImportFailure> {
        loop {
            let committed_cells = self.plan.cells_in(self.journal.acknowledged_batches());
            report_progress(EditsProgress { committed_cells, cells: self.plan.cells });
            let step = self.next_step();
            if let ImportEditStep::Finished { spreadsheet, position } = step {
                let resumed_cells = self.resumed_cells;
                return Ok(Imported { spreadsheet, position, resumed_cells });
            }
            if let Err(error) = self.run_step(step).await {
                return Err(self.classify_failure(step, error, committed_cells));
            }
            // Save the acknowledgement together with the next base, to write the file only once.
            if self.next_step() == ImportEditStep::ChooseBase {
                self.journal.choose_base();
            }
            self.journal
                .save(&self.target.journal)
                .map_err(|error| ImportFailure::Resumable(error.into()))?;
        }
    }

    fn next_step(&self) -> ImportEditStep {
        self.journal.next_step(self.plan.batches.len())
    }

    fn classify_failure(
        &self,
        failed_step: ImportEditStep,
        error: StepError,
        committed_cells: usize,
    ) -> ImportFailure {
        let cells = self.plan.cells;
        match error {
            StepError::Request(error) if can_resume(failed_step, self.is_resumed, &error) => {
                ImportFailure::Resumable(interrupted_error(error, committed_cells, cells))
            }
            StepError::Request(error) => ImportFailure::Final(nothing_sent_error(error, cells)),
            StepError::Permanent(error) => ImportFailure::Final(error),
        }
    }

    async fn run_step(&mut self, step: ImportEditStep) -> Result<(), StepError> {
        match step {
            ImportEditStep::FindSheet(spreadsheet) => self.find_sheet(spreadsheet).await?,
            ImportEditStep::ChooseBase => self.journal.choose_base(),
            ImportEditStep::Send { spreadsheet, batch_index } => {
                self.send_batch(spreadsheet, batch_index).await?;
            }
            ImportEditStep::Finished { .. } => {}
        }
        Ok(())
    }

    async fn find_sheet(&mut self, spreadsheet: LogId) -> Result<(), StepError> {
        let reply = self.client.spreadsheet(spreadsheet).sheets().await?;
        let sheet = sheet_number(&reply, &self.target.sheet).map_err(StepError::Permanent)?;
        self.journal.record_sheet(sheet, reply.incarnation, reply.position);
        Ok(())
    }

    /// If another client has deleted the sheet, the import fails permanently.
    async fn send_batch(
        &mut self,
        spreadsheet: LogId,
        batch_index: usize,
    ) -> Result<(), StepError> {
        let cells = self.plan.batches.get(batch_index).map(Vec::as_slice).unwrap_or_default();
        let Some(request) = self.journal.request(batch_index, cells) else {
            self.journal.choose_base();
            return Ok(());
        };
        let reply = self.client.spreadsheet(spreadsheet).append(&request).await?;
        // The base of a batch is the newest position in the previous response, and each response
        // contains all entries after the base. The deletion of the sheet is therefore always
        // noticed. Check before the batch is acknowledged, because an acknowledged batch is not
        // sent again.
        if let Some(sheet) = self.journal.sheet()
            && let Some(position) = find_possible_deletion(&reply, sheet, reply.head)
            && is_deleted_at(&self.client.spreadsheet(spreadsheet), sheet, position).await?
        {
            let cells = self.plan.cells;
            return Err(StepError::Permanent(ImportError::SheetDeleted { spreadsheet, cells }));
        }
        self.journal.acknowledge_batch(reply.head);
        Ok(())
    }
}

enum StepError {
    Request(ClientError),
    Permanent(ImportError),
}

impl From<ClientError> for StepError {
    fn from(error: ClientError) -> Self {
        Self::Request(error)
    }
}

fn sheet_number(reply: &SheetsReply, name: &str) -> Result<SheetId, ImportError> {
    match find_sheet(&reply.sheets, name) {
        Some(view) => Ok(view.sheet),
        None => Err(ImportError::UnknownSheet {
            name: escape(name),
            sheets: list_sheet_names(&reply.sheets),
        }),
    }
}

fn can_resume(step: ImportEditStep, is_resumed: bool, error: &ClientError) -> bool {
    match step {
        // Nothing was sent, because the target sheet is not known yet.
        ImportEditStep::FindSheet(_) => false,
        // An interrupted import may have sent the first batch.
        ImportEditStep::Send { batch_index: 0, .. } => is_resumed || !error.certainly_not_done(),
        ImportEditStep::Send { .. }
        | ImportEditStep::ChooseBase
        | ImportEditStep::Finished { .. } => true,
    }
}

fn nothing_sent_error(error: ClientError, cells: usize) -> ImportError {
    ImportError::Interrupted { acknowledged: 0, cells, was_sent: false, source: Box::new(error) }
}

fn interrupted_error(error: ClientError, acknowledged: usize, cells: usize) -> ImportError {
    ImportError::Interrupted { acknowledged, cells, was_sent: true, source: Box::new(error) }
}
