//! Tests which objects of a fork family are deleted and which are retained.

use async_trait::async_trait;
use bytes::Bytes;
use cellar_base::identity::ClientKey;
use cellar_log::retention::Policy;
use cellar_snapshot::keys::{chunk_key, staged_chunk_key};

use super::*;
use crate::crashes::{
    Fault, FaultyPorts, at, edit_request, handle_queued_jobs, log, ports_with_edits, set_text,
};
use crate::logs::tests::everything;
use crate::logs::tests::imports::{DEEP, FLAT, Sheet};
use crate::logs::{CellsQuery, ImportFault, NewFork, NewMerge, SheetName};
use crate::ports::{Entries as _, Jobs as _, NewBlob, Segments as _, VersionPage};
use crate::retention::Offloader;
use crate::sha256::sha256;

/// Client that imports sheets.
const CLIENT: ClientKey = ClientKey([5; 8]);
const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

fn fork() -> LogId {
    let subject = cellar_base::identity::SubjectKey::new("garbage", "alice");
    LogId::derive_fork(&subject, log(), "fork").unwrap()
}

fn blob(key: String, bytes: Bytes) -> NewBlob {
    let (key, sha256) = (BlobKey::new(key).unwrap(), sha256(&bytes));
    NewBlob { key, bytes, sha256, content_type: None, content_encoding: None, pending: false }
}

async fn import(ports: &Arc<FaultyPorts>, to: LogId, sheet: &Sheet, id: u64, base: Position) {
    for object in sheet.objects() {
        let stored = Bytes::from(object.stored.clone());
        ports.blobs.put(blob(chunk_key(log(), object.chunk.hash), stored)).await.unwrap();
    }
    let state = ports.logs().workbook(to, None, Some(base)).await.unwrap();
    let number = state.workbook.tabs().next_sheet();
    let request = edit_request(to, 5, id, base, vec![sheet.operation_for(number)]);
    let appended = ports.logs().append(request).await.unwrap();
    assert_eq!(appended.results[0].rejection, None);
}

/// Starts a segment and builds the snapshot at its first entry.
async fn roll(ports: &Arc<FaultyPorts>, log: LogId) {
    let (logs, loaded) = (ports.logs(), ports.logs().load(log, None).await.unwrap());
    let last = Arc::clone(loaded.entries.last().unwrap());
    let (before, segment) = (at(last.position.segment(), 0), last.position.segment() + 1);
    ports.tables.raise_last_snapshot(log, before).await.unwrap();
    logs.roll(last).await.unwrap();
    snapshot(ports, log, segment).await;
}

async fn snapshot(ports: &Arc<FaultyPorts>, log: LogId, segment: u32) {
    let job = SnapshotJob { log, position: at(segment, 0) };
    ports.queue.send(&job.encode()).await.unwrap();
    handle_queued_jobs(&ports.workers(), ports).await;
}

/// Creates a log with long texts and imports. One import is newer than the last snapshot. If
/// requested, also forks the log and adds imports and texts to the fork, some of which are equal to
/// those of the log.
async fn world(is_forked: bool) -> Arc<FaultyPorts> {
    let ports = ports_with_edits(4).await;
    let logs = ports.logs();
    import(&ports, log(), &Sheet::new(3, 4, DEEP), 1, at(0, 4)).await;
    let long = |text: &str| set_text(1, &text.repeat(2_000));
    logs.append(edit_request(log(), 6, 1, at(0, 5), vec![long("of the log")])).await.unwrap();
    roll(&ports, log()).await;
    import(&ports, log(), &Sheet::new(2, 3, FLAT), 2, at(1, 0)).await;
    if is_forked {
        let new = NewFork { log: fork(), source: log(), at: Some(at(1, 0)), author: None };
        logs.fork(new).await.unwrap();
        snapshot(&ports, fork(), 2).await;
        import(&ports, fork(), &Sheet::new(4, 5, DEEP), 1, at(1, 0)).await;
        logs.append(edit_request(fork(), 6, 1, at(2, 1), vec![long("of the fork")])).await.unwrap();
        logs.append(edit_request(fork(), 6, 2, at(2, 2), vec![long("of the log")])).await.unwrap();
        roll(&ports, fork()).await;
        import(&ports, fork(), &Sheet::new(5, 1, FLAT), 2, at(3, 0)).await;
    }
    ports.clock.advance_ms(30 * DAY_MS);
    ports
}

fn collector(ports: &Arc<FaultyPorts>, versions: Arc<dyn BlobVersions>) -> GarbageCollector {
    GarbageCollector::new(GarbagePorts {
        logs: Arc::new(ports.logs()),
        pending: Some(Arc::clone(ports) as _),
        blobs: Arc::clone(ports) as _,
        versions,
        clock: Arc::clone(&ports.clock) as _,
    })
}

