//! One round: send what waits, fetch what is new, and show the rest anew.

use std::collections::BTreeMap;
use std::path::PathBuf;

use cellar_api::polling::PollEvent;
use cellar_api::rebase::acknowledged;
use cellar_api::{
    wire::AppendedMutation, wire::EntryKind, wire::EntryView, wire::MutationStatus,
    wire::ProblemKind,
};
use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, Rejection};

use super::canonical::Canonical;
use super::{LiveError, LiveSheet};
use crate::outbox::{Next, Unsent, Verdict, waiting_verdict};

/// What a round has brought, and what earlier ones that failed in the middle had.
#[derive(Debug, Clone, PartialEq)]
pub struct Synced {
    /// The own edits that are in the log now, and do not wait any more, by their ids.
    pub settled: Vec<Settlement>,
    /// How many entries of others came.
    pub news: usize,
    /// The canonical position now.
    pub position: Position,
    /// Edits that may or may not have got through, and can never be sent again: somebody has to look.
    pub set_aside: Vec<SetAside>,
    /// How many edits were made again on a state that was restored, as a new client's.
    pub made_again: usize,
}

/// What became of an own edit, for good.
#[derive(Debug, Clone, PartialEq)]
pub struct Settlement {
    /// Its id.
    pub id: u64,
    /// Where it stands, if that is known.
    pub position: Option<Position>,
    /// What it did.
    pub outcome: SyncOutcome,
}

/// What an edit did.
#[derive(Debug, Clone, PartialEq)]
pub enum SyncOutcome {
    /// What its author meant, where its author saw it.
    AsMade,
    /// This, because others had moved what it is about, or it is an undo: nothing if nothing of it was
    /// left.
    Moved(Vec<Operation>),
    /// Nothing, for this reason.
    Rejected(Rejection),
    /// It is in the log; what it did there was not read, because a snapshot has it by now.
    Unseen,
}

/// Edits that were set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAside {
    /// Where they are.
    pub file: PathBuf,
    /// How many.
    pub edits: usize,
}

/// Answers to edits whose entries were not read yet.
pub(super) type Answers = BTreeMap<u64, AppendedMutation>;

impl Synced {
    /// Nothing yet.
    pub(super) fn at(position: Position) -> Self {
        Self { settled: Vec::new(), news: 0, position, set_aside: Vec::new(), made_again: 0 }
    }

    /// Whether anything happened.
    #[must_use]
    pub fn is_news(&self) -> bool {
        let own = self.settled.len() + self.set_aside.len() + self.made_again;
        own > 0 || self.news > 0
    }
}

/// What a round means for when the next one is due ([`cellar_api::polling`]).
#[must_use]
pub fn poll_event(round: &Result<Synced, LiveError>) -> PollEvent {
    match round {
        Ok(synced) if synced.is_news() => PollEvent::Active,
        Ok(_) => PollEvent::Quiet,
        Err(_) => PollEvent::Failed,
    }
}

impl LiveSheet {
    /// One round: sends what waits, together; fetches what is new; and shows what still waits on it.
    /// With nothing to send and nothing new, it is one poll.
    ///
    /// # Errors
    /// [`LiveError`]; [`LiveError::is_offline`] says whether nobody answered. What waits stays, what
    /// was learned before the failure is reported by the next round that succeeds, and a round may be
    /// repeated whenever it failed.
    pub async fn sync(&mut self) -> Result<Synced, LiveError> {
        let refused = match self.send().await {
            Err(error) if error.is_offline() => return Err(error),
            sent => sent.err(),
        };
        // Who may not write may still read.
        self.pull().await?;
        if let Some(refused) = refused {
            return Err(refused);
        }
        self.report.position = self.position();
        let next = Synced::at(self.position());
        Ok(std::mem::replace(&mut self.report, next))
    }

