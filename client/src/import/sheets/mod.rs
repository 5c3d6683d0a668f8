//! Imports each sheet of a file as a new sheet of any size.
//!
//! `read` packs the cells into objects on worker threads, and `upload` uploads the objects at the
//! same time. `requests` builds the requests that append log entries with references to the
//! objects. The log does not change before the first of these requests. Objects to which no entry
//! refers expire after three days.
//!
//! `journal` saves what is needed to repeat an import safely. `target_spreadsheet` finds or creates
//! the spreadsheet.

mod index_parts;
mod journal;
mod names;
mod parser;
mod progress;
mod read;
mod requests;
mod target_spreadsheet;
mod upload;
mod upload_order;

use std::path::{Path, PathBuf};

use cellar_api::wire::{
    AppendReply, AppendRequest, AppendedMutation, ProblemKind, ReversalReport, SheetsReply,
};
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_catalog::spreadsheet::Name;
use cellar_exchange::{NotImported, Survey};
use cellar_sheet::metadata::Extent;
use cellar_sheet::operation::{ImportSheet, Operation, SheetId, sheet_name_from};

use super::file::{Findings, unreadable};
use super::{ImportError, ReadOptions, delete_journal, require_all_imported};
use crate::files::FileLock;
use crate::text::escape;
use crate::{Client, ClientError};
use journal::FileStamp;
pub use journal::JournalKey;
pub use progress::{ProgressMonitor, UploadProgress};
use read::PackedItem;
use requests::{FileSheet, FileSheets, IndexObject};
use target_spreadsheet::TargetSpreadsheet;
use upload::UploadQueue;

/// Maximum number of objects that wait between the reader and the uploader. An object has about 128
/// KB.
const OBJECT_QUEUE_LENGTH: usize = 16;

/// The target of an import and the path of the import's journal.
#[derive(Debug, Clone)]
pub struct Target {
    /// Target spreadsheet, or `None` to create a spreadsheet.
    pub into: Option<LogId>,
    /// Name of the spreadsheet that the import creates, if any.
    pub name: Option<Name>,
    /// Name of the existing sheet to replace.
    pub replace: Option<String>,
    /// Journal path ([`JournalKey::path`]).
    pub journal: PathBuf,
    /// Whether to discard the journal of an interrupted import and start over.
    pub restart: bool,
}

/// A sheet of a file that was imported or examined.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImportedSheet {
    /// Sheet name in the spreadsheet.
    pub name: String,
    /// Used range of the sheet.
    pub extent: Extent,
    /// Number of non-blank cells.
    pub cells: u64,
}

/// A summary of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileSummary {
    /// The sheets of the file.
    pub sheets: Vec<ImportedSheet>,
    /// Number of sheets that are hidden in the file. In Cellar, they are visible.
    pub hidden: usize,
    /// Column types of a CSV file.
    pub survey: Option<Survey>,
    /// Contents of a workbook that an import does not take.
    pub not_imported: NotImported,
    /// Number of names for formulas that an import defines.
    pub names: usize,
}

impl FileSummary {
    /// Checks that an import takes all contents of the file.
    ///
    /// # Errors
    ///
    /// Returns [`ImportError::Incomplete`] otherwise.
    pub fn require_all_imported(&self) -> Result<(), ImportError> {
        require_all_imported(&self.not_imported)
    }
}

/// Result of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Imported {
    /// The target spreadsheet.
    pub spreadsheet: LogId,
    /// A position at which the spreadsheet contains the imported sheets.
    pub position: Position,
    /// Table incarnation of the position, if known.
    pub incarnation: Option<u32>,
    /// The first sheet of the spreadsheet, if known.
    pub first_sheet: Option<SheetId>,
    /// Imported sheets, with their names in the spreadsheet.
    pub sheets: Vec<ImportedSheet>,
    /// Formulas of other sheets and names that referred to the replaced sheet and refer to the imported
    /// one now. `None` if there are none or the import had already been appended.
    pub followed: Option<ReversalReport>,
    /// Summary of the file, or `None` if the file was not read because an interrupted import only
    /// had to send its remaining requests.
    pub file: Option<FileSummary>,
}

