//! A spreadsheet that is shown and edited whether or not anybody answers.
//!
//! A [`LiveSheet`] has the canonical state – the newest root that it knows, and the entries behind it
//! (`canonical`) – and its own edits on top that are not known to be in the log (`shown`), as the server
//! would commit them now ([`cellar_api::rebase`]). An edit is on disk before it is shown as made, and
//! returns at once; [`LiveSheet::sync`] sends what waits and fetches what is new (`sync`). Whatever is
//! lost or killed in between, each edit happens once, in its author's order: it keeps its id and its
//! base, as the [`crate::editor`]'s do.
//!
//! If the spreadsheet is restored to an earlier time, edits that certainly never got through are made
//! again on the state as it is now, as a new client; those that may have are set aside in a file
//! (`start_over`).
//!
//! Memory is bounded: chunks of what is shown, entries up to a bound beyond which a newer root is
//! looked for, and as many waiting edits as [`cellar_base::limits`] says.

mod canonical;
mod error;
mod kept;
mod shown;
mod start_over;
mod sync;

pub use error::LiveError;
pub use sync::{SetAside, Settlement, SyncOutcome, Synced, poll_event};

use std::path::Path;
use std::sync::Arc;

use cellar_api::rebase::{Outlook, OwnEntries, PendingMutation};
use cellar_api::{wire::CellsReply, wire::SheetView};
use cellar_base::identity::{ClientKey, LogId, SubjectKey};
use cellar_base::limits::{MAX_LIVE_OBJECT_BYTES, MAX_LIVE_PENDING, MAX_LIVE_PENDING_BYTES};
use cellar_base::position::Position;
use cellar_sheet::a1::Rectangle;
use cellar_sheet::operation::{Operation, SheetId};

use crate::Client;
use crate::client::{subject_key_of_token, subject_of_token};
use crate::files::{FileError, FileLock, STATE_FOLDER};
use crate::outbox::{Outbox, OutboxState, Pending, What, new_name};
use crate::reader::{ChunkCache, Source};
use canonical::Canonical;
use shown::Shown;
use sync::Answers;

/// The folder of live sheets' files, in the folder for local state.
const FOLDER: &str = "live";

/// One spreadsheet, as one subject sees and edits it in one folder.
#[derive(Debug)]
pub struct LiveSheet {
    outbox: Outbox,
    source: Source,
    subject: Option<SubjectKey>,
    state: OutboxState,
    /// The edits of `state`, with what they do.
    pending: Vec<PendingMutation>,
    own: OwnEntries,
    canonical: Canonical,
    shown: Shown,
    answers: Answers,
    /// What was not reported yet.
    report: Synced,
    /// Kept to the end: one process at a time.
    _lock: FileLock,
}

impl LiveSheet {
    /// Opens a spreadsheet, with its files in `dir/.cellar/`. What was kept there opens it without a
    /// request; otherwise it is loaded. `token` is the client's: edits are kept per subject, and never
    /// sent as somebody else.
    ///
    /// # Errors
    /// [`LiveError::File`] if another process has it open or the files cannot be used; otherwise
    /// [`LiveError`] if nothing was kept and it cannot be loaded.
    pub async fn open(
        client: Client,
        token: Option<&str>,
        spreadsheet: LogId,
        dir: &Path,
    ) -> Result<Self, LiveError> {
        let outbox = outbox(client.clone(), token, spreadsheet, dir);
        let lock = outbox.try_lock()?;
        let source = Source::new(client, spreadsheet, Some(Arc::new(ChunkCache::new(dir))));
        let kept = outbox.read()?;
        let canonical = Canonical::open(&source, &outbox, kept.as_ref()).await?;
        let is_new = kept.is_none();
        let fresh = || {
            OutboxState::fresh(
                outbox.key(),
                new_name(),
                canonical.incarnation(),
                canonical.position(),
            )
        };
        let state = kept.unwrap_or_else(fresh);
        let subject = subject_key_of_token(token);
        let own = OwnEntries::new(client_key(subject, &state.client));
        let pending = pending_of(&outbox, &state)?;
        let shown = Shown::of(&canonical, &own, &pending);
        let (answers, report) = (Answers::default(), Synced::at(canonical.position()));
        let mut live = Self {
            outbox,
            source,
            subject,
            state,
            pending,
            own,
            canonical,
            shown,
            answers,
            report,
            _lock: lock,
        };
        if is_new {
            live.outbox.write(&live.state)?;
        }
        if live.canonical.incarnation() == live.state.incarnation {
            live.acknowledge_known();
            live.settle().await?;
        } else {
            live.begin_again(0).await?;
        }
        Ok(live)
    }

