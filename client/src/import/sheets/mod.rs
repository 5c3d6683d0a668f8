//! A file as sheets of its own: any size, in one entry of the log.
//!
//! `read` makes objects of the file on a thread of its own, `upload` brings them into the store while
//! that goes on, `requests` makes the entry that names them. Until it is appended nothing of the import
//! is in the log, and what was uploaded is deleted by itself after three days. `journal` is what an
//! import that is run again has to know.

mod journal;
mod place;
mod progress;
mod read;
mod requests;
mod upload;

use std::path::{Path, PathBuf};

use cellar_api::{wire::AppendReply, wire::AppendedMutation, wire::ProblemKind, wire::SheetsReply};
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_catalog::spreadsheet::Name;
use cellar_exchange::Survey;
use cellar_sheet::operation::{ImportSheet, Operation, SheetId, sheet_name_from};
use cellar_sheet::workbook::Extent;

use super::file::unreadable;
use super::{ImportError, ReadOptions};
use crate::files::FileLock;
use crate::table::escape;
use crate::{Client, ClientError};
use journal::FileStamp;
pub use journal::JournalKey;
use place::Place;
pub use progress::{UploadProgress, Watch};
use read::Found;
use requests::{FileSheet, FileSheets, IndexObject};
use upload::{Uploader, Uploads};

/// What is found in a file that may wait to be sent: chunks of about 128 KB.
const WAITING: usize = 16;

/// Where an import goes and where its journal is.
#[derive(Debug, Clone)]
pub struct Target {
    /// The spreadsheet; `None` makes a new one.
    pub into: Option<LogId>,
    /// What a new one is called; without it, it has no name.
    pub name: Option<Name>,
    /// The sheet of it whose place, and name, the file's sheet takes.
    pub replace: Option<String>,
    /// The journal ([`JournalKey::path`]).
    pub journal: PathBuf,
    /// Forget the journal of an interrupted run.
    pub restart: bool,
}

/// A sheet that was imported, or would be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedSheet {
    /// Its name in the spreadsheet.
    pub name: String,
    /// How far its cells go.
    pub extent: Extent,
    /// Its cells.
    pub cells: u64,
}

/// What was read of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looked {
    /// Its sheets.
    pub sheets: Vec<ImportedSheet>,
    /// How many of them the program that wrote the file does not show; Cellar shows them.
    pub hidden: usize,
    /// What the columns of csv are.
    pub survey: Option<Survey>,
}

/// A finished import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// The spreadsheet.
    pub spreadsheet: LogId,
    /// The version that has the sheets.
    pub position: Position,
    /// Its incarnation.
    pub incarnation: Option<u32>,
    /// The first sheet there, if it is known.
    pub first_sheet: Option<SheetId>,
    /// The sheets, as they are called there.
    pub sheets: Vec<ImportedSheet>,
    /// What was read of the file; nothing, if an interrupted run had sent all but the last request.
    pub looked: Option<Looked>,
}

/// Reads a file as an import would, and sends nothing.
///
/// # Errors
/// [`ImportError`] that an import would end with before it sends anything.
pub async fn look(
    path: &Path,
    options: &ReadOptions,
    watch: &Watch,
) -> Result<Looked, ImportError> {
    let (mut found, reading) = begin(path, options, watch);
    let mut sheets = FileSheets::default();
    while let Some(found) = found.recv().await {
        if let Found::Sheet(sheet) = found {
            add(&mut sheets, sheet)?;
        }
    }
    Ok(looked(path, &sheets, reading.end().await?))
}

/// Imports a file. It may be dropped, or killed, at any time and called again: nothing happens twice.
///
/// # Errors
/// [`ImportError`], which says whether anything of the file is in the log.
pub async fn run(
    client: &Client,
    path: &Path,
    options: &ReadOptions,
    target: &Target,
    watch: &Watch,
) -> Result<Imported, ImportError> {
    let lock_path = target.journal.with_extension("lock");
    let lock = FileLock::try_acquire(&lock_path)?;
    let stamp = FileStamp::of(path)?;
    let place = Place::open(client, path, target, stamp)?;
    let mut import = Import { client, path, options, watch, place };
    let done = import.run(stamp).await;
    if import.place.settle(done.as_ref().err())? {
        lock.release_and_delete(&lock_path);
    }
    done
}

