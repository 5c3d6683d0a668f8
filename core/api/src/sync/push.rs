//! State machine that appends one run of a push: consecutive mutations from one client. It performs
//! no I/O.
//!
//! A push request does not contain the last mutation id that the client knows to be committed. The
//! append state machine finds only the client's mutations after the base. Earlier mutation ids come
//! from this process's cache, or from a lookup in the client map of the newest snapshot root and in
//! the entries after that snapshot.
//!
//! For each of the following safety rules, a test fails if the rule is disabled:
//! - *Gap looked up*: a gap or an unknown client is reported only after a lookup.
//! - *Rejection looked up*: a mutation whose base is missing is rejected only after a lookup has
//!   shown that the log does not contain the mutation. A scan that starts at the missing base
//!   cannot show this.

use std::collections::VecDeque;
use std::sync::Arc;

use super::runs::Run;
use cellar_base::identity::{ClientKey, ClientName, LogId};
use cellar_base::limits::MAX_PUSH_LOOK_UPS;
use cellar_base::position::Position;
use cellar_base::safety_rules::SafetyRules;
use cellar_log::append::{Appended, MutationResult, NewMutation, Refusal, Request};
use cellar_log::entry::Entry;
use cellar_sheet::operation::{Rejection, RejectionReason};

/// Next action for the driver of a push.
#[derive(Debug, Clone, PartialEq)]
pub enum PushAction {
    /// Append this request.
    Append(Request),
    /// Look up the client's last mutation id in the newest snapshot and in all entries after it,
    /// with strongly consistent reads.
    LookUp,
    /// Return the outcome. All mutations of the run are handled, or an earlier mutation is missing.
    Finish(PushOutcome),
    /// Fail, because too many lookups were necessary. The client must retry the push.
    GiveUp,
}

/// The result of a [`PushAction`].
#[derive(Debug, Clone, PartialEq)]
pub enum PushEvent {
    /// The request was appended.
    Appended(Appended),
    /// The append was refused.
    Refused(PushRefusal),
    /// The request can never succeed. Its mutations must be rejected for this reason.
    Unfit(Rejection),
    /// The client lookup is complete.
    LookedUp(LookedUp),
}

/// Reason why an append of a push was refused, if the push can still finish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PushRefusal {
    /// The request does not directly follow the client's last committed mutation.
    Gap {
        /// Expected id of the first mutation.
        expected: u64,
    },
    /// The base of a mutation is not in the log, or the entries after it were trimmed.
    BaseMissing {
        /// The base.
        base: Position,
    },
    /// The tables were restored after the client loaded the spreadsheet.
    IncarnationChanged,
}

impl PushEvent {
    /// Converts the result of an append to an event.
    ///
    /// # Errors
    /// Returns the refusal if the client must retry the push.
    pub fn from_append_result(result: Result<Appended, Refusal>) -> Result<Self, Refusal> {
        match result {
            Ok(appended) => Ok(Self::Appended(appended)),
            Err(Refusal::Gap { expected, .. }) => Ok(Self::Refused(PushRefusal::Gap { expected })),
            Err(Refusal::UnknownBase { base } | Refusal::BaseGone { base }) => {
                Ok(Self::Refused(PushRefusal::BaseMissing { base }))
            }
            Err(Refusal::IncarnationChanged) => Ok(Self::Refused(PushRefusal::IncarnationChanged)),
            Err(refusal) => Err(refusal),
        }
    }
}

/// Result of a client lookup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LookedUp {
    /// The last mutation id of the client, or `None` if the log contains no mutation from the
    /// client.
    pub last_id: Option<u64>,
    /// Latest position of the log. The lookup included all entries up to this position.
    pub head: Position,
    /// Number of times that the tables had been restored at the time of the lookup.
    pub incarnation: u32,
}

/// Outcome of pushing a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PushOutcome {
    /// Results of the mutations, in order. If earlier mutations from the client are missing, the
    /// list is incomplete.
    pub results: Vec<MutationResult>,
    /// Position of the newest entry that was read.
    pub head: Option<Position>,
    /// Entries after the lowest base of the mutations that the client may not have received yet.
    pub missing: Vec<Arc<Entry>>,
    /// Position after which further entries exist, if `missing` was truncated.
    pub missing_from: Option<Position>,
    /// The highest mutation id of the client that is known to be committed.
    pub last_id: u64,
    /// The next expected mutation id, if earlier mutations from the client are missing.
    pub gap: Option<u64>,
    /// Whether the log contains no mutation from the client although its first pushed mutation id
    /// is not 1.
    pub unknown_client: bool,
}

impl PushOutcome {
    /// Appends the entries whose positions are later than the last missing entry.
    fn add_missing_entries(&mut self, entries: Vec<Arc<Entry>>) {
        for entry in entries {
            let is_later = self.missing.last().is_none_or(|last| entry.position > last.position);
            if is_later {
                self.missing.push(entry);
            }
        }
    }
}