    /// Sends what waits: one request, unless it is too long for one.
    async fn send(&mut self) -> Result<(), LiveError> {
        while let Some(next) = self.state.next_request() {
            let Some((first, last)) = self.ids_of(&next) else { break };
            let before = self.state.attempted;
            if last > before {
                self.state.attempted = last;
                self.outbox.write(&self.state)?;
            }
            // A large edit may have got through by an upload that was given up.
            let sent_before = before >= first || self.state.is_uncertain();
            let error = match self.outbox.exchange(&mut self.state, next).await {
                Ok((sent, reply)) => {
                    let answered = self.state.answer(sent, &reply);
                    answered.ok_or_else(|| self.outbox.not_answered())?;
                    for answer in reply.results {
                        answer.position.into_iter().for_each(|at| self.own.add_position(at));
                        self.answers.insert(answer.id, answer);
                    }
                    continue;
                }
                Err(Unsent::File(error)) => return Err(error.into()),
                Err(Unsent::Client(error)) => error,
            };
            if error.certainly_not_done() {
                self.state.attempted = before;
            }
            match waiting_verdict(&error, sent_before) {
                Verdict::StartOver => return self.begin_again(0).await,
                // Whatever it was: this request is refused whenever it comes.
                Verdict::SetAside => return self.begin_again(last).await,
                Verdict::Keep | Verdict::Withdraw => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// The ids of the first and the last edit of a request.
    fn ids_of(&self, next: &Next) -> Option<(u64, u64)> {
        match next {
            Next::Append(request) => {
                Some((request.mutations.first()?.id, request.mutations.last()?.id))
            }
            Next::Upload(_) => {
                let id = self.state.unanswered().first()?.id;
                Some((id, id))
            }
        }
    }

    /// Fetches what is new.
    async fn pull(&mut self) -> Result<(), LiveError> {
        let waits = self.answers.values().any(|answer| answer.position > Some(self.position()));
        if !waits && !self.canonical.wants_root() {
            let known = self.canonical.head();
            let newest = self.outbox.client.head_unless(self.outbox.spreadsheet, known).await?;
            match newest {
                None => return self.settle_answered().await,
                Some(newest) if newest.incarnation != known.incarnation => {
                    return self.begin_again(0).await;
                }
                Some(_) => {}
            }
        }
        let pulled = self.pull_entries().await;
        // What came before a failure came.
        self.settle_answered().await?;
        if pulled? { Ok(()) } else { self.begin_again(0).await }
    }

    /// Takes the entries behind the canonical position; `false` if the incarnation is another.
    async fn pull_entries(&mut self) -> Result<bool, LiveError> {
        while !self.canonical.wants_root() {
            let page = self.outbox.client.update(self.outbox.spreadsheet, self.position()).await;
            let page = match page {
                Err(error) if error.problem_kind() == Some(ProblemKind::ReloadRequired) => break,
                page => page?,
            };
            if page.incarnation != self.canonical.incarnation() {
                return Ok(false);
            }
            let is_end = page.next.is_none() || page.entries.is_empty();
            for entry in page.entries {
                self.canonical.take(&self.source, entry.clone()).await?;
                self.acknowledge(&entry);
            }
            if is_end {
                return Ok(true);
            }
        }
        self.load_again().await
    }

    /// Loads the newest root; `false` if the incarnation is another.
    async fn load_again(&mut self) -> Result<bool, LiveError> {
        let before = self.position();
        let newest = match Canonical::load(&self.source, Some(before)).await {
            // A log that was restored does not reach what was seen.
            Err(error) => self.incarnation_or(error).await?,
            Ok(newest) => Some(newest),
        };
        let Some(newest) =
            newest.filter(|newest| newest.incarnation() == self.canonical.incarnation())
        else {
            return Ok(false);
        };
        self.canonical = newest;
        self.acknowledge_known();
        Ok(true)
    }

    /// `None` if a load failed because the incarnation is another one; otherwise why it failed.
    async fn incarnation_or(
        &self,
        error: crate::reader::ReaderError,
    ) -> Result<Option<Canonical>, LiveError> {
        let head = self.outbox.client.head(self.outbox.spreadsheet, None).await;
        match head {
            Ok(head) if head.incarnation != self.canonical.incarnation() => Ok(None),
            _ => Err(error.into()),
        }
    }

    /// Drops what the entries say that are known.
    pub(super) fn acknowledge_known(&mut self) {
        let own = self.canonical.entries().iter().filter(|entry| self.own.contains(entry));
        let own: Vec<EntryView> = own.cloned().collect();
        own.iter().for_each(|entry| self.acknowledge(entry));
    }

    /// Takes note of an entry: of own edits, that they do not wait any more.
    fn acknowledge(&mut self, entry: &EntryView) {
        if !self.own.contains(entry) {
            self.report.news += usize::from(entry.kind == EntryKind::Edits);
            return;
        }
        let done: Vec<_> = acknowledged(entry, self.state.ack).collect();
        for done in done {
            // An answer tells of a large edit what its entry does not.
            let answered = self.answers.get(&done.id).and_then(|answer| answer.rejection.clone());
            let outcome = outcome(done.rejection.or(answered), done.committed);
            self.settled(done.id, Some(done.position), &outcome);
        }
    }

    /// Drops the edits that an answer has placed at or before the canonical position: their entries may
    /// be in the root.
    async fn settle_answered(&mut self) -> Result<(), LiveError> {
        let here = Some(self.position());
        let ready = self.answers.values().take_while(|answer| answer.position <= here);
        let ready: Vec<AppendedMutation> = ready.cloned().collect();
        let mut is_changed = self.canonical.is_changed();
        for answer in ready {
            self.settled(answer.id, answer.position, &outcome_of(&answer));
            is_changed = true;
        }
        if is_changed { Ok(self.settle().await?) } else { Ok(()) }
    }

    /// Drops the edits up to an id, and reports them.
    fn settled(&mut self, id: u64, position: Option<Position>, outcome: &SyncOutcome) {
        for dropped in self.state.drop_up_to(id) {
            let answer = self.answers.remove(&dropped.id);
            let (position, outcome) = match answer {
                _ if dropped.id == id => (position, outcome.clone()),
                Some(answer) => (answer.position, outcome_of(&answer)),
                None => (None, SyncOutcome::Unseen),
            };
            self.report.settled.push(Settlement { id: dropped.id, position, outcome });
        }
        self.answers.remove(&id);
        self.pending.retain(|pending| pending.id > id);
    }
}

fn outcome(rejection: Option<Rejection>, committed: Option<Vec<Operation>>) -> SyncOutcome {
    match (rejection, committed) {
        (Some(rejection), _) => SyncOutcome::Rejected(rejection),
        (None, Some(committed)) => SyncOutcome::Moved(committed),
        (None, None) => SyncOutcome::AsMade,
    }
}

/// What an answer says of an edit: of one that had got through before, only that it did.
fn outcome_of(answer: &AppendedMutation) -> SyncOutcome {
    let AppendedMutation { status, rejection, committed, .. } = answer;
    match outcome(rejection.clone(), committed.clone()) {
        SyncOutcome::AsMade if *status == MutationStatus::Duplicate => SyncOutcome::Unseen,
        outcome => outcome,
    }
}
