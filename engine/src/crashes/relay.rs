//! The relay: the stream repeats a batch from the first record that failed, or all of it if its function
//! died.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cellar_log::records::entry::encode;
use cellar_log::upkeep::LogPolicy;
use cellar_snapshot::relay::INSERT;

use super::driver::{Again, Driver, learn_tail};
use super::run::Crashes;
use super::stored::Stored;
use super::uploads::append_large;
use super::{FaultyPorts, at, edited, edits, log, set};
use crate::ports::{Blobs, NewBlob};
use crate::relay::{EntryChange, Relay};

/// A stream with a batch.
struct Stream {
    changes: Vec<EntryChange>,
}

/// What the Entry table's stream tells of all that is in it.
pub(super) fn changes(ports: &FaultyPorts) -> Vec<EntryChange> {
    let change = |(number, entry): (usize, _)| EntryChange {
        sequence_number: number.to_string(),
        name: INSERT.to_owned(),
        image: encode(&entry).unwrap(),
    };
    Stored::read(ports).entries.into_values().enumerate().map(change).collect()
}

/// A relay that knows nothing.
pub(super) fn relay(ports: &Arc<FaultyPorts>) -> Relay {
    let objects: Arc<dyn Blobs> = Arc::clone(ports) as _;
    Relay::new(Arc::clone(ports) as _, Arc::new(objects))
}

/// Has every upload disappear by itself, as before its entry was relayed.
pub(super) async fn tag_uploads(ports: &FaultyPorts) {
    for (key, (bytes, _)) in ports.blobs.everything() {
        let sha256 = crate::sha256::sha256(&bytes);
        let (content_type, content_encoding, pending) = (None, None, true);
        let key = crate::ports::BlobKey::new(key).unwrap();
        let blob = NewBlob { key, bytes, sha256, content_type, content_encoding, pending };
        ports.blobs.put(blob).await.unwrap();
    }
}

impl Driver for Stream {
    type Process = Relay;
    /// Where in the batch the stream is.
    type Caller = AtomicUsize;
    type Answer = ();

    fn process(&self, ports: &Arc<FaultyPorts>) -> Relay {
        relay(ports)
    }

    async fn step(&self, relay: &Relay, from: &AtomicUsize, _: usize) -> Result<(), Again> {
        let rest = &self.changes[from.load(Ordering::SeqCst)..];
        let Some(failed) = relay.relay_batch(rest).await else { return Ok(()) };
        let number = self.changes.iter().position(|change| change.sequence_number == failed);
        from.fetch_max(number.unwrap(), Ordering::SeqCst);
        Err(Again(failed))
    }
}

/// Edits, Snapshot entries and an upload that nobody has been told of.
async fn stream() -> Crashes<Stream> {
    let before = edited(2).await;
    let logs = before.logs();
    let policy = LogPolicy { snapshot_entries: 1, ..LogPolicy::default() };
    for id in 3..6 {
        learn_tail(&logs, log()).await.unwrap();
        logs.upkeep(log(), &policy).await.unwrap();
        logs.append(edits(log(), 9, id, at(0, 1), vec![set(3, "more")])).await.unwrap();
    }
    append_large(&before).await;
    tag_uploads(&before).await;
    before.trouble.take_requests();
    let changes = changes(&before);
    Crashes::of(Stream { changes }, before).await
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
