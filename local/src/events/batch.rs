//! What becomes of the records that were read: Lambda's rules for streams, without I/O.
//!
//! Records are handled in their order. A batch of which the function reports the first failure goes
//! on from that record; one of which nothing is known is split in two, down to the single record
//! that fails. What fails again and again is given up in the end, so that it never holds up the
//! others for ever: with a reported failure, everything behind it in its batch too.

use std::collections::VecDeque;

use serde_json::Value;

use super::mapping::Rules;

/// A record of a stream.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Record {
    /// Its place in the shard.
    pub(super) sequence_number: String,
    /// When it was written, Unix milliseconds.
    pub(super) created_ms: u64,
    /// The record as the function gets it.
    pub(super) event: Value,
}

/// Records that the function gets in one call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Batch {
    pub(super) records: Vec<Record>,
    /// How often the function was called with these very records.
    pub(super) calls: u32,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BatchOutcome {
    /// All records are done.
    Done,
    /// Those before this sequence number are done.
    FailedFrom(String),
    /// Nothing can be said of any record.
    Failed,
}

/// What to do after a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Next {
    /// Go on with the next batch.
    GoOn,
    /// Wait, then call again for the n-th time after the first.
    Retry(u32),
    /// The first batch is to be given up.
    GiveUp,
}

/// Why records are given up, in Lambda's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Condition {
    RetryAttemptsExhausted,
    RecordAgeExceeded,
}

/// What was read of a shard and is not done yet.
#[derive(Debug)]
pub(super) struct Pending {
    rules: Rules,
    batches: VecDeque<Batch>,
    done: Option<String>,
    read_to: String,
}

impl Pending {
    /// The records that passed the filters, of a read that went as far as `read_to`.
    pub(super) fn new(records: Vec<Record>, read_to: String, rules: Rules) -> Self {
        let mut batches = VecDeque::new();
        let mut records = records.into_iter().peekable();
        while records.peek().is_some() {
            let records = records.by_ref().take(rules.batch_size).collect();
            batches.push_back(Batch { records, calls: 0 });
        }
        Self { rules, batches, done: None, read_to }
    }

    /// The batch that is next.
    pub(super) fn first(&self) -> Option<&Batch> {
        self.batches.front()
    }

    /// How far the shard is done, if that is further than it was.
    pub(super) fn position(&self) -> Option<&str> {
        if self.batches.is_empty() { Some(&self.read_to) } else { self.done.as_deref() }
    }

    /// Puts the records at the front that are too old into a batch of their own. True if there
    /// are any: then the first batch is to be given up.
    pub(super) fn expire(&mut self, now_ms: u64) -> bool {
        let Some(age_ms) = self.rules.record_age_ms else { return false };
        let Some(first) = self.batches.front_mut() else { return false };
        let is_old = |record: &Record| now_ms.saturating_sub(record.created_ms) > age_ms;
        let old = first.records.iter().take_while(|record| is_old(record)).count();
        if old == 0 {
            return false;
        }
        let rest = first.records.split_off(old);
        if !rest.is_empty() {
            self.batches.insert(1, Batch { records: rest, calls: 0 });
        }
        true
    }

    /// The first batch is done, or given up for good.
    pub(super) fn finish_first(&mut self) {
        let done = self.batches.pop_front().and_then(|mut batch| batch.records.pop());
        self.done = done.map(|record| record.sequence_number).or(self.done.take());
    }

    /// Says what came of calling the function with the first batch.
    pub(super) fn called(&mut self, outcome: &BatchOutcome) -> Next {
        let Some(mut batch) = self.batches.pop_front() else { return Next::GoOn };
        batch.calls = batch.calls.saturating_add(1);
        let reported = match outcome {
            BatchOutcome::Done => Some(batch.records.len()),
            BatchOutcome::Failed => None,
            // A number that is none of the batch's says nothing about any of its records.
            BatchOutcome::FailedFrom(number) => {
                batch.records.iter().position(|record| record.sequence_number == *number)
            }
        };
        let failed_at = reported.unwrap_or(0);
        let rest = batch.records.split_off(failed_at);
        if let Some(last) = batch.records.pop() {
            self.done = Some(last.sequence_number);
            if !rest.is_empty() {
                // Progress: what is left is a batch that was not tried yet.
                self.batches.push_front(Batch { records: rest, calls: 0 });
            }
            return Next::GoOn;
        }
        batch.records = rest;
        // Lambda splits at the number that was reported: at the first record, that is nowhere.
        self.failed(batch, reported.is_none())
    }