/// An import under way.
struct Import<'a> {
    client: &'a Client,
    path: &'a Path,
    options: &'a ReadOptions,
    watch: &'a Watch,
    place: Place<'a>,
}

impl Import<'_> {
    async fn run(&mut self, stamp: FileStamp) -> Result<Imported, ImportError> {
        if self.place.journal().stamp == Some(stamp) {
            // The file is as it was when these requests were made: there is nothing to read.
            match self.append().await {
                Err(ImportError::NothingImported { source, .. }) if are_gone(&source) => {}
                Err(ImportError::Uncertain { source, .. }) if are_gone(&source) => {}
                done => return self.imported(done?, None).await,
            }
        }
        self.place.look().await?;
        let (sheets, survey) = self.send_objects().await?;
        let looked = looked(self.path, &sheets, survey);
        let requests = self.place.requests(&sheets, |sheet| name(self.path, sheet)).await?;
        self.place.keep(requests, stamp)?;
        let replies = self.append().await?;
        self.imported(replies, Some(looked)).await
    }

    /// Reads the file, and brings all objects of its sheets into the store.
    async fn send_objects(&mut self) -> Result<(FileSheets, Option<Survey>), ImportError> {
        let (mut found, reading) = begin(self.path, self.options, self.watch);
        let mut sheets = FileSheets::default();
        let client_id = self.place.journal().client.clone();
        let uploader = Uploader { client: self.client.clone(), client_id };
        let mut uploads = Uploads::new(uploader, self.watch.clone());
        while let Some(found) = found.recv().await {
            match found {
                Found::Object(object) => uploads.add(object),
                Found::Sheet(sheet) => {
                    add(&mut sheets, sheet)?.into_iter().for_each(|it| uploads.add_index(it));
                    self.place.check_count(sheets.iter().len())?;
                }
            }
            // Not before there is enough: a small file that turns out to be damaged leaves nothing.
            if uploads.is_batch() {
                let spreadsheet = self.place.spreadsheet().await?;
                uploads.send(spreadsheet).await.map_err(nothing_imported)?;
            }
        }
        let survey = reading.end().await?;
        if !uploads.is_empty() {
            let spreadsheet = self.place.spreadsheet().await?;
            uploads.finish(spreadsheet).await.map_err(nothing_imported)?;
        }
        Ok((sheets, survey))
    }

    /// Sends what is in the journal and not known to be in the log.
    async fn append(&mut self) -> Result<Vec<AppendReply>, ImportError> {
        self.watch.appends();
        let mut replies = Vec::new();
        while let Some(request) = self.place.journal().unsent().first().cloned() {
            let spreadsheet = self.place.spreadsheet().await?;
            let reply = match self.client.append(spreadsheet, &request).await {
                Ok(reply) => reply,
                Err(error) => return Err(self.place.not_appended(error)),
            };
            let imports = request.mutations.iter().map(|sent| &sent.op);
            for (result, op) in reply.results.iter().zip(imports) {
                check(result, op)?;
            }
            self.place.acknowledge()?;
            replies.push(reply);
        }
        Ok(replies)
    }

    /// What there is now, under the names that the spreadsheet has them.
    async fn imported(
        &self,
        replies: Vec<AppendReply>,
        looked: Option<Looked>,
    ) -> Result<Imported, ImportError> {
        let journal = self.place.journal();
        let spreadsheet = journal
            .spreadsheet
            .ok_or(ImportError::JournalDiffers { path: self.place.journal_path().to_owned() })?;
        let head = replies.iter().map(|reply| reply.head).max();
        // Only names are missing without it.
        let there = self.client.sheets(spreadsheet, None, head).await.ok();
        let position = head.or(there.as_ref().map(|there| there.position));
        let results = replies.iter().flat_map(|reply| &reply.results);
        let ops = journal.requests.iter().flat_map(|request| &request.mutations);
        // Those that an earlier run had acknowledged have no result here.
        let skipped = ops.clone().count().saturating_sub(results.clone().count());
        let results = std::iter::repeat_n(None, skipped).chain(results.map(Some));
        let sheets = ops.zip(results).filter_map(|(sent, result)| match &sent.op {
            Operation::ImportSheet(import) => Some(ImportedSheet {
                name: shown_name(import, result, there.as_ref()),
                extent: import.extent,
                cells: import.cells,
            }),
            _ => None,
        });
        Ok(Imported {
            spreadsheet,
            position: position.unwrap_or(Position::FIRST),
            incarnation: there.as_ref().map(|there| there.incarnation),
            first_sheet: there.as_ref().and_then(|there| Some(there.sheets.first()?.sheet)),
            sheets: sheets.collect(),
            looked,
        })
    }
}

