//! Lambda's rules for dividing stream records into batches and for retrying failed batches. This
//! module performs no I/O.
//!
//! Records are processed in order. A function can fail in two ways. If its response contains the
//! sequence number of the first failed record, processing resumes from that record. Otherwise, the
//! batch is split in half, repeatedly if necessary, until only the failing record remains.
//!
//! A batch that keeps failing is discarded, so that it does not block later records. If the
//! function reported the failed record, that record and all later records of the batch are
//! discarded.

use std::collections::VecDeque;

use serde_json::Value;

use super::mapping::Rules;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Record {
    /// The record's sequence number, which determines its order in the shard.
    pub(super) sequence_number: String,
    pub(super) created_ms: u64,
    /// The record as it appears in the JSON event that the function receives.
    pub(super) event: Value,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Batch {
    pub(super) records: Vec<Record>,
    /// Number of times that the function was invoked with exactly these records.
    pub(super) invocations: u32,
}

impl Batch {
    fn not_invoked(records: Vec<Record>) -> Self {
        Self { records, invocations: 0 }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BatchOutcome {
    Done,
    /// The function processed all records before the record with this sequence number, which
    /// failed.
    FailedFrom(String),
    /// The function failed without reporting which record failed, so none of the records counts as
    /// processed.
    Failed,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AfterInvocation {
    Continue,
    /// Invoke the function again with the same batch after a backoff. Contains the number of
    /// invocations with this batch so far.
    Retry(u32),
    Discard,
}

/// The variants have the same names as in Lambda.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DiscardReason {
    RetryAttemptsExhausted,
    RecordAgeExceeded,
}

#[derive(Debug)]
pub(super) struct PendingRecords {
    rules: Rules,
    batches: VecDeque<Batch>,
    last_processed: Option<String>,
    /// Sequence number of the last record read, including records that the filters rejected.
    last_read: String,
}

impl PendingRecords {
    /// Divides records into batches. `records` contains only the records that passed the filters.
    /// `last_read` is the sequence number of the last record read, even if it did not pass the
    /// filters.
    pub(super) fn new(records: Vec<Record>, last_read: String, rules: Rules) -> Self {
        let mut batches = VecDeque::new();
        let mut unbatched_records = records;
        while unbatched_records.len() > rules.batch_size {
            let later_records = unbatched_records.split_off(rules.batch_size);
            batches.push_back(Batch::not_invoked(unbatched_records));
            unbatched_records = later_records;
        }
        if !unbatched_records.is_empty() {
            batches.push_back(Batch::not_invoked(unbatched_records));
        }
        Self { rules, batches, last_processed: None, last_read }
    }

    pub(super) fn first_batch(&self) -> Option<&Batch> {
        self.batches.front()
    }

    /// Returns the sequence number up to which all records of the shard have been processed.
    /// Returns `None` if no record has been processed yet.
    pub(super) fn position(&self) -> Option<&str> {
        if self.batches.is_empty() { Some(&self.last_read) } else { self.last_processed.as_deref() }
    }

    /// Returns the number of records at the start of the first batch that have expired at `now_ms`
    /// (milliseconds since the Unix epoch).
    pub(super) fn expired_count(&self, now_ms: u64) -> usize {
        let Some(max_age_ms) = self.rules.max_record_age_ms else { return 0 };
        let Some(first_batch) = self.batches.front() else { return 0 };
        let is_expired = |record: &Record| now_ms.saturating_sub(record.created_ms) > max_age_ms;
        first_batch.records.iter().take_while(|record| is_expired(record)).count()
    }

    /// The other records of the batch become the second batch.
    pub(super) fn split_first_batch(&mut self, record_count: usize) {
        let Some(first_batch) = self.batches.front_mut() else { return };
        let other_records = first_batch.records.split_off(record_count);
        if !other_records.is_empty() {
            self.batches.insert(1, Batch::not_invoked(other_records));
        }
    }

    pub(super) fn finish_first_batch(&mut self) {
        if let Some(batch) = self.batches.pop_front() {
            let record_count = batch.records.len();
            self.finish_records(batch, record_count);
        }
    }

    pub(super) fn apply_outcome(&mut self, outcome: &BatchOutcome) -> AfterInvocation {
        let Some(mut batch) = self.batches.pop_front() else { return AfterInvocation::Continue };
        batch.invocations = batch.invocations.saturating_add(1);
        let processed_count = match outcome {
            BatchOutcome::Done => Some(batch.records.len()),
            BatchOutcome::Failed => None,
            // If the function reported a record that is not in the batch, its response is treated
            // as if it had not reported a record.
            BatchOutcome::FailedFrom(failed_number) => {
                batch.records.iter().position(|record| record.sequence_number == *failed_number)
            }
        };
        match processed_count {
            // Like Lambda, do not split a batch if the function reported its first record as
            // failed.
            Some(0) => self.retry_or_discard(batch),
            Some(processed_count) => {
                self.finish_records(batch, processed_count);
                AfterInvocation::Continue
            }
            None if self.rules.bisect && batch.records.len() > 1 => {
                self.split_in_halves(batch);
                AfterInvocation::Continue
            }
            None => self.retry_or_discard(batch),
        }
    }

    /// The remaining records become the first pending batch.
    fn finish_records(&mut self, mut batch: Batch, finished_count: usize) {
        let remaining_records = batch.records.split_off(finished_count);
        if let Some(last_record) = batch.records.pop() {
            self.last_processed = Some(last_record.sequence_number);
        }
        if !remaining_records.is_empty() {
            self.batches.push_front(Batch::not_invoked(remaining_records));
        }
    }

    fn split_in_halves(&mut self, mut batch: Batch) {
        let second_half = batch.records.split_off(batch.records.len() / 2);
        self.batches.push_front(Batch::not_invoked(second_half));
        self.batches.push_front(Batch::not_invoked(batch.records));
    }

    fn retry_or_discard(&mut self, batch: Batch) -> AfterInvocation {
        let invocations = batch.invocations;
        self.batches.push_front(batch);
        match self.rules.max_retries {
            Some(max_retries) if invocations > max_retries => AfterInvocation::Discard,
            _ => AfterInvocation::Retry(invocations),
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
        max_retries: Some(2),
        max_record_age_ms: Some(1_000),
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

    /// Invokes a function until no records are left. Returns the records of each invocation and the
    /// discarded records.
    fn run(
        pending: &mut PendingRecords,
        outcome: impl Fn(&[&str]) -> BatchOutcome,
    ) -> (Vec<Vec<String>>, Vec<String>) {
        let (mut invocations, mut given_up) = (vec![], vec![]);
        while let Some(batch) = pending.first_batch() {
            let batch = numbers(batch);
            let owned = || batch.iter().map(|number| (*number).to_owned());
            invocations.push(owned().collect());
            assert!(invocations.len() < 100, "endless loop");
            let (outcome, batch) = (outcome(&batch), owned().collect::<Vec<_>>());
            if pending.apply_outcome(&outcome) == AfterInvocation::Discard {
                given_up.extend(batch);
                pending.finish_first_batch();
            }
        }
        (invocations, given_up)
    }

    #[test]
    fn divides_records_into_batches_and_ends_at_the_read_position() {
        let mut pending = PendingRecords::new(records(0..20), "99".to_owned(), RULES);
        assert_eq!(pending.position(), None);
        let (invocations, given_up) = run(&mut pending, |_| BatchOutcome::Done);
        assert_eq!(invocations.iter().map(Vec::len).collect::<Vec<_>>(), [8, 8, 4]);
        assert!(given_up.is_empty());
        assert_eq!(pending.position(), Some("99"));
    }

    #[test]
    fn a_read_without_matching_records_needs_no_invocation() {
        let pending = PendingRecords::new(vec![], "99".to_owned(), RULES);
        assert_eq!((pending.first_batch(), pending.position()), (None, Some("99")));
    }

    #[test]
    fn splitting_isolates_a_failing_record() {
        let mut pending = PendingRecords::new(records(0..8), "7".to_owned(), RULES);
        let (invocations, given_up) = run(&mut pending, |batch| {
            if batch.contains(&"5") { BatchOutcome::Failed } else { BatchOutcome::Done }
        });
        assert_eq!(given_up, ["5"]);
        let lengths: Vec<_> = invocations.iter().map(Vec::len).collect();
        // Expected records per invocation: 0-7, 0-3, 4-7, 4-5, 4, three times 5, 6-7.
        assert_eq!(lengths, [8, 4, 4, 2, 1, 1, 1, 1, 2]);
    }

    #[test]
    fn continues_from_a_reported_failure() {
        let mut pending = PendingRecords::new(records(0..8), "7".to_owned(), RULES);
        let after = pending.apply_outcome(&BatchOutcome::FailedFrom("5".to_owned()));
        assert_eq!(after, AfterInvocation::Continue);
        assert_eq!(pending.position(), Some("4"));
        assert_eq!(numbers(pending.first_batch().unwrap()), ["5", "6", "7"]);
        let (invocations, given_up) = run(&mut pending, |batch| {
            let bad = batch.iter().find(|number| **number == "5");
            bad.map_or(BatchOutcome::Done, |number| BatchOutcome::FailedFrom((*number).to_owned()))
        });
        // The batch is not split any further and is discarded as a whole.
        assert_eq!(invocations, [["5", "6", "7"]; 3]);
        assert_eq!(given_up, ["5", "6", "7"]);
    }

    #[test]
    fn an_unknown_sequence_number_fails_the_whole_batch() {
        for number in ["", "77"] {
            let mut pending = PendingRecords::new(records(0..2), "1".to_owned(), RULES);
            let _ = pending.apply_outcome(&BatchOutcome::FailedFrom(number.to_owned()));
            assert_eq!(pending.position(), None);
            assert_eq!(numbers(pending.first_batch().unwrap()), ["0"]);
        }
    }

    #[test]
    fn retries_the_whole_batch_without_bisection() {
        let rules = Rules { bisect: false, ..RULES };
        let mut pending = PendingRecords::new(records(0..3), "2".to_owned(), rules);
        for after in
            [AfterInvocation::Retry(1), AfterInvocation::Retry(2), AfterInvocation::Discard]
        {
            assert_eq!(pending.apply_outcome(&BatchOutcome::Failed), after);
        }
        assert_eq!(pending.first_batch().unwrap().records.len(), 3);
        pending.finish_first_batch();
        assert_eq!(pending.position(), Some("2"));
        let endless = Rules { max_retries: None, bisect: false, ..RULES };
        let mut pending = PendingRecords::new(records(0..1), "0".to_owned(), endless);
        for invocations in 1..50 {
            let after = pending.apply_outcome(&BatchOutcome::Failed);
            assert_eq!(after, AfterInvocation::Retry(invocations));
        }
    }

    #[test]
    fn splits_off_expired_records() {
        let mut pending = PendingRecords::new(records(0..4), "3".to_owned(), RULES);
        assert_eq!(pending.expired_count(1_000), 0, "the first has exactly the maximum age");
        assert_eq!(pending.expired_count(1_002), 2);
        pending.split_first_batch(2);
        assert_eq!(numbers(pending.first_batch().unwrap()), ["0", "1"]);
        pending.finish_first_batch();
        assert_eq!(pending.position(), Some("1"));
        assert_eq!(numbers(pending.first_batch().unwrap()), ["2", "3"]);
        let unlimited = Rules { max_record_age_ms: None, ..RULES };
        let pending = PendingRecords::new(records(0..1), "0".to_owned(), unlimited);
        assert_eq!(pending.expired_count(u64::MAX), 0);
    }
}