    /// How many edits wait in the files of `dir/.cellar/`, whether or not a process has them open: they
    /// are not known to be in the spreadsheet.
    ///
    /// # Errors
    /// [`FileError`] if the files cannot be read.
    pub fn unsent(
        client: Client,
        token: Option<&str>,
        spreadsheet: LogId,
        dir: &Path,
    ) -> Result<usize, FileError> {
        let kept = outbox(client, token, spreadsheet, dir).read()?;
        Ok(kept.map_or(0, |state| state.pending.len()))
    }

    /// The canonical position: what is shown has everything up to here.
    #[must_use]
    pub fn position(&self) -> Position {
        self.canonical.position()
    }

    /// The edits that wait, in their order, each with what it is shown as: what the server will commit
    /// if nothing else arrives. Nothing is foretold while [`LiveError::Behind`] is the answer of
    /// [`LiveSheet::view`].
    pub fn pending(&self) -> impl Iterator<Item = (&PendingMutation, Option<&Outlook>)> {
        let outlooks = self.shown.outlooks().map(Some).chain(std::iter::repeat(None));
        self.pending.iter().zip(outlooks)
    }

    /// Makes an edit, in the coordinates of what is shown: durable and shown when this returns, sent by
    /// the next [`LiveSheet::sync`]. Gives its id.
    ///
    /// # Errors
    /// [`LiveError`]: nothing was kept, and nothing is shown.
    pub fn edit(&mut self, operation: Operation) -> Result<u64, LiveError> {
        if matches!(operation, Operation::ImportSheet(_)) {
            return Err(LiveError::Import);
        }
        let operation = operation.validated().map_err(|fault| LiveError::Invalid { fault })?;
        // Where the author's earlier edits stand is not known: neither would be what this means.
        self.shown.placed()?;
        let (what, object) =
            What::choose(operation.clone()).map_err(|fault| LiveError::TooLarge { fault })?;
        self.check_room(&what, &operation)?;
        let object_bytes = object_bytes(&what);
        let (id, base) = self.outbox.author(&mut self.state, what, object)?;
        let pending = PendingMutation { id, base, operation, object_bytes };
        self.shown.add(&pending);
        self.pending.push(pending);
        Ok(id)
    }

    /// Whether one more edit may wait.
    fn check_room(&self, what: &What, operation: &Operation) -> Result<(), LiveError> {
        let edits = self.state.pending.len();
        let bytes = json_bytes(&self.state.pending).saturating_add(json_bytes(what));
        let objects = self.pending.iter().filter(|pending| pending.object_bytes.is_some());
        let objects = objects.map(|pending| pending.operation.weight_bytes());
        let new = if object_bytes(what).is_some() { operation.weight_bytes() } else { 0 };
        let object_bytes = objects.fold(new, usize::saturating_add);
        match is_too_much(edits.saturating_add(1), bytes, object_bytes) {
            true => Err(LiveError::TooMany { edits, bytes, object_bytes }),
            false => Ok(()),
        }
    }