/// Reads and checks a file as an import would, but does not send anything.
///
/// # Errors
///
/// Returns an [`ImportError`] if the file cannot be imported.
pub async fn examine_file(
    path: &Path,
    options: &ReadOptions,
    progress: &ProgressMonitor,
) -> Result<FileSummary, ImportError> {
    let (mut packed_items, reader_thread) = start_reading(path, options, progress);
    let mut sheets = FileSheets::default();
    while let Some(item) = packed_items.recv().await {
        if let PackedItem::Sheet(sheet) = item {
            add_sheet(&mut sheets, sheet)?;
        }
    }
    let findings = reader_thread.join().await?;
    let first_sheet = SheetId(SheetId::FIRST.0 + 1);
    let definitions = names::definitions(&findings.names, &sheets, first_sheet, &[]);
    Ok(summarize_file(path, &sheets, findings, definitions.len()))
}

/// Imports a file. The call may be cancelled and the process may be killed at any time. The next
/// call then resumes the import, and each sheet is imported exactly once.
///
/// # Errors
///
/// Returns an [`ImportError`] whose variant states whether anything was imported.
pub async fn import_sheets(
    client: &Client,
    path: &Path,
    options: &ReadOptions,
    target: &Target,
    progress: &ProgressMonitor,
) -> Result<Imported, ImportError> {
    let lock_path = target.journal.with_extension("lock");
    let lock = FileLock::try_acquire(&lock_path)?;
    let stamp = FileStamp::of_file(path)?;
    let target_spreadsheet = TargetSpreadsheet::start_or_resume(client, path, target, stamp)?;
    let mut import = SheetImport { path, options, progress, target: target_spreadsheet };
    let result = import.resume_or_import(stamp).await;
    if import.target.can_resume(result.as_ref().err()) {
        import.target.save_existing_journal()?;
    } else {
        delete_journal(&target.journal)?;
        lock.release_and_delete(&lock_path);
    }
    result
}

struct SheetImport<'a> {
    path: &'a Path,
    options: &'a ReadOptions,
    progress: &'a ProgressMonitor,
    target: TargetSpreadsheet<'a>,
}