    /// No record of the batch is done.
    fn failed(&mut self, mut batch: Batch, unknown: bool) -> Next {
        if self.rules.bisect && unknown && batch.records.len() > 1 {
            let second = batch.records.split_off(batch.records.len() / 2);
            self.batches.push_front(Batch { records: second, calls: 0 });
            self.batches.push_front(Batch { records: batch.records, calls: 0 });
            return Next::GoOn;
        }
        let calls = batch.calls;
        self.batches.push_front(batch);
        match self.rules.retries {
            Some(retries) if calls > retries => Next::GiveUp,
            _ => Next::Retry(calls),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules = Rules {
        batch_size: 8,
        bisect: true,
        reports_failures: true,
        retries: Some(2),
        record_age_ms: Some(1_000),
    };

    fn records(numbers: std::ops::Range<u64>) -> Vec<Record> {
        let record = |number: u64| Record {
            sequence_number: number.to_string(),
            created_ms: number,
            event: Value::Null,
        };
        numbers.map(record).collect()
    }

    fn numbers(batch: &Batch) -> Vec<&str> {
        batch.records.iter().map(|record| record.sequence_number.as_str()).collect()
    }

    /// Calls a function that fails where it must; gives each call, and what was given up.
    fn run(
        pending: &mut Pending,
        outcome: impl Fn(&[&str]) -> BatchOutcome,
    ) -> (Vec<Vec<String>>, Vec<String>) {
        let (mut calls, mut given_up) = (vec![], vec![]);
        while let Some(batch) = pending.first() {
            let batch = numbers(batch);
            let owned = || batch.iter().map(|number| (*number).to_owned());
            calls.push(owned().collect());
            assert!(calls.len() < 100, "it must end");
            let (outcome, batch) = (outcome(&batch), owned().collect::<Vec<_>>());
            if pending.called(&outcome) == Next::GiveUp {
                given_up.extend(batch);
                pending.finish_first();
            }
        }
        (calls, given_up)
    }

    #[test]
    fn batches_have_their_size_and_end_where_the_read_ended() {
        let mut pending = Pending::new(records(0..20), "99".to_owned(), RULES);
        assert_eq!(pending.position(), None);
        let (calls, given_up) = run(&mut pending, |_| BatchOutcome::Done);
        assert_eq!(calls.iter().map(Vec::len).collect::<Vec<_>>(), [8, 8, 4]);
        assert!(given_up.is_empty());
        assert_eq!(pending.position(), Some("99"));
    }

    #[test]
    fn a_read_without_matching_records_is_done_at_once() {
        let pending = Pending::new(vec![], "99".to_owned(), RULES);
        assert_eq!((pending.first(), pending.position()), (None, Some("99")));
    }

    #[test]
    fn a_record_that_fails_by_an_error_is_isolated_by_splitting() {
        let mut pending = Pending::new(records(0..8), "7".to_owned(), RULES);
        let (calls, given_up) = run(&mut pending, |batch| {
            if batch.contains(&"5") { BatchOutcome::Failed } else { BatchOutcome::Done }
        });
        assert_eq!(given_up, ["5"]);
        let lengths: Vec<_> = calls.iter().map(Vec::len).collect();
        // 0-7, 0-3, 4-7, 4-5, 4, then 5 three times, 6-7.
        assert_eq!(lengths, [8, 4, 4, 2, 1, 1, 1, 1, 2]);
    }

    #[test]
    fn a_reported_failure_goes_on_from_there() {
        let mut pending = Pending::new(records(0..8), "7".to_owned(), RULES);
        assert_eq!(pending.called(&BatchOutcome::FailedFrom("5".to_owned())), Next::GoOn);
        assert_eq!(pending.position(), Some("4"));
        assert_eq!(numbers(pending.first().unwrap()), ["5", "6", "7"]);
        let (calls, given_up) = run(&mut pending, |batch| {
            let bad = batch.iter().find(|number| **number == "5");
            bad.map_or(BatchOutcome::Done, |number| BatchOutcome::FailedFrom((*number).to_owned()))
        });
        // They are not split any more, and given up together.
        assert_eq!(calls, [["5", "6", "7"]; 3]);
        assert_eq!(given_up, ["5", "6", "7"]);
    }

    #[test]
    fn an_unknown_number_fails_the_whole_batch() {
        for number in ["", "77"] {
            let mut pending = Pending::new(records(0..2), "1".to_owned(), RULES);
            let _ = pending.called(&BatchOutcome::FailedFrom(number.to_owned()));
            assert_eq!(pending.position(), None);
            assert_eq!(numbers(pending.first().unwrap()), ["0"]);
        }
    }

    #[test]
    fn without_splitting_the_batch_is_tried_as_a_whole() {
        let rules = Rules { bisect: false, ..RULES };
        let mut pending = Pending::new(records(0..3), "2".to_owned(), rules);
        assert_eq!(pending.called(&BatchOutcome::Failed), Next::Retry(1));
        assert_eq!(pending.called(&BatchOutcome::Failed), Next::Retry(2));
        assert_eq!(pending.called(&BatchOutcome::Failed), Next::GiveUp);
        assert_eq!(pending.first().unwrap().records.len(), 3);
        pending.finish_first();
        assert_eq!(pending.position(), Some("2"));
        let endless = Rules { retries: None, bisect: false, ..RULES };
        let mut pending = Pending::new(records(0..1), "0".to_owned(), endless);
        for call in 1..50 {
            assert_eq!(pending.called(&BatchOutcome::Failed), Next::Retry(call));
        }
    }

    #[test]
    fn old_records_are_given_up_apart_from_the_others() {
        let mut pending = Pending::new(records(0..4), "3".to_owned(), RULES);
        assert!(!pending.expire(1_000), "the first is exactly as old as it may be");
        assert!(pending.expire(1_002));
        assert_eq!(numbers(pending.first().unwrap()), ["0", "1"]);
        pending.finish_first();
        assert_eq!(pending.position(), Some("1"));
        assert_eq!(numbers(pending.first().unwrap()), ["2", "3"]);
        let for_ever = Rules { record_age_ms: None, ..RULES };
        assert!(!Pending::new(records(0..1), "0".to_owned(), for_ever).expire(u64::MAX));
    }
}
