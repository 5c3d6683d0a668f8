//! Where an import goes: the spreadsheet, found or made once, and the journal that remembers it.

use std::path::Path;

use cellar_api::{
    wire::AppendRequest, wire::CreateReply, wire::CreateRequest, wire::ProblemKind,
    wire::SheetView, wire::SheetsReply,
};
use cellar_base::identity::LogId;
use cellar_base::limits::MAX_SHEETS;
use cellar_base::position::Position;
use cellar_sheet::operation::SheetId;

use super::journal::{FileStamp, Journal};
use super::requests::{FileSheet, FileSheets, Ground};
use super::{Target, are_gone, nothing_imported};
use crate::import::{ImportError, remove_journal};
use crate::sheet_deletion::{find_sheet, list_sheet_names};
use crate::table::escape;
use crate::{Client, ClientError};

/// What the one sheet is for, of which a file must not have two.
const REPLACE: &str = "--replace";

/// The place of one import.
#[derive(Debug)]
pub(super) struct Place<'a> {
    client: &'a Client,
    target: &'a Target,
    journal: Journal,
    /// The spreadsheet was made, or found again, by this run.
    created: Option<CreateReply>,
    /// There was a journal when this run began.
    resumed: bool,
    /// Requests were in the journal when this run began: an earlier run may have sent them.
    may_have_been_sent: bool,
    /// Sheets that stay, as they were seen.
    others: usize,
}

impl<'a> Place<'a> {
    pub(super) fn open(
        client: &'a Client,
        source: &Path,
        target: &'a Target,
        stamp: FileStamp,
    ) -> Result<Self, ImportError> {
        if target.restart {
            remove_journal(&target.journal)?;
        }
        // A run that was killed when all was done, but for this.
        let is_over = |it: &Journal| it.is_finished() && it.stamp != Some(stamp);
        let before = Journal::resume(&target.journal)?.filter(|journal| !is_over(journal));
        let resumed = before.is_some();
        let journal = before.unwrap_or_else(|| Journal::begin(source, target.into));
        let may_have_been_sent = !journal.unsent().is_empty();
        Ok(Self { client, target, journal, created: None, resumed, may_have_been_sent, others: 0 })
    }

    pub(super) fn journal(&self) -> &Journal {
        &self.journal
    }

    pub(super) fn journal_path(&self) -> &Path {
        &self.target.journal
    }

    /// The spreadsheet; makes it, once, if there is to be a new one.
    pub(super) async fn spreadsheet(&mut self) -> Result<LogId, ImportError> {
        if let Some(spreadsheet) = self.journal.spreadsheet {
            return Ok(spreadsheet);
        }
        // The nonce is on disk before it is used: whoever asks again gets the same spreadsheet.
        self.journal.save(&self.target.journal)?;
        let name = self.target.name.as_ref().map(ToString::to_string);
        let request = CreateRequest { name, ..CreateRequest::new(self.journal.nonce.clone()) };
        let reply = self.client.create(&request).await.map_err(nothing_imported)?;
        self.journal.spreadsheet = Some(reply.id);
        self.journal.save(&self.target.journal)?;
        self.created = Some(reply);
        Ok(reply.id)
    }

    /// Looks at a spreadsheet that is there, before any work is done for it.
    pub(super) async fn look(&mut self) -> Result<(), ImportError> {
        if let Some(into) = self.target.into {
            let sheets = self.client.sheets(into, None, None).await.map_err(nothing_imported)?;
            let replaced = self.replaced(&sheets)?.is_some();
            self.others = sheets.sheets.len().saturating_sub(usize::from(replaced));
        }
        Ok(())
    }

    /// Whether so many sheets of a file, and perhaps more, have room.
    pub(super) fn check_count(&self, sheets: usize) -> Result<(), ImportError> {
        if self.target.replace.is_some() && sheets > 1 {
            return Err(ImportError::OneSheet { what: REPLACE, sheets });
        }
        let sheets = sheets.saturating_add(self.others);
        if sheets > MAX_SHEETS { Err(ImportError::TooManySheets { sheets }) } else { Ok(()) }
    }