/// A file that is being read.
struct ReadingThread {
    path: PathBuf,
    thread: tokio::task::JoinHandle<Result<Option<Survey>, ImportError>>,
}

impl ReadingThread {
    async fn end(self) -> Result<Option<Survey>, ImportError> {
        let fault = |error| unreadable(&self.path, std::io::Error::other(error));
        self.thread.await.unwrap_or_else(|error| Err(fault(error)))
    }
}

/// Begins to read, as far ahead as there is room. The thread ends when nobody receives any more.
fn begin(
    path: &Path,
    options: &ReadOptions,
    watch: &Watch,
) -> (tokio::sync::mpsc::Receiver<Found>, ReadingThread) {
    let (mut sink, found) = tokio::sync::mpsc::channel(WAITING);
    let (path, options, watch) = (path.to_owned(), options.clone(), watch.clone());
    let reading = ReadingThread {
        path: path.clone(),
        thread: tokio::task::spawn_blocking(move || read::read(&path, &options, &watch, &mut sink)),
    };
    (found, reading)
}

fn add(sheets: &mut FileSheets, found: read::FoundSheet) -> Result<Vec<IndexObject>, ImportError> {
    let name = found.start.name.clone().unwrap_or_default();
    sheets.add(found).map_err(|why| ImportError::SheetTooLarge { name, why })
}

fn looked(path: &Path, sheets: &FileSheets, survey: Option<Survey>) -> Looked {
    let sheet = |sheet: &FileSheet| ImportedSheet {
        name: name(path, sheet),
        extent: sheet.extent,
        cells: sheet.cells,
    };
    let hidden = sheets.iter().filter(|sheet| sheet.hidden).count();
    Looked { sheets: sheets.iter().map(sheet).collect(), hidden, survey }
}

/// What a sheet is called: as in the file, or, as csv has no name for it, as the file.
fn name(path: &Path, sheet: &FileSheet) -> String {
    match &sheet.name {
        Some(name) => sheet_name_from(name),
        None => sheet_name_from(&path.file_stem().unwrap_or_default().to_string_lossy()),
    }
}

/// The name that a sheet got.
fn shown_name(
    import: &ImportSheet,
    result: Option<&AppendedMutation>,
    there: Option<&SheetsReply>,
) -> String {
    let committed = result.and_then(|result| result.committed.as_ref()?.first());
    let sheet = match committed {
        Some(Operation::ImportSheet(committed)) => committed.sheet,
        _ => import.sheet,
    };
    let found = there.and_then(|there| there.sheets.iter().find(|view| view.sheet == sheet));
    found.map_or_else(|| import.name.clone(), |view| view.name.clone())
}

/// Whether a sheet was added.
fn check(result: &AppendedMutation, op: &Operation) -> Result<(), ImportError> {
    let why = match (&result.rejection, &result.committed) {
        (Some(rejection), _) => escape(&rejection.detail),
        (None, Some(committed)) if committed.is_empty() => "nothing of it was left".to_owned(),
        _ => return Ok(()),
    };
    let name = match op {
        Operation::ImportSheet(import) => escape(&import.name),
        _ => String::new(),
    };
    Err(ImportError::Refused { name, why })
}

/// Whether the objects of an interrupted run may be there no longer: then all is sent again.
fn are_gone(error: &ClientError) -> bool {
    error.problem_kind() == Some(ProblemKind::IncompleteImport)
}

fn nothing_imported(error: ClientError) -> ImportError {
    let advice = match error.problem_kind() {
        Some(ProblemKind::NotFound) => "check the id (--into or -s) and that the token covers it",
        Some(ProblemKind::Unauthorized | ProblemKind::Forbidden) => {
            "run the same command again with a token that may edit (--url and --token)"
        }
        Some(ProblemKind::UnknownBase | ProblemKind::ReloadRequired | ProblemKind::MutationGap) => {
            "the spreadsheet was restored meanwhile: begin anew with --restart, and check what is \
             there already"
        }
        _ => {
            "run the same command again when that is solved; what was uploaded is deleted by itself \
             after three days"
        }
    };
    ImportError::NothingImported { advice: advice.to_owned(), source: Box::new(error) }
}
