//! Finds or creates the target spreadsheet of an import, and updates the import's journal.

use std::path::Path;

use cellar_api::{
    wire::AppendRequest, wire::CreateReply, wire::CreateRequest, wire::SheetView, wire::SheetsReply,
};
use cellar_base::limits::MAX_SHEETS;
use cellar_base::position::Position;
use cellar_exchange::NameInFile;
use cellar_sheet::operation::SheetId;

use super::journal::{FileStamp, Journal};
use super::requests::{FileSheet, FileSheets, ImportTarget};
use super::{Target, are_objects_missing, names, nothing_imported};
use crate::import::{ImportError, OneSheetPurpose, delete_journal};
use crate::sheet_deletion::{find_sheet, list_sheet_names};
use crate::text::escape;
use crate::{Client, ClientError, Spreadsheet};

#[derive(Debug)]
pub(super) struct TargetSpreadsheet<'a> {
    client: &'a Client,
    target: &'a Target,
    journal: Journal,
    /// The server's response to the request that created the spreadsheet. `None` if this call has
    /// not sent that request.
    created: Option<CreateReply>,
    is_resumed: bool,
    /// Whether the journal contained unacknowledged requests when this call started. The
    /// interrupted import may have sent them.
    may_have_been_sent: bool,
    /// Number of sheets in the spreadsheet, not counting the sheet to replace.
    other_sheets: usize,
}

impl<'a> TargetSpreadsheet<'a> {
    pub(super) fn start_or_resume(
        client: &'a Client,
        source: &Path,
        target: &'a Target,
        stamp: FileStamp,
    ) -> Result<Self, ImportError> {
        if target.restart {
            delete_journal(&target.journal)?;
        }
        let resumed_journal =
            Journal::read(&target.journal)?.filter(|journal| !is_stale(journal, stamp));
        let is_resumed = resumed_journal.is_some();
        let journal = resumed_journal.unwrap_or_else(|| Journal::new(source, target.into));
        let may_have_been_sent = !journal.unacknowledged().is_empty();
        Ok(Self {
            client,
            target,
            journal,
            created: None,
            is_resumed,
            may_have_been_sent,
            other_sheets: 0,
        })
    }

    pub(super) fn journal(&self) -> &Journal {
        &self.journal
    }

    pub(super) fn journal_path(&self) -> &Path {
        &self.target.journal
    }

    pub(super) async fn find_or_create(&mut self) -> Result<Spreadsheet, ImportError> {
        if let Some(spreadsheet) = self.spreadsheet() {
            return Ok(spreadsheet);
        }
        // Save the nonce (idempotency key) before it is used. If this call is interrupted, a
        // repeated request with the same nonce returns the same spreadsheet.
        self.journal.save(&self.target.journal)?;
        let name = self.target.name.as_ref().map(ToString::to_string);
        let request = CreateRequest { name, ..CreateRequest::new(self.journal.nonce.clone()) };
        let reply = self.client.create(&request).await.map_err(nothing_imported)?;
        self.journal.spreadsheet = Some(reply.id);
        self.journal.save(&self.target.journal)?;
        let spreadsheet = self.client.spreadsheet(reply.id);
        self.created = Some(reply);
        Ok(spreadsheet)
    }

    pub(super) fn spreadsheet(&self) -> Option<Spreadsheet> {
        let id = self.journal.spreadsheet?;
        Some(self.client.spreadsheet(id))
    }

    /// No-op if the import creates a spreadsheet. Must be called before the file is read.
    pub(super) async fn check_target_exists(&mut self) -> Result<(), ImportError> {
        if let Some(into) = self.target.into {
            let reply = self.client.spreadsheet(into).sheets().await.map_err(nothing_imported)?;
            let replaced = self.find_replaced(&reply)?;
            self.other_sheets = count_other_sheets(&reply, replaced);
        }
        Ok(())
    }

    /// Fails if adding `file_sheets` sheets would exceed the maximum number of sheets, or if more
    /// than one sheet would replace a sheet.
    pub(super) fn check_sheet_count(&self, file_sheets: usize) -> Result<(), ImportError> {
        if self.target.replace.is_some() && file_sheets > 1 {
            return Err(ImportError::OneSheet {
                purpose: OneSheetPurpose::Replacement,
                sheets: file_sheets,
            });
        }
        let sheets = file_sheets.saturating_add(self.other_sheets);
        if sheets > MAX_SHEETS {
            return Err(ImportError::TooManySheets { sheets });
        }
        Ok(())
    }