/// A safety rule of a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PushSafetyRule {
    /// A gap is reported only after a lookup.
    GapLookedUp,
    /// A mutation is rejected due to a missing base only after a lookup.
    RejectionLookedUp,
}

/// The enforced safety rules of a push. The model checker disables one rule at a time.
pub type PushRules = SafetyRules<PushSafetyRule>;

/// State of pushing a single run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunPush {
    log: LogId,
    client: ClientKey,
    name: ClientName,
    author: Option<String>,
    incarnation: u32,
    /// The mutations that have no result yet, in order.
    remaining: VecDeque<RemainingMutation>,
    /// The highest mutation id of the client that is known to be committed.
    last_known_id: u64,
    /// Result of the last lookup. An append or rejection invalidates it.
    looked_up: Option<LookedUp>,
    lookup_count: u32,
    /// Number of mutations in the last append request.
    sent_count: usize,
    outcome: PushOutcome,
    rules: PushRules,
}

/// A mutation that has no result yet.
#[derive(Debug, Clone, PartialEq)]
enum RemainingMutation {
    Edit(NewMutation),
    Rejected(u64, Rejection),
}

impl RemainingMutation {
    fn id(&self) -> u64 {
        match self {
            Self::Edit(mutation) => mutation.id,
            Self::Rejected(id, _) => *id,
        }
    }

    fn edit(&self) -> Option<&NewMutation> {
        match self {
            Self::Edit(mutation) => Some(mutation),
            Self::Rejected(..) => None,
        }
    }

    fn rejection(&self) -> Option<&Rejection> {
        match self {
            Self::Rejected(_, rejection) => Some(rejection),
            Self::Edit(_) => None,
        }
    }

    /// Replaces an edit with a rejection.
    fn reject(&mut self, rejection: &Rejection) {
        *self = Self::Rejected(self.id(), rejection.clone());
    }
}

impl RunPush {
    /// Starts the push of consecutive mutations from one client.
    ///
    /// `client` must be derived from the client name `name` and the caller's subject.
    /// `last_known_id` is the id of a committed mutation from the client, or 0 if none is known.
    #[must_use]
    pub fn begin(
        log: LogId,
        (client, name): (ClientKey, ClientName),
        author: Option<String>,
        last_known_id: u64,
        run: Run,
        rules: PushRules,
    ) -> (Self, PushAction) {
        let (incarnation, remaining) = match run {
            Run::Edits { incarnation, mutations, .. } => {
                (incarnation, mutations.into_iter().map(RemainingMutation::Edit).collect())
            }
            // An invalid mutation has no incarnation. The incarnation is set after a lookup.
            Run::Invalid { id, rejection, .. } => {
                (0, VecDeque::from([RemainingMutation::Rejected(id, rejection)]))
            }
        };
        let mut push = Self {
            log,
            client,
            name,
            author,
            incarnation,
            remaining,
            last_known_id,
            looked_up: None,
            lookup_count: 0,
            sent_count: 0,
            outcome: PushOutcome::default(),
            rules,
        };
        let action = push.next_action();
        (push, action)
    }

    /// Handles the result of an action. Returns the new state and the next action.
    #[must_use]
    pub fn step(mut self, event: PushEvent) -> (Self, PushAction) {
        let action = match event {
            PushEvent::Appended(appended) => self.record_appended(appended),
            PushEvent::Refused(refusal) => self.continue_after_refusal(refusal),
            PushEvent::Unfit(rejection) => {
                for mutation in self.remaining.iter_mut().take(self.sent_count) {
                    mutation.reject(&rejection);
                }
                self.next_action()
            }
            PushEvent::LookedUp(looked_up) => self.continue_after_lookup(looked_up),
        };
        (self, action)
    }

    fn continue_after_refusal(&mut self, refusal: PushRefusal) -> PushAction {
        match refusal {
            PushRefusal::Gap { expected } => {
                self.last_known_id = self.last_known_id.max(expected.saturating_sub(1));
                if self.rules.is_enforced(PushSafetyRule::GapLookedUp) {
                    self.look_up()
                } else {
                    self.stop_at_gap()
                }
            }
            PushRefusal::BaseMissing { base } => {
                self.reject_edits_on(base);
                self.next_action()
            }
            PushRefusal::IncarnationChanged => {
                self.reject_all_after_restore();
                self.next_action()
            }
        }
    }

    fn reject_all_after_restore(&mut self) {
        let detail = "the tables were restored since the base of the mutation; \
                      reload the spreadsheet";
        let rejection = Rejection::new(RejectionReason::BaseGone, detail);
        for mutation in &mut self.remaining {
            mutation.reject(&rejection);
        }
        self.looked_up = None;
    }

