//! One run of a push: which requests it becomes, as a pure machine.
//!
//! A pushed mutation comes without an acknowledgement. What is in the log behind its base, the append
//! machine finds; what of its client stands before that is known to this process, or looked up: in the
//! newest root's client map and the entries behind it. Two safety rules, each of which has a test that
//! fails without it:
//! - *Gap looked up*: nothing is called a gap, and no client unknown, before it was looked up.
//! - *Rejection looked up*: a mutation whose base is not there is only rejected once it was looked up
//!   whether it is in the log already: no scan from its base says so.

use std::collections::VecDeque;
use std::sync::Arc;

use super::runs::Run;
use cellar_base::identity::{ClientKey, ClientName, LogId};
use cellar_base::limits::MAX_PUSH_LOOK_UPS;
use cellar_base::position::Position;
use cellar_log::append::{Appended, MutationResult, NewMutation, Refusal, Request};
use cellar_log::entry::Entry;
use cellar_sheet::operation::{Rejection, RejectionReason};

/// What the driver is to do next.
#[derive(Debug, Clone, PartialEq)]
pub enum PushAction {
    /// Append this request.
    Append(Request),
    /// Look up the client's last mutation: in the newest root and in every entry behind it, up to the
    /// end of the log by a consistent read.
    LookUp,
    /// The end.
    Finish(PushOutcome),
    /// Too much has changed meanwhile: the client repeats its push.
    GiveUp,
}

/// What came of an action.
#[derive(Debug, Clone, PartialEq)]
pub enum PushEvent {
    /// The request was appended.
    Appended(Appended),
    /// The request was refused, for what [`PushEvent::of`] takes.
    Refused(Refusal),
    /// The request can never succeed.
    Unfit(Rejection),
    /// The client was looked up.
    LookedUp(LookedUp),
}

impl PushEvent {
    /// What a request came to, if its push has to know.
    ///
    /// # Errors
    /// The refusal, if it passes: the push ends, and its client repeats it.
    pub fn of(result: Result<Appended, Refusal>) -> Result<Self, Refusal> {
        match result {
            Ok(appended) => Ok(Self::Appended(appended)),
            Err(
                refusal @ (Refusal::Gap { .. }
                | Refusal::UnknownBase { .. }
                | Refusal::BaseGone { .. }
                | Refusal::IncarnationChanged),
            ) => Ok(Self::Refused(refusal)),
            Err(refusal) => Err(refusal),
        }
    }
}

/// What a look-up found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LookedUp {
    /// The id of the client's last mutation; `None` if it is not known.
    pub last_id: Option<u64>,
    /// The end of the log: every entry up to there was looked at.
    pub head: Position,
    /// Its incarnation.
    pub incarnation: u32,
}

/// What became of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PushOutcome {
    /// One for each mutation up to where it stopped.
    pub results: Vec<MutationResult>,
    /// The newest entry that was seen.
    pub head: Option<Position>,
    /// The entries behind the lowest base that the client was missing.
    pub missing: Vec<Arc<Entry>>,
    /// If `missing` was cut at its limit: the position after which to go on.
    pub missing_from: Option<Position>,
    /// The client's last mutation as far as is known.
    pub last_id: u64,
    /// Mutations before the next of the run are missing: it stopped there.
    pub gap: Option<u64>,
    /// The log knows nothing of the client, although it has numbered mutations before.
    pub unknown_client: bool,
}

/// The rules that hold: all of them, but for the model checker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PushRules {
    /// The one that does not.
    #[cfg(feature = "model")]
    pub without: Option<PushSafetyRule>,
}

/// The safety rules, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PushSafetyRule {
    /// Nothing is called a gap before it was looked up.
    GapLookedUp,
    /// Nothing is rejected for its base before it was looked up.
    RejectionLookedUp,
}

impl PushRules {
    #[cfg(feature = "model")]
    fn is_enforced(self, rule: PushSafetyRule) -> bool {
        self.without != Some(rule)
    }

    #[cfg(not(feature = "model"))]
    #[allow(clippy::unused_self, reason = "the same call with and without the feature")]
    fn is_enforced(self, _: PushSafetyRule) -> bool {
        true
    }
}

