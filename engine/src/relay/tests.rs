use std::sync::Mutex;

use async_trait::async_trait;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_base::record::Attribute;
use cellar_base::table_attributes::{EXTERNAL, TYPE};
use cellar_log::entry::Entry;
use cellar_log::records::entry::{EDITS, encode};
use cellar_snapshot::relay::INSERT;
use cellar_snapshot::snapshot_job::SnapshotJob;

use super::*;
use crate::memory::{ManualClock, MemoryPendingTags, MemoryQueue};
use crate::ports::{QueueRules, Receipt, Received};

fn log() -> LogId {
    LogId::derive(&cellar_base::identity::SubjectKey::new("relay", "test"), "log").unwrap()
}

fn snapshot(num: u32) -> EntryChange {
    let position = Position::new(1, num).unwrap();
    let entry = Entry { position, ..Entry::first(log(), None, 1_795_246_133) };
    let image = encode(&entry).unwrap();
    EntryChange { sequence_number: format!("{num}"), name: INSERT.to_owned(), image }
}

fn external(num: u32, key: &str) -> EntryChange {
    let mut change = snapshot(num);
    change.image.insert(TYPE.to_owned(), Attribute::Text(EDITS.to_owned()));
    change.image.insert(EXTERNAL.to_owned(), Attribute::Text(key.to_owned()));
    change
}

fn queue() -> Arc<MemoryQueue> {
    Arc::new(MemoryQueue::new(Arc::new(ManualClock::at(1)), QueueRules::LONGEST))
}

async fn nums(queue: &MemoryQueue) -> Vec<u32> {
    let received = queue.receive(10, 0).await.unwrap();
    let jobs = received.iter().map(|message| SnapshotJob::decode(&message.body).unwrap());
    jobs.inspect(|job| assert_eq!(job.log, log())).map(|job| job.position.entry_number()).collect()
}

/// A queue that accepts a limited number of messages. All later sends fail.
struct Failing {
    left: Mutex<u32>,
    error: PortError,
    tries: Mutex<u32>,
    sent: Mutex<Vec<String>>,
}

impl Failing {
    fn after(messages: u32, error: PortError) -> Arc<Self> {
        let left = Mutex::new(messages);
        Arc::new(Self { left, error, tries: Mutex::default(), sent: Mutex::default() })
    }
}

#[async_trait]
impl Jobs for Failing {
    async fn send(&self, body: &str) -> Result<(), PortError> {
        *self.tries.lock().unwrap() += 1;
        let mut left = self.left.lock().unwrap();
        if *left == 0 {
            return Err(self.error.clone());
        }
        *left -= 1;
        self.sent.lock().unwrap().push(body.to_owned());
        Ok(())
    }
    async fn receive(&self, _: u8, _: u32) -> Result<Vec<Received>, PortError> {
        Ok(vec![])
    }
    async fn change_visibility(&self, _: &Receipt, _: u32) -> Result<bool, PortError> {
        Ok(false)
    }
    async fn delete(&self, _: &Receipt) -> Result<(), PortError> {
        Ok(())
    }
}

#[tokio::test]
async fn snapshots_become_jobs_and_uploads_stay() {
    let (queue, tags) = (queue(), Arc::new(MemoryPendingTags::default()));
    tags.upload("uploads/a/b");
    let relay = Relay::new(queue.clone(), tags.clone());
    let batch = [snapshot(0), external(1, "uploads/a/b"), snapshot(2)];
    assert_eq!(relay.relay_batch(&batch).await, RelayedBatch::default());
    assert_eq!(nums(&queue).await, [0, 2]);
    assert_eq!(tags.is_pending("uploads/a/b"), Some(false));
    // If the batch is relayed again, the same jobs are sent again and workers ignore them. The tag
    // stays removed.
    assert_eq!(relay.relay_batch(&batch).await, RelayedBatch::default());
    assert_eq!(tags.is_pending("uploads/a/b"), Some(false));
}

fn dead_numbers(relayed: &RelayedBatch) -> Vec<&str> {
    relayed.dead_letters.iter().map(|letter| letter.sequence_number.as_str()).collect()
}

#[tokio::test]
async fn records_that_cannot_be_relayed_do_not_stop_the_batch() {
    let mut poisoned = snapshot(1);
    poisoned.image.remove(TYPE);
    for bad in [poisoned, external(1, "uploads/a/gone"), external(1, "elsewhere")] {
        let queue = queue();
        let relay = Relay::new(queue.clone(), Arc::new(MemoryPendingTags::default()));
        let batch = [snapshot(0), bad.clone(), snapshot(2), bad, snapshot(3)];
        let relayed = relay.relay_batch(&batch).await;
        assert_eq!((dead_numbers(&relayed), relayed.retry_from.as_deref()), (vec!["1", "1"], None));
        assert_eq!(nums(&queue).await, [0, 2, 3]);
    }
}

#[tokio::test]
async fn a_failed_request_stops_the_batch() {
    for error in [PortError::temporary("down"), PortError::permanent("forbidden")] {
        let jobs = Failing::after(1, error);
        let relay = Relay::new(jobs.clone(), Arc::new(MemoryPendingTags::default()));
        let batch = [external(4, "uploads/a/gone"), snapshot(0), snapshot(1), snapshot(2)];
        let relayed = relay.relay_batch(&batch).await;
        assert_eq!((dead_numbers(&relayed), relayed.retry_from.as_deref()), (vec!["4"], Some("1")));
        assert_eq!(jobs.sent.lock().unwrap().len(), 1);
        assert_eq!(*jobs.tries.lock().unwrap(), 2, "the third was not tried");
        *jobs.left.lock().unwrap() = 9;
        let resumed = relay.relay_batch(&batch[2..]).await;
        assert_eq!(resumed, RelayedBatch::default(), "and resumes later from there");
        assert_eq!(jobs.sent.lock().unwrap().len(), 3);
    }
}