    /// Returns `None` if the import only adds sheets.
    fn find_replaced<'s>(
        &self,
        reply: &'s SheetsReply,
    ) -> Result<Option<&'s SheetView>, ImportError> {
        let Some(name) = &self.target.replace else { return Ok(None) };
        match find_sheet(&reply.sheets, name) {
            Some(sheet) => Ok(Some(sheet)),
            None => Err(ImportError::UnknownSheet {
                name: escape(name),
                sheets: list_sheet_names(&reply.sheets),
            }),
        }
    }

    pub(super) async fn build_requests(
        &mut self,
        sheets: &FileSheets,
        names: &[NameInFile],
        name_of: impl Fn(&FileSheet) -> String,
    ) -> Result<Vec<AppendRequest>, ImportError> {
        let spreadsheet = self.find_or_create().await?;
        let import_target = match self.created.as_ref().and_then(new_spreadsheet_target) {
            Some(import_target) => import_target,
            None => self.read_import_target(&spreadsheet, sheets.iter().len()).await?,
        };
        let (first_sheet, existing) = (import_target.next_sheet, &import_target.existing_names);
        let definitions = names::definitions(names, sheets, first_sheet, existing);
        let client_id = &self.journal.client_id;
        let mut requests = sheets.build_append_requests(client_id, &import_target, name_of);
        names::add_to_requests(&mut requests, definitions);
        Ok(requests)
    }

    /// Fails if adding `file_sheets` sheets would exceed the maximum number of sheets.
    async fn read_import_target(
        &mut self,
        spreadsheet: &Spreadsheet,
        file_sheets: usize,
    ) -> Result<ImportTarget, ImportError> {
        let reply = spreadsheet.sheets().await.map_err(nothing_imported)?;
        let replaced_sheet = if self.target.into.is_some() {
            self.find_replaced(&reply)?
        } else {
            reply.sheets.iter().find(|view| view.sheet == SheetId::FIRST)
        };
        self.other_sheets = count_other_sheets(&reply, replaced_sheet);
        self.check_sheet_count(file_sheets)?;
        // The imported sheet keeps the name of the sheet that it replaces, so that repeating the
        // command replaces the imported sheet.
        let kept_name = match &self.target.replace {
            Some(_) => replaced_sheet.map(|view| view.name.clone()),
            None => None,
        };
        let replaces = replaced_sheet.map(|view| view.sheet);
        let other_sheets = reply.sheets.iter().filter(|view| Some(view.sheet) != replaces);
        Ok(ImportTarget {
            incarnation: reply.incarnation,
            base: reply.position,
            next_sheet: reply.next_sheet,
            replaces,
            kept_name,
            other_sheets: other_sheets.map(|view| (view.name.clone(), view.sheet)).collect(),
            // The names of a sheet that is imported again are those of the file.
            existing_names: if self.target.replace.is_some() {
                Vec::new()
            } else {
                reply.names.clone()
            },
        })
    }

    /// Must be called before the first request is sent. If the journal already contains the
    /// requests of an interrupted import, they are kept. Fails if they import other cells.
    pub(super) fn save_requests(
        &mut self,
        requests: Vec<AppendRequest>,
        stamp: FileStamp,
    ) -> Result<(), ImportError> {
        if self.journal.requests.is_empty() {
            self.journal.requests = requests;
        } else if !self.journal.has_same_cells(&requests) {
            return Err(match self.journal.spreadsheet {
                Some(spreadsheet) => ImportError::FileChanged { spreadsheet },
                None => ImportError::JournalDiffers { path: self.target.journal.clone() },
            });
        }
        self.journal.stamp = Some(stamp);
        Ok(self.journal.save(&self.target.journal)?)
    }

    pub(super) fn acknowledge_request(&mut self) -> Result<(), ImportError> {
        self.journal.acknowledged = self.journal.acknowledged.saturating_add(1);
        Ok(self.journal.save(&self.target.journal)?)
    }

    /// If nothing was committed, removes the requests from the journal, so that new requests are
    /// built when the import is repeated.
    pub(super) fn append_error(&mut self, error: ClientError) -> ImportError {
        // If objects are missing, the request was not committed: the server does not report missing
        // objects for a committed request.
        let may_be_committed = self.may_have_been_sent && !are_objects_missing(&error);
        let is_partly_committed = self.journal.acknowledged > 0;
        if may_be_committed || is_partly_committed || !error.certainly_not_done() {
            return uncertain_import(error);
        }
        self.journal.requests.clear();
        self.journal.stamp = None;
        nothing_imported(error)
    }

    /// Writes the journal if its file exists. Called when an import fails but can be resumed.
    pub(super) fn save_existing_journal(&self) -> Result<(), ImportError> {
        if self.target.journal.exists() {
            self.journal.save(&self.target.journal)?;
        }
        Ok(())
    }

    /// If the import can be resumed, its journal must be kept. `error` is the error with which the
    /// import failed, or `None` if it succeeded.
    pub(super) fn can_resume(&self, error: Option<&ImportError>) -> bool {
        match error {
            None | Some(ImportError::Rejected { .. }) => false,
            Some(error) => !self.journal.requests.is_empty() || self.may_have_created(error),
        }
    }

    /// If the import may have created a spreadsheet, its journal must be kept, so that a repeated
    /// import uses that spreadsheet instead of leaving it empty.
    fn may_have_created(&self, error: &ImportError) -> bool {
        if self.target.into.is_some() || !self.target.journal.exists() {
            return false;
        }
        let is_creation_refused = matches!(error, ImportError::NothingImported { source, .. }
            if source.certainly_not_done());
        self.journal.spreadsheet.is_some() || self.is_resumed || !is_creation_refused
    }
}

/// No request is needed, because a new spreadsheet always has the same single sheet. Returns `None`
/// if the spreadsheet has changed since then.
fn new_spreadsheet_target(created: &CreateReply) -> Option<ImportTarget> {
    if created.head != Position::FIRST {
        return None;
    }
    Some(ImportTarget {
        incarnation: created.incarnation,
        base: created.head,
        next_sheet: SheetId(SheetId::FIRST.0 + 1),
        replaces: Some(SheetId::FIRST),
        kept_name: None,
        existing_names: Vec::new(),
        other_sheets: Vec::new(),
    })
}

/// The journal of a finished import remains if the process is killed after the import has finished
/// and before the journal is deleted.
fn is_stale(journal: &Journal, stamp: FileStamp) -> bool {
    journal.is_finished() && journal.stamp != Some(stamp)
}

fn count_other_sheets(reply: &SheetsReply, replaced: Option<&SheetView>) -> usize {
    reply.sheets.len().saturating_sub(usize::from(replaced.is_some()))
}

fn uncertain_import(error: ClientError) -> ImportError {
    ImportError::Uncertain { source: Box::new(error) }
}