    /// The cells of a rectangle, of a sheet by its name or of the first: the canonical state with the
    /// edits that wait on top. Chunks that are not in the cache are fetched.
    ///
    /// # Errors
    /// [`LiveError::Reader`]; [`LiveError::Behind`] if the edits that wait cannot be placed before they
    /// are sent.
    pub async fn view(
        &mut self,
        sheet: Option<&str>,
        rectangle: Rectangle,
    ) -> Result<CellsReply, LiveError> {
        self.shown.placed()?;
        self.canonical.show(&mut self.shown);
        match self.canonical.opened.reply(&self.source, sheet, rectangle).await {
            Err(error) => {
                // A newer snapshot may have replaced what is missing: the next round looks for it.
                self.canonical.is_stale |= error.object().is_some();
                Err(error.into())
            }
            shown => Ok(shown?),
        }
    }

    /// The sheets, in the order of their tabs, own edits included.
    #[must_use]
    pub fn sheets(&self) -> Vec<SheetView> {
        let metadata = self.shown.metadata();
        let view = |sheet: &SheetId| {
            let name = metadata.tabs.name(*sheet)?.to_owned();
            let extent = metadata.sheets.get(sheet)?.extent;
            Some(SheetView { sheet: *sheet, name, extent })
        };
        metadata.tabs.order().iter().filter_map(view).collect()
    }

    /// The number for a new sheet: above every one that was ever used.
    #[must_use]
    pub fn next_sheet(&self) -> SheetId {
        self.shown.metadata().tabs.next_sheet()
    }

    /// Shows the edits anew, on what is canonical now, and keeps both.
    async fn settle(&mut self) -> Result<(), FileError> {
        self.state.seen = self.canonical.position();
        self.canonical.keep(&self.outbox);
        self.outbox.write(&self.state)?;
        self.outbox.sweep(&self.state);
        self.shown = Shown::of(&self.canonical, &self.own, &self.pending);
        if let Err(needed) = self.shown.placed()
            && self.canonical.reach_back(&self.source, needed.after).await
        {
            self.shown = Shown::of(&self.canonical, &self.own, &self.pending);
        }
        Ok(())
    }
}

/// Whether so many edits, with so many bytes, are more than may wait.
fn is_too_much(edits: usize, bytes: usize, object_bytes: usize) -> bool {
    edits > MAX_LIVE_PENDING
        || bytes > MAX_LIVE_PENDING_BYTES
        || object_bytes > MAX_LIVE_OBJECT_BYTES
}

/// Plain data always encodes.
fn json_bytes(edits: &impl serde::Serialize) -> usize {
    serde_json::to_vec(edits).map_or(usize::MAX, |json| json.len())
}

/// The key of a client of this name.
fn client_key(subject: Option<SubjectKey>, name: &str) -> Option<ClientKey> {
    ClientKey::derive(&subject?, name).ok()
}

fn object_bytes(what: &What) -> Option<u64> {
    match what {
        What::Body(body) => Some(body.bytes),
        What::Op(_) => None,
    }
}

/// Where the edits of a token's subject are kept: never those of another cloud or subject.
fn outbox(client: Client, token: Option<&str>, spreadsheet: LogId, dir: &Path) -> Outbox {
    let folder = dir.join(STATE_FOLDER).join(FOLDER);
    Outbox::new(client, spreadsheet, &subject_of_token(token), &folder)
}

/// The edits of a state with what they do.
fn pending_of(outbox: &Outbox, state: &OutboxState) -> Result<Vec<PendingMutation>, FileError> {
    let whole = |edit: &Pending| {
        let sent = outbox.whole(edit)?;
        let object_bytes = object_bytes(&edit.what);
        Ok(PendingMutation { id: sent.id, base: sent.base, operation: sent.op, object_bytes })
    };
    state.pending.iter().map(whole).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_much_waits_as_may_and_not_one_more() {
        let (edits, bytes, objects) =
            (MAX_LIVE_PENDING, MAX_LIVE_PENDING_BYTES, MAX_LIVE_OBJECT_BYTES);
        assert!(!is_too_much(edits, bytes, objects));
        assert!(is_too_much(edits + 1, bytes, objects));
        assert!(is_too_much(edits, bytes + 1, objects));
        assert!(is_too_much(edits, bytes, objects + 1));
    }
}
