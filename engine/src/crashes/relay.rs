//! Scenario for the relay. The change stream retries a batch from the first failed record, or the
//! whole batch if the function died.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cellar_log::upkeep::LogPolicy;

use super::relayed::{entry_changes, relay};
use super::run::Crashes;
use super::scenario::{Retry, Scenario, cache_tail};
use super::uploads::append_large;
use super::{FaultyPorts, at, edited, edits, log, set};
use crate::ports::{Blobs as _, NewBlob};
use crate::relay::{EntryChange, Relay};

/// A change stream that delivers one batch.
struct Stream {
    changes: Vec<EntryChange>,
}

/// Sets the `pending` tag of every upload, as if no entry had been relayed yet.
pub(super) async fn tag_uploads(ports: &FaultyPorts) {
    for (key, (bytes, _)) in ports.blobs.contents() {
        let sha256 = crate::sha256::sha256(&bytes);
        let (content_type, content_encoding, pending) = (None, None, true);
        let key = crate::ports::BlobKey::new(key).unwrap();
        let blob = NewBlob { key, bytes, sha256, content_type, content_encoding, pending };
        ports.blobs.put(blob).await.unwrap();
    }
}

impl Scenario for Stream {
    type Process = Relay;
    /// Index of the record at which the batch is retried.
    type Caller = AtomicUsize;
    type Answer = ();

    fn process(&self, ports: &Arc<FaultyPorts>) -> Relay {
        relay(ports)
    }

    async fn step(&self, relay: &Relay, from: &AtomicUsize, _: usize) -> Result<(), Retry> {
        let rest = &self.changes[from.load(Ordering::SeqCst)..];
        let Some(failed) = relay.relay_batch(rest).await else { return Ok(()) };
        let number = self.changes.iter().position(|change| change.sequence_number == failed);
        from.fetch_max(number.unwrap(), Ordering::SeqCst);
        Err(Retry(failed))
    }
}

/// Creates edits, Snapshot entries and an upload that have not been relayed yet.
async fn stream() -> Crashes<Stream> {
    let before = edited(2).await;
    let logs = before.logs();
    let policy = LogPolicy { snapshot_entries: 1, ..LogPolicy::default() };
    for id in 3..6 {
        cache_tail(&logs, log()).await.unwrap();
        logs.upkeep(log(), &policy).await.unwrap();
        logs.append(edits(log(), 9, id, at(0, 1), vec![set(3, "more")])).await.unwrap();
    }
    append_large(&before).await;
    tag_uploads(&before).await;
    before.faults.take_requests();
    let changes = entry_changes(&before);
    Crashes::new(Stream { changes }, before).await
}

#[tokio::test]
async fn a_batch_survives() {
    let crashes = stream().await;
    assert_eq!(crashes.requests(), 4, "three jobs and a tag");
    assert_eq!(crashes.stored().messages.len(), 3);
    assert!(crashes.stored().objects.values().all(|(_, pending)| !pending));
    crashes.at_each_request().await;
}

#[tokio::test]
#[ignore = "minutes: the long run"]
async fn long_batches_survive_whatever_two_requests_fail() {
    stream().await.at_any_two_requests().await;
}
