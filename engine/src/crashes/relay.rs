//! Fault injection scenario for the relay. If a record fails, the change stream retries the batch
//! from that record on. If the function dies, the change stream retries the whole batch.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cellar_log::upkeep::LogPolicy;

use super::relayed::{entry_changes, relay};
use super::run::Crashes;
use super::scenario::{Retry, Scenario, cache_tail};
use super::uploads::append_large;
use super::{FaultyPorts, at, edit_request, log, ports_with_edits, set_text};
use crate::ports::{Blobs as _, NewBlob};
use crate::relay::{EntryChange, Relay};

struct ChangeStream {
    changes: Vec<EntryChange>,
}

/// Sets the `pending` tag of every upload, as if the relay had not processed any entry.
pub(super) async fn tag_uploads(ports: &FaultyPorts) {
    for (key, (bytes, _)) in ports.blobs.contents() {
        let sha256 = crate::sha256::sha256(&bytes);
        let (content_type, content_encoding, pending) = (None, None, true);
        let key = crate::ports::BlobKey::new(key).unwrap();
        let blob = NewBlob { key, bytes, sha256, content_type, content_encoding, pending };
        ports.blobs.put(blob).await.unwrap();
    }
}

impl Scenario for ChangeStream {
    type Process = Relay;
    /// Index of the record from which the change stream retries the batch.
    type Caller = AtomicUsize;
    type Answer = ();

    fn start_process(&self, ports: &Arc<FaultyPorts>) -> Relay {
        relay(ports)
    }

    async fn step(&self, relay: &Relay, next_index: &AtomicUsize, _: usize) -> Result<(), Retry> {
        let remaining_changes = &self.changes[next_index.load(Ordering::SeqCst)..];
        let relayed = relay.relay_batch(remaining_changes).await;
        assert_eq!(relayed.dead_letters, []);
        let Some(failed_number) = relayed.retry_from else { return Ok(()) };
        let is_failed = |change: &EntryChange| change.sequence_number == failed_number;
        let failed_index = self.changes.iter().position(is_failed).unwrap();
        next_index.fetch_max(failed_index, Ordering::SeqCst);
        Err(Retry(failed_number))
    }
}

async fn prepare_change_stream() -> Crashes<ChangeStream> {
    let ports = ports_with_edits(2).await;
    let logs = ports.logs();
    let policy = LogPolicy { snapshot_entries: 1, ..LogPolicy::default() };
    for id in 3..6 {
        cache_tail(&logs, log()).await.unwrap();
        logs.upkeep(log(), &policy).await.unwrap();
        let request = edit_request(log(), 9, id, at(0, 1), vec![set_text(3, "more")]);
        logs.append(request).await.unwrap();
    }
    append_large(&ports).await;
    tag_uploads(&ports).await;
    ports.faults.take_request_count();
    let changes = entry_changes(&ports);
    Crashes::new(ChangeStream { changes }, ports).await
}

#[tokio::test]
async fn a_batch_survives() {
    let crashes = prepare_change_stream().await;
    assert_eq!(crashes.requests(), 4, "three jobs and a tag");
    assert_eq!(crashes.stored().messages.len(), 3);
    assert!(crashes.stored().objects.values().all(|(_, pending)| !pending));
    crashes.inject_each_fault().await;
}

#[tokio::test]
#[ignore = "minutes: the long run"]
async fn long_batches_survive_whatever_two_requests_fail() {
    prepare_change_stream().await.inject_each_pair_of_faults().await;
}
