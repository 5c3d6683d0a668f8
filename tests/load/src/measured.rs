//! Counters and latencies of a run.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cellar::AttemptOutcome;
use hdrhistogram::Histogram;
use serde::Serialize;

use crate::LoadError;

/// Significant digits of latencies.
const DIGITS: u8 = 3;

/// Kinds of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequestKind {
    /// `POST …/entries`.
    Append,
    /// `POST …/push`.
    Push,
    /// `POST …/pull`.
    Pull,
    /// `GET …/cells`: a view of 50 rows and 20 columns.
    Cells,
    /// `GET …/history`.
    History,
    /// `GET …`: the newest root and the entries after it.
    Load,
}

impl RequestKind {
    /// All kinds.
    pub const ALL: [Self; 6] =
        [Self::Append, Self::Push, Self::Pull, Self::Cells, Self::History, Self::Load];

    /// Returns the name in the report.
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

/// Measurements of the requests of one kind.
#[derive(Debug, Clone)]
pub(crate) struct Counted {
    /// Number of attempts, by result.
    pub(crate) attempts: BTreeMap<String, u64>,
    /// Number of requests that were answered in the end.
    pub(crate) answered: u64,
    /// Time from when a request was due to its answer, in microseconds.
    pub(crate) latency_us: Histogram<u64>,
}

/// Measurements that all clients share.
#[derive(Clone)]
pub(crate) struct Measured(Arc<Mutex<Inner>>);

struct Inner {
    kinds: BTreeMap<RequestKind, Counted>,
    faults: Vec<String>,
    may_lose: bool,
}

/// Maximum number of recorded faults.
const MAX_FAULTS: usize = 20;

impl Measured {
    /// Creates empty measurements. `may_lose` allows broken connections, as when the cloud is
    /// killed.
    pub(crate) fn new(may_lose: bool) -> Result<Self, LoadError> {
        let mut kinds = BTreeMap::new();
        for kind in RequestKind::ALL {
            let latency_us = Histogram::new(DIGITS);
            let latency_us = latency_us.map_err(|e| LoadError::Part { why: e.to_string() })?;
            kinds.insert(kind, Counted { attempts: BTreeMap::new(), answered: 0, latency_us });
        }
        Ok(Self(Arc::new(Mutex::new(Inner { kinds, faults: Vec::new(), may_lose }))))
    }

    /// Counts an attempt, and records a fault if its result is one.
    pub(crate) fn attempt(&self, kind: RequestKind, attempted: AttemptOutcome) {
        let mut inner = self.inner();
        let name = name(attempted);
        if is_fault(attempted, inner.may_lose) && inner.faults.len() < MAX_FAULTS {
            inner.faults.push(format!("{} was answered: {name}", kind.name()));
        }
        inner.count(kind, name);
    }

    /// Counts an attempt whose answer was abandoned on purpose.
    pub(crate) fn count_abandoned(&self, kind: RequestKind) {
        self.inner().count(kind, "given up".to_owned());
    }

    /// Counts an answered request with its latency since it was due; the latency is missing if the
    /// client delayed the request itself.
    pub(crate) fn count_answer(&self, kind: RequestKind, latency: Option<Duration>) {
        let mut inner = self.inner();
        let Some(counted) = inner.kinds.get_mut(&kind) else { return };
        counted.answered = counted.answered.saturating_add(1);
        if let Some(latency) = latency {
            let latency_us = u64::try_from(latency.as_micros()).unwrap_or(u64::MAX);
            // The histogram grows to hold all practical latencies.
            let _ = counted.latency_us.record(latency_us);
        }
    }

    /// Records a fault.
    pub(crate) fn fault(&self, fault: String) {
        let mut inner = self.inner();
        if inner.faults.len() < MAX_FAULTS {
            inner.faults.push(fault);
        }
    }

    /// Returns the number of answered requests so far.
    pub(crate) fn total(&self) -> u64 {
        self.inner().kinds.values().map(|counted| counted.answered).sum()
    }

    /// Returns the measurements of each kind.
    pub(crate) fn kinds(&self) -> BTreeMap<RequestKind, Counted> {
        self.inner().kinds.clone()
    }

    /// Returns the recorded faults.
    pub(crate) fn faults(&self) -> Vec<String> {
        self.inner().faults.clone()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn count(&mut self, kind: RequestKind, name: String) {
        if let Some(counted) = self.kinds.get_mut(&kind) {
            let count = counted.attempts.entry(name).or_default();
            *count = count.saturating_add(1);
        }
    }
}

fn name(attempted: AttemptOutcome) -> String {
    match attempted {
        AttemptOutcome::Answered { status, has_retry_after: true } => {
            format!("{status}, Retry-After")
        }
        AttemptOutcome::Answered { status, has_retry_after: false } => status.to_string(),
        AttemptOutcome::NotConnected => "not connected".to_owned(),
        AttemptOutcome::TimedOut => "timed out".to_owned(),
        AttemptOutcome::Lost => "lost".to_owned(),
    }
}

/// Returns whether the result of an attempt is a fault: a status other than 2xx, 409, 429, and 503
/// with `Retry-After`; or a broken or refused connection, unless the cloud is killed. A timeout is
/// no fault, but shows in the latency.
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
    fn an_answer_outside_of_the_contract_is_a_fault() {
        let answered =
            |status, has_retry_after| AttemptOutcome::Answered { status, has_retry_after };
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
    fn attempts_and_answers_are_counted_separately() {
        let measured = Measured::new(false).unwrap();
        let answered = |status| AttemptOutcome::Answered { status, has_retry_after: true };
        measured.attempt(RequestKind::Append, answered(503));
        measured.count_abandoned(RequestKind::Append);
        measured.attempt(RequestKind::Append, answered(200));
        measured.count_answer(RequestKind::Append, Some(Duration::from_millis(7)));
        measured.attempt(RequestKind::Load, answered(500));
        let counted = &measured.kinds()[&RequestKind::Append];
        assert_eq!(counted.attempts.values().sum::<u64>(), 3);
        assert_eq!((counted.answered, measured.total()), (1, 1));
        assert!((6_990..=7_010).contains(&counted.latency_us.max()));
        assert_eq!(measured.faults(), ["load was answered: 500, Retry-After"]);
    }
}