impl SheetImport<'_> {
    async fn resume_or_import(&mut self, stamp: FileStamp) -> Result<Imported, ImportError> {
        // If the file has not changed, send the requests of the interrupted import without reading
        // the file again.
        let is_file_unchanged = self.target.journal().stamp == Some(stamp);
        if is_file_unchanged && let Some(imported) = self.append_earlier_requests().await? {
            return Ok(imported);
        }
        self.target.check_target_exists().await?;
        let (sheets, findings) = self.read_and_upload_sheets().await?;
        let name_of = |sheet: &FileSheet| sheet_name(self.path, sheet);
        let requests = self.target.build_requests(&sheets, &findings.names, name_of).await?;
        let names = defined_names(&requests).count();
        let file_summary = summarize_file(self.path, &sheets, findings, names);
        self.target.save_requests(requests, stamp)?;
        let replies = self.send_append_requests().await?;
        self.read_import_result(replies, Some(file_summary)).await
    }

    /// Returns `None` if the uploaded objects have expired. In this case, the file must be read and
    /// uploaded again.
    async fn append_earlier_requests(&mut self) -> Result<Option<Imported>, ImportError> {
        match self.send_append_requests().await {
            Ok(replies) => Ok(Some(self.read_import_result(replies, None).await?)),
            Err(
                ImportError::NothingImported { source, .. } | ImportError::Uncertain { source, .. },
            ) if are_objects_missing(&source) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn read_and_upload_sheets(&mut self) -> Result<(FileSheets, Findings), ImportError> {
        let (mut packed_items, reader_thread) =
            start_reading(self.path, self.options, self.progress);
        let mut sheets = FileSheets::default();
        let client_id = self.target.journal().client_id.clone();
        let mut uploads = UploadQueue::new(client_id, self.progress.clone());
        while let Some(item) = packed_items.recv().await {
            match item {
                PackedItem::Object(object) => uploads.add(object),
                PackedItem::IndexPart(packed) => {
                    uploads.add_index(IndexObject { packed, is_leaf: true });
                }
                PackedItem::Sheet(sheet) => {
                    for index_object in add_sheet(&mut sheets, sheet)? {
                        uploads.add_index(index_object);
                    }
                    self.target.check_sheet_count(sheets.iter().len())?;
                }
            }
            // Do not create the spreadsheet before a batch is full, so that failing to import a
            // small malformed file does not leave an empty spreadsheet behind.
            if uploads.is_batch_full() {
                let spreadsheet = self.target.find_or_create().await?;
                uploads.start_batch_uploads(&spreadsheet).await.map_err(nothing_imported)?;
            }
        }
        let findings = reader_thread.join().await?;
        if !uploads.is_empty() {
            let spreadsheet = self.target.find_or_create().await?;
            uploads.finish_and_check(&spreadsheet).await.map_err(nothing_imported)?;
        }
        Ok((sheets, findings))
    }

    async fn send_append_requests(&mut self) -> Result<Vec<AppendReply>, ImportError> {
        self.progress.set_appending();
        let mut replies = Vec::new();
        while let Some(request) = self.target.journal().unacknowledged().first().cloned() {
            let spreadsheet = self.target.find_or_create().await?;
            let reply = match spreadsheet.append(&request).await {
                Ok(reply) => reply,
                Err(error) => return Err(self.target.append_error(error)),
            };
            for (result, mutation) in reply.results.iter().zip(&request.mutations) {
                if !matches!(mutation.op, Operation::SetName(_)) {
                    check_sheet_was_added(result, &mutation.op)?;
                }
            }
            self.target.acknowledge_request()?;
            replies.push(reply);
        }
        Ok(replies)
    }

    /// The sheet names are read from the newest state of the spreadsheet. If that fails, the result
    /// contains the requested names.
    async fn read_import_result(
        &self,
        replies: Vec<AppendReply>,
        file: Option<FileSummary>,
    ) -> Result<Imported, ImportError> {
        let journal = self.target.journal();
        let Some(spreadsheet) = self.target.spreadsheet() else {
            let path = self.target.journal_path().to_owned();
            return Err(ImportError::JournalDiffers { path });
        };
        let file = file.map(|file| without_rejected_names(file, &journal.requests, &replies));
        let newest_head = replies.iter().map(|reply| reply.head).max();
        let current_sheets = spreadsheet.sheets_at_or_after(newest_head).await.ok();
        let read_position = current_sheets.as_ref().map(|reply| reply.position);
        let first_sheet = current_sheets.as_ref().and_then(|reply| reply.sheets.first());
        Ok(Imported {
            spreadsheet: spreadsheet.id(),
            position: newest_head.or(read_position).unwrap_or(Position::FIRST),
            incarnation: current_sheets.as_ref().map(|reply| reply.incarnation),
            first_sheet: first_sheet.map(|view| view.sheet),
            sheets: list_imported_sheets(&journal.requests, &replies, current_sheets.as_ref()),
            followed: replies.iter().flat_map(|reply| &reply.results).find_map(|it| it.reversal),
            file,
        })
    }
}

fn list_imported_sheets(
    requests: &[AppendRequest],
    replies: &[AppendReply],
    current_sheets: Option<&SheetsReply>,
) -> Vec<ImportedSheet> {
    let mut sheets = Vec::new();
    for mutation in requests.iter().flat_map(|request| &request.mutations) {
        let Operation::ImportSheet(import) = &mutation.op else { continue };
        // If an interrupted import had already sent a request, its response is not available.
        let mut results = replies.iter().flat_map(|reply| &reply.results);
        let result = results.find(|result| result.id == mutation.id);
        let name = current_name(import, result, current_sheets);
        sheets.push(ImportedSheet { name, extent: import.extent, cells: import.cells });
    }
    sheets
}

struct ReaderThread {
    path: PathBuf,
    thread: tokio::task::JoinHandle<Result<Findings, ImportError>>,
}

impl ReaderThread {
    async fn join(self) -> Result<Findings, ImportError> {
        match self.thread.await {
            Ok(result) => result,
            Err(error) => Err(unreadable(&self.path, std::io::Error::other(error))),
        }
    }
}

/// The thread blocks while the channel is full, and exits when the receiver is dropped.
fn start_reading(
    path: &Path,
    options: &ReadOptions,
    progress: &ProgressMonitor,
) -> (tokio::sync::mpsc::Receiver<PackedItem>, ReaderThread) {
    let (mut sender, receiver) = tokio::sync::mpsc::channel(OBJECT_QUEUE_LENGTH);
    let (thread_path, options, progress) = (path.to_owned(), options.clone(), progress.clone());
    let thread = tokio::task::spawn_blocking(move || {
        read::read_file(&thread_path, &options, &progress, &mut sender)
    });
    (receiver, ReaderThread { path: path.to_owned(), thread })
}

fn add_sheet(
    sheets: &mut FileSheets,
    sheet: read::PackedSheet,
) -> Result<Vec<IndexObject>, ImportError> {
    let name = sheet.start.name.clone().unwrap_or_default();
    sheets.add_sheet(sheet).map_err(|why| ImportError::SheetTooLarge { name, why })
}

fn defined_names(requests: &[AppendRequest]) -> impl Iterator<Item = u64> {
    let mutations = requests.iter().flat_map(|request| &request.mutations);
    mutations
        .filter(|mutation| matches!(mutation.op, Operation::SetName(_)))
        .map(|mutation| mutation.id)
}

/// Others may have defined too many names since the requests were built.
fn without_rejected_names(
    mut file: FileSummary,
    requests: &[AppendRequest],
    replies: &[AppendReply],
) -> FileSummary {
    let is_rejected = |id: &u64| {
        let mut results = replies.iter().flat_map(|reply| &reply.results);
        results.any(|result| result.id == *id && result.rejection.is_some())
    };
    let rejected = defined_names(requests).filter(is_rejected).count();
    file.names = file.names.saturating_sub(rejected);
    file.not_imported.add_all(&names::count_imported(rejected));
    file
}

fn summarize_file(
    path: &Path,
    sheets: &FileSheets,
    findings: Findings,
    names: usize,
) -> FileSummary {
    let to_imported_sheet = |sheet: &FileSheet| ImportedSheet {
        name: sheet_name(path, sheet),
        extent: sheet.extent,
        cells: sheet.cells,
    };
    let hidden = sheets.iter().filter(|sheet| sheet.hidden).count();
    let Findings { survey, not_imported, .. } = findings;
    let not_imported = not_imported.since(&names::count_imported(names));
    let sheets = sheets.iter().map(to_imported_sheet).collect();
    FileSummary { sheets, hidden, survey, not_imported, names }
}

/// For a CSV file, this is the file name without its extension.
fn sheet_name(path: &Path, sheet: &FileSheet) -> String {
    match &sheet.name {
        Some(name) => sheet_name_from(name),
        None => sheet_name_from(&path.file_stem().unwrap_or_default().to_string_lossy()),
    }
}

fn current_name(
    import: &ImportSheet,
    result: Option<&AppendedMutation>,
    current_sheets: Option<&SheetsReply>,
) -> String {
    let committed_operation = result.and_then(|result| result.committed.as_ref()?.first());
    let number = match committed_operation {
        Some(Operation::ImportSheet(committed)) => committed.sheet,
        _ => import.sheet,
    };
    let mut views = current_sheets.iter().flat_map(|reply| &reply.sheets);
    match views.find(|view| view.sheet == number) {
        Some(view) => view.name.clone(),
        None => import.name.clone(),
    }
}

fn check_sheet_was_added(
    result: &AppendedMutation,
    operation: &Operation,
) -> Result<(), ImportError> {
    let why = match (&result.rejection, &result.committed) {
        (Some(rejection), _) => escape(&rejection.detail),
        (None, Some(committed)) if committed.is_empty() => "the import had no effect".to_owned(),
        _ => return Ok(()),
    };
    let name = match operation {
        Operation::ImportSheet(import) => escape(&import.name),
        _ => String::new(),
    };
    Err(ImportError::Rejected { name, why })
}

fn are_objects_missing(error: &ClientError) -> bool {
    error.problem_kind() == Some(ProblemKind::IncompleteImport)
}

fn nothing_imported(error: ClientError) -> ImportError {
    ImportError::NothingImported { source: Box::new(error) }
}