    fn replaced<'s>(&self, sheets: &'s SheetsReply) -> Result<Option<&'s SheetView>, ImportError> {
        let Some(name) = &self.target.replace else { return Ok(None) };
        let found = find_sheet(&sheets.sheets, name).ok_or_else(|| ImportError::UnknownSheet {
            name: escape(name),
            sheets: list_sheet_names(&sheets.sheets),
        });
        found.map(Some)
    }

    /// The requests that append these sheets to what is there now.
    pub(super) async fn requests(
        &mut self,
        sheets: &FileSheets,
        name: impl Fn(&FileSheet) -> String,
    ) -> Result<Vec<AppendRequest>, ImportError> {
        let spreadsheet = self.spreadsheet().await?;
        let client = self.journal.client.clone();
        if let Some(created) = self.created.as_ref().filter(|it| it.head == Position::FIRST) {
            // Nobody else knows it yet.
            let ground = Ground {
                incarnation: created.incarnation,
                base: created.head,
                next_sheet: SheetId(SheetId::FIRST.0.saturating_add(1)),
                replaces: Some(SheetId::FIRST),
            };
            return Ok(sheets.requests(&client, &ground, name));
        }
        let there = self.client.sheets(spreadsheet, None, None).await.map_err(nothing_imported)?;
        let replaced = match self.target.into {
            Some(_) => self.replaced(&there)?,
            None => there.sheets.iter().find(|view| view.sheet == SheetId::FIRST),
        };
        self.others = there.sheets.len().saturating_sub(usize::from(replaced.is_some()));
        self.check_count(sheets.iter().len())?;
        let ground = Ground {
            incarnation: there.incarnation,
            base: there.position,
            next_sheet: there.next_sheet,
            replaces: replaced.map(|view| view.sheet),
        };
        // Who replaces a sheet by its name finds it by that name the next time, too.
        let kept = replaced.filter(|_| self.target.replace.is_some()).map(|view| view.name.clone());
        Ok(sheets.requests(&client, &ground, |sheet| kept.clone().unwrap_or_else(|| name(sheet))))
    }

    /// Keeps requests, before any is sent. Those that an earlier run may have sent stay as they are.
    pub(super) fn keep(
        &mut self,
        requests: Vec<AppendRequest>,
        stamp: FileStamp,
    ) -> Result<(), ImportError> {
        if self.journal.requests.is_empty() {
            self.journal.requests = requests;
        } else if !self.journal.brings_the_same(&requests) {
            return Err(match self.journal.spreadsheet {
                Some(spreadsheet) => ImportError::FileChanged { spreadsheet },
                None => ImportError::JournalDiffers { path: self.target.journal.clone() },
            });
        }
        self.journal.stamp = Some(stamp);
        Ok(self.journal.save(&self.target.journal)?)
    }

    /// A request is in the log.
    pub(super) fn acknowledge(&mut self) -> Result<(), ImportError> {
        self.journal.acknowledged = self.journal.acknowledged.saturating_add(1);
        Ok(self.journal.save(&self.target.journal)?)
    }

    /// Decides what a request means that failed.
    pub(super) fn not_appended(&mut self, error: ClientError) -> ImportError {
        // Before objects are missed, the server looks whether the request is in the log.
        let begun = self.may_have_been_sent && !are_gone(&error);
        if begun || self.journal.acknowledged > 0 || !error.certainly_not_done() {
            return uncertain(error);
        }
        // Made anew by the next run, on what is there then.
        self.journal.requests.clear();
        self.journal.stamp = None;
        nothing_imported(error)
    }

    /// Leaves on disk what a later run has to know; whether that is nothing.
    pub(super) fn settle(&self, error: Option<&ImportError>) -> Result<bool, ImportError> {
        // A spreadsheet that was made, or may have been, is not to be left behind, empty.
        let made = self.target.into.is_none() && self.target.journal.exists();
        let nothing_left = match error {
            None => true,
            Some(ImportError::Refused { .. }) => true,
            Some(_) => self.journal.requests.is_empty() && !(made && self.may_exist(error)),
        };
        if nothing_left {
            remove_journal(&self.target.journal)?;
        } else if self.target.journal.exists() {
            self.journal.save(&self.target.journal)?;
        }
        Ok(nothing_left)
    }

    /// Whether the spreadsheet that was to be made may have been.
    fn may_exist(&self, error: Option<&ImportError>) -> bool {
        let refused = matches!(error, Some(ImportError::NothingImported { source, .. })
            if source.certainly_not_done());
        self.journal.spreadsheet.is_some() || self.resumed || !refused
    }
}

fn uncertain(error: ClientError) -> ImportError {
    let advice = match error.problem_kind() {
        Some(ProblemKind::UnknownBase | ProblemKind::ReloadRequired | ProblemKind::MutationGap) => {
            "the spreadsheet was restored: look whether the import is there (cellar history), and \
             begin anew with --restart if not"
        }
        Some(ProblemKind::NotFound) => {
            "check the token and the id; if the spreadsheet is gone, begin anew with --restart"
        }
        _ => "run the same command again: it finds out, and nothing happens twice",
    };
    ImportError::Uncertain { advice: advice.to_owned(), source: Box::new(error) }
}