async fn collect(
    ports: &Arc<FaultyPorts>,
    logs: &[LogId],
) -> Result<CollectedGarbage, GarbageError> {
    let needed = logs.iter().map(|log| Needed { log: *log, is_due: false });
    let collector = collector(ports, Arc::clone(ports) as _);
    collector.collect(log(), &needed.collect::<Vec<_>>()).await
}

#[tokio::test]
async fn only_objects_that_only_the_fork_used_are_collected() {
    let (alone, forked) = (world(false).await, world(true).await);
    let before = (alone.blobs.contents().len(), forked.blobs.contents().len());
    assert!(before.1 > before.0 + 20, "{before:?}");
    // If both logs are needed, only the roots of intermediate snapshots are garbage.
    let both = collect(&forked, &[log(), fork()]).await.unwrap();
    assert!(both.objects < 10, "{both:?}");
    assert_eq!(collect(&forked, &[log(), fork()]).await.unwrap(), CollectedGarbage::default());
    let of_fork = collect(&forked, &[log()]).await.unwrap();
    assert!(of_fork.objects > 20 && of_fork.bytes > 1_000, "{of_fork:?}");
    collect(&alone, &[log()]).await.unwrap();
    assert_eq!(forked.blobs.contents(), alone.blobs.contents());
}

#[tokio::test]
async fn a_sheet_that_was_imported_into_the_fork_stays_if_it_was_merged() {
    let ports = world(true).await;
    let merge = NewMerge { log: log(), fork: fork(), through: None, by: Some("alice".into()) };
    let merged = ports.logs().merge(&merge).await.unwrap();
    assert_eq!((merged.remaining, merged.edits.len()), (0, 4));
    roll(&ports, log()).await;
    ports.clock.advance_ms(30 * DAY_MS);
    let logs = ports.logs();
    let state = logs.workbook(log(), None, None).await.unwrap();
    let sheets = state.workbook.tabs().order().to_vec();
    assert_eq!(sheets.len(), 5, "one typed and four imported sheets");
    let read_all = async || {
        let mut read = Vec::new();
        for sheet in &sheets {
            let query = CellsQuery { sheet: SheetName::Number(*sheet), ..everything(None) };
            read.push(ports.logs().cells(log(), &query).await.unwrap().cells);
        }
        read
    };
    let before = read_all().await;
    assert!(before.iter().all(|cells| !cells.is_empty()));
    assert!(collect(&ports, &[log()]).await.unwrap().objects > 0, "roots of the fork");
    assert_eq!(read_all().await, before);
}

#[tokio::test]
async fn the_root_of_a_trimmed_segments_first_entry_stays() {
    let ports = world(true).await;
    for _ in 0..2 {
        roll(&ports, log()).await;
    }
    ports.clock.advance_ms(2 * DAY_MS);
    let (entries, retention) = (Arc::clone(&ports) as _, Arc::clone(&ports) as _);
    let clock = Arc::clone(&ports.clock) as _;
    let offloader = Offloader::new(entries, retention, Arc::clone(&ports) as _, clock);
    let (policy, mut planned) = (Policy { offload_after_days: 0, keep_segments: 0 }, Vec::new());
    offloader.plan_all_logs(policy, |segment| planned.push(segment)).await.unwrap();
    for segment in planned.iter().filter(|planned| planned.segment.log == log()) {
        offloader.execute(segment).await.unwrap();
    }
    // Rebuild the snapshot after its segment is offloaded and before the segment is trimmed. The
    // rebuilt snapshot has a different root.
    let logs = ports.logs();
    let offloaded = logs.root_at(log(), at(1, 0)).await.unwrap();
    let other = logs.root_at(fork(), at(3, 0)).await.unwrap().unwrap();
    ports.tables.replace_root(log(), at(1, 0), offloaded.as_deref(), &other).await.unwrap();
    ports.clock.advance_ms(30 * DAY_MS);
    assert!(collect(&ports, &[log()]).await.unwrap().objects > 0);
    assert_eq!(ports.logs().root_at(log(), at(1, 0)).await.unwrap().as_ref(), Some(&other));
    assert!(ports.blobs.contents().contains_key(&other));
    assert!(
        ports.blobs.contents().contains_key(&offloaded.unwrap()),
        "the offloaded segment names it"
    );
    assert_eq!(collect(&ports, &[log()]).await.unwrap(), CollectedGarbage::default());
}

/// An object store that writes all objects again after each listing.
struct Rewritten(Arc<FaultyPorts>);

#[async_trait]
impl BlobVersions for Rewritten {
    async fn list_versions(
        &self,
        prefix: &str,
        after: Option<&VersionMarker>,
    ) -> Result<VersionPage, PortError> {
        let page = self.0.blobs.list_versions(prefix, after).await;
        for (key, (bytes, _)) in self.0.blobs.contents() {
            self.0.blobs.put(blob(key, bytes)).await?;
        }
        page
    }