    /// Returns the action for the first remaining mutation. A rejection is appended only after a
    /// lookup.
    fn next_action(&mut self) -> PushAction {
        self.skip_duplicates();
        match (self.remaining.front(), self.looked_up) {
            (None, _) => PushAction::Finish(self.finished_outcome()),
            (Some(RemainingMutation::Edit(_)), _) => self.append_edits(),
            (Some(RemainingMutation::Rejected(..)), Some(looked_up)) => {
                self.append_rejections(looked_up)
            }
            (Some(RemainingMutation::Rejected(..)), None) => self.look_up(),
        }
    }

    fn append_edits(&mut self) -> PushAction {
        let edits: Vec<NewMutation> =
            self.remaining.iter().map_while(RemainingMutation::edit).cloned().collect();
        self.sent_count = edits.len();
        let author = self.author.clone();
        let request = Request::new(
            self.log,
            self.client,
            author,
            self.incarnation,
            self.last_known_id,
            edits,
        );
        self.append_request(request.ok())
    }

    /// Appends the rejections at the start of the remaining mutations. Their base is the latest
    /// position of the log.
    fn append_rejections(&mut self, looked_up: LookedUp) -> PushAction {
        let rejections: Vec<Rejection> =
            self.remaining.iter().map_while(RemainingMutation::rejection).cloned().collect();
        self.sent_count = rejections.len();
        let first_id = self.remaining.front().map_or(0, RemainingMutation::id);
        let request = Request::of_rejections(
            self.log,
            self.client,
            self.author.clone(),
            looked_up.incarnation,
            self.last_known_id,
            (first_id, looked_up.head),
            rejections.into_iter(),
        );
        self.append_request(request.ok())
    }

    /// Returns the action for an append request. The request is `None` only if the mutations exceed
    /// the limits of a request, which never happens.
    fn append_request(&self, request: Option<Request>) -> PushAction {
        match request {
            Some(request) => PushAction::Append(request.with_client_name(self.name.clone())),
            None => PushAction::GiveUp,
        }
    }

    /// Removes the committed mutations from the remaining ones and reports them as duplicates.
    fn skip_duplicates(&mut self) {
        while let Some(mutation) =
            self.remaining.pop_front_if(|mutation| mutation.id() <= self.last_known_id)
        {
            self.outcome.results.push(MutationResult {
                id: mutation.id(),
                position: None,
                duplicate: true,
                rejection: None,
                committed: None,
                no_effect: false,
                reversal: None,
            });
        }
    }

    fn record_appended(&mut self, appended: Appended) -> PushAction {
        self.remaining.drain(..self.sent_count.min(self.remaining.len()));
        self.looked_up = None;
        if let Some(last_result) = appended.results.last() {
            self.last_known_id = self.last_known_id.max(last_result.id);
        }
        self.outcome.results.extend(appended.results);
        self.outcome.head = self.outcome.head.max(Some(appended.tail));
        let is_truncated = self.outcome.missing_from.is_some();
        if !is_truncated {
            self.outcome.add_missing_entries(appended.missing);
            self.outcome.missing_from = appended.missing_from;
        }
        self.next_action()
    }

    /// Rejects all remaining edits with the base `base`, which is not in the log.
    fn reject_edits_on(&mut self, base: Position) {
        let detail = format!("base {base} is not in the log; reload the spreadsheet");
        let rejection = Rejection::new(RejectionReason::BaseGone, detail);
        for mutation in &mut self.remaining {
            if matches!(mutation, RemainingMutation::Edit(edit) if edit.base == base) {
                mutation.reject(&rejection);
            }
        }
        self.looked_up = None;
    }

    fn look_up(&mut self) -> PushAction {
        self.lookup_count += 1;
        if self.lookup_count > MAX_PUSH_LOOK_UPS { PushAction::GiveUp } else { PushAction::LookUp }
    }

    fn continue_after_lookup(&mut self, looked_up: LookedUp) -> PushAction {
        let is_rejecting = matches!(self.remaining.front(), Some(RemainingMutation::Rejected(..)));
        if !is_rejecting || self.rules.is_enforced(PushSafetyRule::RejectionLookedUp) {
            self.last_known_id = self.last_known_id.max(looked_up.last_id.unwrap_or(0));
        }
        self.outcome.head = self.outcome.head.max(Some(looked_up.head));
        self.looked_up = Some(looked_up);
        self.skip_duplicates();
        match self.remaining.front() {
            Some(first) if first.id() > self.last_known_id.saturating_add(1) => self.stop_at_gap(),
            _ => self.next_action(),
        }
    }

    fn stop_at_gap(&mut self) -> PushAction {
        if self.last_known_id == 0 {
            self.outcome.unknown_client = true;
        } else {
            self.outcome.gap = Some(self.last_known_id.saturating_add(1));
        }
        PushAction::Finish(self.finished_outcome())
    }

    fn finished_outcome(&mut self) -> PushOutcome {
        PushOutcome { last_id: self.last_known_id, ..std::mem::take(&mut self.outcome) }
    }
}
