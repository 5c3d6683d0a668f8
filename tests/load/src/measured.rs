//! Counters and latencies of the requests in a run.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cellar::AttemptOutcome;
use hdrhistogram::Histogram;
use serde::Serialize;

use crate::LoadError;

/// Number of significant digits of a latency.
const LATENCY_DIGITS: u8 = 3;

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

    /// Returns the name that the report uses.
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

/// Measurements for requests of one kind.
#[derive(Debug, Clone)]
pub(crate) struct RequestStatistics {
    /// Number of attempts by result.
    pub(crate) attempts: BTreeMap<String, u64>,
    /// Number of requests that eventually received a response.
    pub(crate) answered: u64,
    /// Time from a request's due time until its response, in microseconds.
    pub(crate) latency_us: Histogram<u64>,
}

/// Measurements that all clients share.
#[derive(Clone)]
pub(crate) struct Measured(Arc<Mutex<MeasuredState>>);

struct MeasuredState {
    kinds: BTreeMap<RequestKind, RequestStatistics>,
    faults: Vec<String>,
    may_break_connections: bool,
}

/// Maximum number of recorded faults.
const MAX_FAULTS: usize = 20;

impl Measured {
    /// Creates empty measurements. `may_break_connections` permits broken connections, which occur
    /// when the stack is killed.
    pub(crate) fn new(may_break_connections: bool) -> Result<Self, LoadError> {
        let mut kinds = BTreeMap::new();
        for kind in RequestKind::ALL {
            let latency_us = Histogram::new(LATENCY_DIGITS)
                .map_err(|error| LoadError::Part { why: error.to_string() })?;
            kinds.insert(
                kind,
                RequestStatistics { attempts: BTreeMap::new(), answered: 0, latency_us },
            );
        }
        let state = MeasuredState { kinds, faults: Vec::new(), may_break_connections };
        Ok(Self(Arc::new(Mutex::new(state))))
    }

    /// Counts an attempt. If the result is a fault, records the fault.
    pub(crate) fn count_attempt(&self, kind: RequestKind, outcome: AttemptOutcome) {
        let mut state = self.lock();
        let outcome_name = outcome_name(outcome);
        if is_fault(outcome, state.may_break_connections) {
            state.record_fault(format!("{} was answered: {outcome_name}", kind.name()));
        }
        state.count_attempt(kind, outcome_name);
    }

    /// Counts an attempt that was abandoned intentionally.
    pub(crate) fn count_abandoned(&self, kind: RequestKind) {
        self.lock().count_attempt(kind, "given up".to_owned());
    }

    /// Counts a request with a response. The latency is measured from the request's due time; it is
    /// missing if the client itself delayed the request.
    pub(crate) fn count_answer(&self, kind: RequestKind, latency: Option<Duration>) {
        let mut state = self.lock();
        let Some(statistics) = state.kinds.get_mut(&kind) else { return };
        statistics.answered += 1;
        if let Some(latency) = latency {
            let latency_us = u64::try_from(latency.as_micros()).unwrap_or(u64::MAX);
            // The histogram grows automatically to hold all practical latencies.
            let _ = statistics.latency_us.record(latency_us);
        }
    }

    /// Records a fault.
    pub(crate) fn record_fault(&self, fault: String) {
        self.lock().record_fault(fault);
    }

    /// Returns the number of requests that have received a response.
    pub(crate) fn answered_count(&self) -> u64 {
        self.lock().kinds.values().map(|statistics| statistics.answered).sum()
    }

    /// Returns the measurements for each kind of request.
    pub(crate) fn kinds(&self) -> BTreeMap<RequestKind, RequestStatistics> {
        self.lock().kinds.clone()
    }

    /// Returns the recorded faults.
    pub(crate) fn faults(&self) -> Vec<String> {
        self.lock().faults.clone()
    }

    fn lock(&self) -> MutexGuard<'_, MeasuredState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MeasuredState {
    fn count_attempt(&mut self, kind: RequestKind, outcome_name: String) {
        if let Some(statistics) = self.kinds.get_mut(&kind) {
            *statistics.attempts.entry(outcome_name).or_default() += 1;
        }
    }

    fn record_fault(&mut self, fault: String) {
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(fault);
        }
    }
}

fn outcome_name(outcome: AttemptOutcome) -> String {
    match outcome {
        AttemptOutcome::Answered { status, has_retry_after: true } => {
            format!("{status}, Retry-After")
        }
        AttemptOutcome::Answered { status, has_retry_after: false } => status.to_string(),
        AttemptOutcome::NotConnected => "not connected".to_owned(),
        AttemptOutcome::TimedOut => "timed out".to_owned(),
        AttemptOutcome::Lost => "lost".to_owned(),
    }
}

/// Returns whether the result of an attempt is a fault. A response is a fault unless its status is
/// 2xx, 409, 429, or 503 with `Retry-After`. A broken or refused connection is a fault unless the
/// run kills the stack. A timeout is not a fault, but increases the latency.
fn is_fault(outcome: AttemptOutcome, may_break_connections: bool) -> bool {
    match outcome {
        AttemptOutcome::Answered { status: 200..=299 | 409 | 429, .. } => false,
        AttemptOutcome::Answered { status, has_retry_after } => !(status == 503 && has_retry_after),
        AttemptOutcome::TimedOut => false,
        AttemptOutcome::NotConnected | AttemptOutcome::Lost => !may_break_connections,
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
        measured.count_attempt(RequestKind::Append, answered(503));
        measured.count_abandoned(RequestKind::Append);
        measured.count_attempt(RequestKind::Append, answered(200));
        measured.count_answer(RequestKind::Append, Some(Duration::from_millis(7)));
        measured.count_attempt(RequestKind::Load, answered(500));
        let counted = &measured.kinds()[&RequestKind::Append];
        assert_eq!(counted.attempts.values().sum::<u64>(), 3);
        assert_eq!((counted.answered, measured.answered_count()), (1, 1));
        assert!((6_990..=7_010).contains(&counted.latency_us.max()));
        assert_eq!(measured.faults(), ["load was answered: 500, Retry-After"]);
    }
}