/// A run on its way.
#[derive(Debug, Clone, PartialEq)]
pub struct RunPush {
    log: LogId,
    client: ClientKey,
    name: ClientName,
    author: Option<String>,
    incarnation: u32,
    left: VecDeque<Left>,
    /// The last id that is surely in the log.
    known: u64,
    /// The evidence for rejections: nothing was appended since by this run.
    looked_up: Option<LookedUp>,
    look_ups: u32,
    /// How many of `left` are on their way.
    sent: usize,
    outcome: PushOutcome,
    rules: PushRules,
}

/// A mutation that has no result yet.
#[derive(Debug, Clone, PartialEq)]
enum Left {
    Edit(NewMutation),
    Rejected(u64, Rejection),
}

impl Left {
    fn id(&self) -> u64 {
        match self {
            Self::Edit(mutation) => mutation.id,
            Self::Rejected(id, _) => *id,
        }
    }

    fn reject(&mut self, rejection: &Rejection) {
        *self = Self::Rejected(self.id(), rejection.clone());
    }
}

impl RunPush {
    /// Begins. `client` is the key of `name` for its subject, and `known` the last id of it that is
    /// surely in the log; 0 is always right.
    #[must_use]
    pub fn begin(
        log: LogId,
        (client, name): (ClientKey, ClientName),
        author: Option<String>,
        known: u64,
        run: Run,
        rules: PushRules,
    ) -> (Self, PushAction) {
        let (incarnation, left) = match run {
            Run::Edits { incarnation, mutations, .. } => {
                (incarnation, mutations.into_iter().map(Left::Edit).collect())
            }
            Run::Nothing { id, rejection, .. } => (0, [Left::Rejected(id, rejection)].into()),
        };
        let mut push = Self {
            log,
            client,
            name,
            author,
            incarnation,
            left,
            known,
            looked_up: None,
            look_ups: 0,
            sent: 0,
            outcome: PushOutcome::default(),
            rules,
        };
        let action = push.decide();
        (push, action)
    }

    /// Takes the next step.
    #[must_use]
    pub fn step(mut self, event: PushEvent) -> (Self, PushAction) {
        let action = match event {
            PushEvent::Appended(appended) => self.appended(appended),
            PushEvent::Refused(Refusal::Gap { expected, .. }) => {
                self.known = self.known.max(expected.saturating_sub(1));
                match self.rules.is_enforced(PushSafetyRule::GapLookedUp) {
                    true => self.look_up(),
                    false => self.stop(),
                }
            }
            PushEvent::Refused(Refusal::UnknownBase { base } | Refusal::BaseGone { base }) => {
                self.reject_with_base(base);
                self.decide()
            }
            PushEvent::Refused(_) => {
                let detail = "the spreadsheet was restored since its base: load it again";
                let rejection = Rejection::new(RejectionReason::BaseGone, detail);
                self.left.iter_mut().for_each(|left| left.reject(&rejection));
                self.looked_up = None;
                self.decide()
            }
            PushEvent::Unfit(rejection) => {
                self.left.iter_mut().take(self.sent).for_each(|left| left.reject(&rejection));
                self.decide()
            }
            PushEvent::LookedUp(looked_up) => self.looked_up(looked_up),
        };
        (self, action)
    }

    fn decide(&mut self) -> PushAction {
        self.drop_duplicates();
        let rejections = self.rejections();
        match (self.left.front(), self.looked_up) {
            (None, _) => PushAction::Finish(self.take_outcome()),
            (Some(Left::Rejected(..)), None) => self.look_up(),
            (Some(Left::Rejected(..)), Some(looked_up)) => {
                self.sent = rejections.len();
                let (head, incarnation) = (looked_up.head, looked_up.incarnation);
                self.append(incarnation, |request| request.rejecting(head, rejections))
            }
            (Some(Left::Edit(_)), _) => {
                let edits = self.edits();
                self.sent = edits.len();
                self.append(self.incarnation, |request| request.asking(edits))
            }
        }
    }

    fn append(
        &self,
        incarnation: u32,
        payload: impl FnOnce(Numbered) -> Option<Request>,
    ) -> PushAction {
        let (log, client, author) = (self.log, self.client, self.author.clone());
        let numbered = Numbered { log, client, author, incarnation, known: self.known };
        // Runs are made of what a request takes.
        payload(numbered).map_or(PushAction::GiveUp, |request| {
            PushAction::Append(request.with_client_name(self.name.clone()))
        })
    }