    async fn delete_version(&self, key: &BlobKey, version: &str) -> Result<(), PortError> {
        self.0.blobs.delete_version(key, version).await
    }
}

#[tokio::test]
async fn rewritten_objects_stay() {
    let ports = world(true).await;
    let before = ports.blobs.contents();
    let collector = collector(&ports, Arc::new(Rewritten(Arc::clone(&ports))));
    let needed = [Needed { log: log(), is_due: false }];
    let collected = collector.collect(log(), &needed).await.unwrap();
    assert!(collected.objects > 20, "the listed versions are deleted: {collected:?}");
    assert_eq!(ports.blobs.contents(), before);
}

#[tokio::test]
async fn nothing_is_deleted_if_a_needed_object_cannot_be_read() {
    let before = world(true).await;
    collect(&before, &[log(), fork()]).await.unwrap();
    let clean = before.copied(vec![]);
    collect(&clean, &[log()]).await.unwrap();
    let in_use = clean.blobs.contents();
    let mut refused = 0;
    for key in in_use.keys().filter(|key| key.starts_with(SHEETS_PREFIX)) {
        for damaged in [None, Some(Bytes::from_static(b"damaged"))] {
            let ports = before.copied(vec![]);
            let at = BlobKey::new(key.clone()).unwrap();
            match damaged {
                None => ports.blobs.delete(&at).await.unwrap(),
                Some(bytes) => ports.blobs.put(blob(key.clone(), bytes)).await.unwrap(),
            }
            let there = ports.blobs.contents();
            match collect(&ports, &[log()]).await {
                // Leaves are never read.
                Ok(_) => {
                    assert!(
                        in_use.keys().all(|key| there.contains_key(key)
                            == ports.blobs.contents().contains_key(key))
                    );
                }
                Err(error) => {
                    assert!(matches!(
                        error,
                        GarbageError::Object(_) | GarbageError::Damaged { .. }
                    ));
                    assert_eq!(ports.blobs.contents(), there, "{key}: {error}");
                    refused += 1;
                }
            }
        }
    }
    assert!(refused > 20, "{refused}");
}

/// Uploads the objects of a sheet, as a client does, and requests their verification.
async fn upload(ports: &Arc<FaultyPorts>, sheet: &Sheet) -> Result<(), LogError> {
    for object in sheet.objects() {
        let key = staged_chunk_key(log(), CLIENT, object.chunk.hash);
        ports.blobs.put(blob(key, Bytes::from(object.stored.clone()))).await.unwrap();
    }
    for object in &sheet.chunks {
        ports.logs().publish_chunks(log(), CLIENT, &[], Some(&object.chunk)).await?;
    }
    Ok(())
}

/// Writes the fork's objects again, both by an import and by a snapshot worker of the log.
async fn write_again(ports: &Arc<FaultyPorts>) {
    let (logs, sheet) = (ports.logs(), Sheet::new(4, 5, DEEP));
    while let Err(error) = upload(ports, &sheet).await {
        // The object was deleted after its existence was checked, so upload it again.
        assert!(matches!(error, LogError::Import(ImportFault::Missing { .. })), "{error}");
    }
    let import = edit_request(log(), 5, 3, at(1, 1), vec![sheet.operation()]);
    let tail = logs.append(import).await.unwrap().tail;
    let long = set_text(1, &"of the fork".repeat(2_000));
    logs.append(edit_request(log(), 6, 2, tail, vec![long])).await.unwrap();
    roll(ports, log()).await;
}

#[tokio::test]
async fn concurrent_writers_of_collected_objects_lose_nothing() {
    let alone = world(false).await;
    write_again(&alone).await;
    collect(&alone, &[log()]).await.unwrap();
    let needed = alone.blobs.contents();
    let before = world(true).await;
    let undisturbed = before.copied(vec![]);
    let collected = collect(&undisturbed, &[log()]).await.unwrap();
    let requests = undisturbed.faults.requests();
    assert!(requests > 50 && collected.objects > 20, "{requests}");
    for number in 0..requests {
        for fault in [Fault::FreezesBefore, Fault::FreezesAfter] {
            let ports = before.copied(vec![(number, fault)]);
            let collecting = Arc::clone(&ports);
            let collecting = tokio::spawn(async move { collect(&collecting, &[log()]).await });
            ports.faults.froze.notified().await;
            ports.faults.pause();
            write_again(&ports).await;
            ports.faults.pause_and_wake();
            collecting.await.unwrap().unwrap();
            let left = ports.blobs.contents();
            for (key, object) in &needed {
                assert_eq!(left.get(key), Some(object), "{fault:?} at {number}: {key}");
            }
        }
    }
}
