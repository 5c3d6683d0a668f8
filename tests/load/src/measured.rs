//! What is counted and timed while a run goes on.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cellar::AttemptOutcome;
use hdrhistogram::Histogram;
use serde::Serialize;

use crate::LoadError;

/// Significant digits of a latency.
const DIGITS: u8 = 3;

/// Kinds of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// `POST …/entries`.
    Append,
    /// `POST …/push`.
    Push,
    /// `POST …/pull`.
    Pull,
    /// `GET …/cells`: a view of 50 by 20.
    Cells,
    /// `GET …/history`.
    History,
    /// `GET …`: the newest root and the entries behind it.
    Load,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Append, Self::Push, Self::Pull, Self::Cells, Self::History, Self::Load];

    /// In the table.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Append => "append",
            Self::Push => "push",
            Self::Pull => "pull",
            Self::Cells => "cells",
            Self::History => "history",
            Self::Load => "load",
        }
    }
}

/// The requests of one kind.
#[derive(Debug, Clone)]
pub(crate) struct Counted {
    /// Attempts by what came of them.
    pub(crate) attempts: BTreeMap<String, u64>,
    /// Requests that were answered in the end.
    pub(crate) answered: u64,
    /// From when a request was due to its answer, microseconds.
    pub(crate) latency_us: Histogram<u64>,
}

/// What is counted, by all clients.
#[derive(Clone)]
pub(crate) struct Measured(Arc<Mutex<Inner>>);

struct Inner {
    kinds: BTreeMap<Kind, Counted>,
    faults: Vec<String>,
    may_lose: bool,
}

/// Faults that are kept: the first say what is wrong.
const MAX_FAULTS: usize = 20;

impl Measured {
    /// Nothing yet. Whether connections may break: only those of a cloud that is killed may.
    pub(crate) fn new(may_lose: bool) -> Result<Self, LoadError> {
        let mut kinds = BTreeMap::new();
        for kind in Kind::ALL {
            let latency_us = Histogram::new(DIGITS);
            let latency_us = latency_us.map_err(|e| LoadError::Part { why: e.to_string() })?;
            kinds.insert(kind, Counted { attempts: BTreeMap::new(), answered: 0, latency_us });
        }
        Ok(Self(Arc::new(Mutex::new(Inner { kinds, faults: Vec::new(), may_lose }))))
    }

    /// Counts an attempt, and whether what came of it is a fault.
    pub(crate) fn attempt(&self, kind: Kind, attempted: AttemptOutcome) {
        let mut inner = self.inner();
        let name = name(attempted);
        if is_fault(attempted, inner.may_lose) && inner.faults.len() < MAX_FAULTS {
            inner.faults.push(format!("{} was answered: {name}", kind.name()));
        }
        inner.count(kind, name);
    }

    /// Counts an attempt whose answer its client did not wait for.
    pub(crate) fn given_up(&self, kind: Kind) {
        self.inner().count(kind, "given up".to_owned());
    }

    /// Counts a request that is answered, and how long that took since it was due; not how long if its
    /// client made it late itself.
    pub(crate) fn answered(&self, kind: Kind, latency: Option<Duration>) {
        let mut inner = self.inner();
        let Some(counted) = inner.kinds.get_mut(&kind) else { return };
        counted.answered = counted.answered.saturating_add(1);
        if let Some(latency) = latency {
            let latency_us = u64::try_from(latency.as_micros()).unwrap_or(u64::MAX);
            // It grows to hold whatever is recorded; it ends only where no latency is.
            let _ = counted.latency_us.record(latency_us);
        }
    }

    /// Notes what is wrong.
    pub(crate) fn fault(&self, fault: String) {
        let mut inner = self.inner();
        if inner.faults.len() < MAX_FAULTS {
            inner.faults.push(fault);
        }
    }

    /// Requests answered so far.
    pub(crate) fn total(&self) -> u64 {
        self.inner().kinds.values().map(|counted| counted.answered).sum()
    }

    /// What was counted.
    pub(crate) fn kinds(&self) -> BTreeMap<Kind, Counted> {
        self.inner().kinds.clone()
    }

    /// What was wrong.
    pub(crate) fn faults(&self) -> Vec<String> {
        self.inner().faults.clone()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn count(&mut self, kind: Kind, name: String) {
        if let Some(counted) = self.kinds.get_mut(&kind) {
            let count = counted.attempts.entry(name).or_default();
            *count = count.saturating_add(1);
        }
    }
}

fn name(attempted: AttemptOutcome) -> String {
    match attempted {
        AttemptOutcome::Answered { status, has_retry_after: true } => format!("{status}, Retry-After"),
        AttemptOutcome::Answered { status, has_retry_after: false } => status.to_string(),
        AttemptOutcome::NotConnected => "not connected".to_owned(),
        AttemptOutcome::TimedOut => "timed out".to_owned(),
        AttemptOutcome::Lost => "lost".to_owned(),
    }
}

/// Statuses other than 2xx, 409, 429, and 503 with `Retry-After`, are faults; so is a connection that breaks
/// or is refused, unless the cloud is killed. Who waits too long asks again: that is seen in the latency.
fn is_fault(attempted: AttemptOutcome, may_lose: bool) -> bool {
    match attempted {
        AttemptOutcome::Answered { status: 200..=299 | 409 | 429, .. } => false,
        AttemptOutcome::Answered { status, has_retry_after } => !(status == 503 && has_retry_after),
        AttemptOutcome::TimedOut => false,
        AttemptOutcome::NotConnected | AttemptOutcome::Lost => !may_lose,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_answer_of_the_contract_is_a_fault() {
        let answered = |status, has_retry_after| AttemptOutcome::Answered { status, has_retry_after };
        for (status, has_retry_after) in
            [(200, false), (299, false), (409, false), (429, false), (503, true)]
        {
            assert!(!is_fault(answered(status, has_retry_after), false), "{status}");
        }
        for (status, has_retry_after) in
            [(199, false), (300, false), (404, false), (500, true), (502, true), (503, false)]
        {
            assert!(is_fault(answered(status, has_retry_after), true), "{status}");
        }
        for lost in [AttemptOutcome::Lost, AttemptOutcome::NotConnected] {
            assert!(is_fault(lost, false) && !is_fault(lost, true), "{lost:?}");
        }
        assert!(!is_fault(AttemptOutcome::TimedOut, false));
    }

    #[test]
    fn attempts_and_answers_are_counted_apart() {
        let measured = Measured::new(false).unwrap();
        let answered = |status| AttemptOutcome::Answered { status, has_retry_after: true };
        measured.attempt(Kind::Append, answered(503));
        measured.given_up(Kind::Append);
        measured.attempt(Kind::Append, answered(200));
        measured.answered(Kind::Append, Some(Duration::from_millis(7)));
        measured.attempt(Kind::Load, answered(500));
        let counted = &measured.kinds()[&Kind::Append];
        assert_eq!(counted.attempts.values().sum::<u64>(), 3);
        assert_eq!((counted.answered, measured.total()), (1, 1));
        assert!((6_990..=7_010).contains(&counted.latency_us.max()));
        assert_eq!(measured.faults(), ["load was answered: 500, Retry-After"]);
    }
}