    fn edits(&self) -> Vec<NewMutation> {
        let edit = |left: &Left| match left {
            Left::Edit(mutation) => Some(mutation.clone()),
            Left::Rejected(..) => None,
        };
        self.left.iter().map_while(edit).collect()
    }

    fn rejections(&self) -> Vec<(u64, Rejection)> {
        let rejected = |left: &Left| match left {
            Left::Rejected(id, rejection) => Some((*id, rejection.clone())),
            Left::Edit(_) => None,
        };
        self.left.iter().map_while(rejected).collect()
    }

    fn drop_duplicates(&mut self) {
        while let Some(left) = self.left.pop_front_if(|left| left.id() <= self.known) {
            self.outcome.results.push(MutationResult {
                id: left.id(),
                position: None,
                duplicate: true,
                rejection: None,
                committed: None,
                no_effect: false,
            });
        }
    }

    fn appended(&mut self, appended: Appended) -> PushAction {
        self.left.drain(..self.sent.min(self.left.len()));
        self.looked_up = None;
        let last = appended.results.last().map_or(0, |last| last.id);
        self.known = self.known.max(last);
        self.outcome.results.extend(appended.results);
        self.outcome.head = self.outcome.head.max(Some(appended.tail));
        let newest = self.outcome.missing.last().map(|entry| entry.position);
        let newer = appended.missing.into_iter().filter(|entry| Some(entry.position) > newest);
        if self.outcome.missing_from.is_none() {
            self.outcome.missing.extend(newer);
            self.outcome.missing_from = appended.missing_from;
        }
        self.decide()
    }

    fn reject_with_base(&mut self, gone: Position) {
        let detail = format!("its base {gone} is not in the spreadsheet: load it again");
        let rejection = Rejection::new(RejectionReason::BaseGone, detail);
        let has_it = |left: &&mut Left| matches!(left, Left::Edit(its) if its.base == gone);
        self.left.iter_mut().filter(has_it).for_each(|left| left.reject(&rejection));
        self.looked_up = None;
    }

    fn look_up(&mut self) -> PushAction {
        self.look_ups += 1;
        if self.look_ups > MAX_PUSH_LOOK_UPS { PushAction::GiveUp } else { PushAction::LookUp }
    }

    fn looked_up(&mut self, looked_up: LookedUp) -> PushAction {
        let rejecting = matches!(self.left.front(), Some(Left::Rejected(..)));
        if !rejecting || self.rules.is_enforced(PushSafetyRule::RejectionLookedUp) {
            self.known = self.known.max(looked_up.last_id.unwrap_or(0));
        }
        self.outcome.head = self.outcome.head.max(Some(looked_up.head));
        self.looked_up = Some(looked_up);
        self.drop_duplicates();
        match self.left.front() {
            Some(first) if first.id() > self.known.saturating_add(1) => self.stop(),
            _ => self.decide(),
        }
    }

    fn stop(&mut self) -> PushAction {
        let expected = self.known.saturating_add(1);
        match self.known {
            0 => self.outcome.unknown_client = true,
            _ => self.outcome.gap = Some(expected),
        }
        PushAction::Finish(self.take_outcome())
    }

    fn take_outcome(&mut self) -> PushOutcome {
        PushOutcome { last_id: self.known, ..std::mem::take(&mut self.outcome) }
    }
}

/// A request but for what it asks.
struct Numbered {
    log: LogId,
    client: ClientKey,
    author: Option<String>,
    incarnation: u32,
    known: u64,
}

impl Numbered {
    fn asking(self, mutations: Vec<NewMutation>) -> Option<Request> {
        let Self { log, client, author, incarnation, known } = self;
        Request::new(log, client, author, incarnation, known, mutations).ok()
    }

    fn rejecting(self, base: Position, rejections: Vec<(u64, Rejection)>) -> Option<Request> {
        let Self { log, client, author, incarnation, known } = self;
        let first_id = rejections.first()?.0;
        let rejections = rejections.into_iter().map(|(_, rejection)| rejection);
        Request::rejecting(log, client, author, incarnation, known, (first_id, base), rejections)
            .ok()
    }
}
