//! Tests of purges with in-memory ports, with and without injected faults.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use cellar_base::identity::{ClientKey, SubjectKey};
use cellar_base::limits::DELETED_KEPT_S;
use cellar_catalog::{spreadsheet::Name, spreadsheet::Status};
use cellar_log::entry::Entry;
use cellar_log::presence::{Presence, Selection, ShownTimes, StoredPresence};
use cellar_log::retention::Policy;
use cellar_sheet::a1::SheetArea;
use cellar_snapshot::pending_snapshot::PendingSnapshot;

use super::*;
use crate::crashes::{
    Fault, FaultyPorts, at, edit_request, handle_queued_jobs, log, ports_with_edits, set_text,
};
use crate::logs::NewFork;
use crate::ports::{BlobKey, Jobs as _, NewBlob};
use crate::retention::Offloader;
use crate::sha256::sha256;
use crate::system::SystemRandom;

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;
const KEPT_MS: u64 = DELETED_KEPT_S * 1_000;

fn person(name: &str) -> Person {
    Person::new("cellar", name).unwrap()
}

fn alice() -> SubjectKey {
    SubjectKey::new("purge", "alice")
}

fn fork() -> LogId {
    LogId::derive_fork(&alice(), log(), "fork").unwrap()
}

fn other() -> LogId {
    LogId::derive(&alice(), "other").unwrap()
}

fn catalog(ports: &Arc<FaultyPorts>) -> CatalogStore {
    // Writers are identified by random numbers, so each process needs its own sequence of random
    // numbers.
    let (streams, random) = (Arc::clone(ports) as _, Arc::new(SystemRandom));
    CatalogStore::new(streams, Arc::clone(&ports.clock) as _, random)
}

fn purger(ports: &Arc<FaultyPorts>) -> Purger {
    let on = PurgePorts {
        entries: Arc::clone(ports) as _,
        segments: Arc::clone(ports) as _,
        retention: Arc::clone(ports) as _,
        presences: Arc::clone(ports) as _,
        pending: Some(Arc::clone(ports) as _),
        blobs: Arc::clone(ports) as _,
        versions: Arc::clone(ports) as _,
        clock: Arc::clone(&ports.clock) as _,
        random: Arc::clone(ports) as _,
    };
    Purger::new(on, catalog(ports), person("operator"))
}

async fn change(ports: &Arc<FaultyPorts>, log: LogId, action: CatalogAction) {
    let right = Right::Token(Role::Owner);
    let by = By { person: person("alice"), right, cap: Role::Owner };
    catalog(ports).change(log, by, action, None).await.unwrap();
}

async fn upload(ports: &Arc<FaultyPorts>, log: LogId) {
    let bytes = Bytes::from_static(b"an upload");
    let blob = NewBlob {
        key: BlobKey::new(format!("{}{log}/1", cellar_base::table_attributes::UPLOADS_PREFIX))
            .unwrap(),
        sha256: sha256(&bytes),
        bytes,
        content_type: None,
        content_encoding: None,
        pending: false,
    };
    ports.blobs.put(blob).await.unwrap();
}

async fn announce(ports: &Arc<FaultyPorts>, log: LogId) {
    let area = SheetArea::from_numbers([0, 0, 1, 0, 1]).unwrap();
    let (client, author) = (ClientKey([1; 8]), "alice".to_owned());
    let selection = Selection { area, at: Position::FIRST };
    let presence = Presence { client, author, selection, seen_ms: ports.clock.now_ms() };
    for slot in [0, 3] {
        let stored = StoredPresence { slot, presence: presence.clone() };
        let shown = ShownTimes::at(ports.clock.now_ms());
        ports.tables.put_presence(log, &stored, shown).await.unwrap();
    }
}

async fn snapshot(ports: &Arc<FaultyPorts>, job: SnapshotJob) {
    ports.queue.send(&job.encode()).await.unwrap();
    handle_queued_jobs(&ports.workers(), ports).await;
}

/// Creates a log, a fork of the log, and an unrelated log, and adds them to the catalog. Each log
/// has three segments, the first of which is offloaded. Each log also has snapshots, an upload,
/// presences, and the pending record of a snapshot that a worker abandoned.
async fn world() -> Arc<FaultyPorts> {
    let ports = ports_with_edits(4).await;
    let logs = ports.logs();
    for segment in 0..2 {
        let loaded = logs.load(log(), None).await.unwrap();
        ports.tables.raise_last_snapshot(log(), at(segment, 0)).await.unwrap();
        logs.roll(Arc::clone(loaded.entries.last().unwrap())).await.unwrap();
        snapshot(&ports, SnapshotJob { log: log(), position: at(segment + 1, 0) }).await;
    }
    ports.clock.advance_ms(3 * DAY_MS);
    let (entries, retention) = (Arc::clone(&ports) as _, Arc::clone(&ports) as _);
    let clock = Arc::clone(&ports.clock) as _;
    let offloader = Offloader::new(entries, retention, Arc::clone(&ports) as _, clock);
    let (policy, mut planned) = (Policy { offload_after_days: 1, keep_segments: 1 }, Vec::new());
    offloader.plan_all_logs(policy, |segment| planned.push(segment)).await.unwrap();
    for segment in &planned {
        offloader.execute(segment).await.unwrap();
    }
    logs.create(other(), None).await.unwrap();
    let new = NewFork { log: fork(), source: log(), at: Some(at(1, 0)), author: None };
    logs.fork(new).await.unwrap();
    let request = edit_request(fork(), 1, 1, at(1, 0), vec![set_text(0, "of the fork")]);
    logs.append(request).await.unwrap();
    for (log, position) in [(log(), at(2, 0)), (fork(), at(2, 0)), (other(), Position::FIRST)] {
        upload(&ports, log).await;
        announce(&ports, log).await;
        let job = SnapshotJob { log, position };
        let abandoned = PendingSnapshot {
            job,
            created_s: 1,
            modified_s: 1,
            active: true,
            increment: 3,
            progress: vec![],
            rebuild: None,
        };
        ports.pending.create(&abandoned).await;
        let source = (log == fork()).then_some(self::log());
        change(&ports, log, CatalogAction::Create { name: Name::default(), source }).await;
    }
    ports.faults.take_request_count();
    ports
}

/// Builds two snapshots of the fork, one of them with a long text. Returns the objects that only
/// these snapshots use, in the notation of [`everything`].
async fn snapshots_of_fork(ports: &Arc<FaultyPorts>) -> BTreeSet<String> {
    let (before, logs) = (ports.blobs.contents(), ports.logs());
    snapshot(ports, SnapshotJob { log: fork(), position: at(2, 0) }).await;
    let long = set_text(0, &"of the fork ".repeat(1_000));
    logs.append(edit_request(fork(), 1, 2, at(2, 1), vec![long])).await.unwrap();
    let loaded = logs.load(fork(), None).await.unwrap();
    logs.roll(Arc::clone(loaded.entries.last().unwrap())).await.unwrap();
    snapshot(ports, SnapshotJob { log: fork(), position: at(3, 0) }).await;
    let after = ports.blobs.contents().into_keys();
    let made = after.filter(|key| !before.contains_key(key));
    made.map(|key| format!("object {key}")).collect()
}

/// Lists all data of the logs as text.
fn everything(ports: &FaultyPorts, of: &[LogId]) -> BTreeMap<String, String> {
    let (entries, segments, forks) = ports.tables.contents();
    let entries = entries.into_iter().filter(|entry: &Entry| of.contains(&entry.log));
    let segments = segments.into_iter().filter(|segment| of.contains(&segment.log));
    let forks = forks.into_iter().filter(|listed| of.contains(&listed.source));
    let pending = ports.pending.records().into_iter();
    let pending = pending.filter(|record| of.contains(&record.job.log));
    let presences = ports.tables.all_presences().into_iter();
    let presences = presences.filter(|(log, _)| of.contains(log));
    let objects = ports.blobs.contents().into_iter();
    let objects = objects.filter(|(key, _)| of.iter().any(|log| key.contains(&log.to_string())));
    let mut all = BTreeMap::new();
    all.extend(entries.map(|e| (format!("entry {} {}", e.log, e.position), format!("{e:?}"))));
    all.extend(segments.map(|s| (format!("segment {} {}", s.log, s.num), format!("{s:?}"))));
    all.extend(forks.map(|f| (format!("listed {} {}", f.source, f.fork), format!("{f:?}"))));
    all.extend(pending.map(|p| (format!("pending {:?}", p.job), format!("{p:?}"))));
    all.extend(presences.map(|(log, p)| (format!("presence {log} {}", p.slot), format!("{p:?}"))));
    all.extend(objects.map(|(key, object)| (format!("object {key}"), format!("{object:?}"))));
    all
}

async fn plans(ports: &Arc<FaultyPorts>) -> Vec<(LogId, DeletedPlan)> {
    let planned = purger(ports).plan_purges().await.unwrap();
    planned.into_iter().map(|planned| (planned.log, planned.plan)).collect()
}

/// Deletes the log, the fork or both, and lets enough time pass for a purge. Returns the objects
/// that only the fork's snapshots use.
async fn deleted(logs: &[LogId]) -> (Arc<FaultyPorts>, BTreeSet<String>) {
    let ports = world().await;
    let of_fork = snapshots_of_fork(&ports).await;
    for log in logs {
        change(&ports, *log, CatalogAction::Delete).await;
    }
    ports.clock.advance_ms(KEPT_MS);
    ports.faults.take_request_count();
    (ports, of_fork)
}

/// Deletes the pending record of the snapshot that a worker abandoned.
async fn mend(ports: &Arc<FaultyPorts>) {
    ports.pending.delete(SnapshotJob { log: log(), position: at(2, 0) }, None).await.unwrap();
}

/// Purges all spreadsheets whose purge is due, forks first.
async fn purge(ports: &Arc<FaultyPorts>) -> Result<Vec<PurgedData>, PurgeError> {
    let purger = purger(ports);
    let mut removed = Vec::new();
    for planned in purger.plan_purges().await? {
        if planned.plan == DeletedPlan::Purge {
            removed.push(purger.purge(planned.log).await?);
        }
    }
    Ok(removed)
}

#[tokio::test]
async fn deleted_spreadsheets_are_purged_after_their_grace_period_unless_forks_need_them() {
    let ports = world().await;
    assert_eq!(plans(&ports).await, [], "all are in use");
    let until_s = ports.clock.now_ms() / 1_000 + DELETED_KEPT_S;
    change(&ports, log(), CatalogAction::Delete).await;
    assert_eq!(plans(&ports).await, [(log(), DeletedPlan::Restorable { until_s })]);
    ports.clock.advance_ms(KEPT_MS);
    assert_eq!(plans(&ports).await, [(log(), DeletedPlan::Forked { forks: 1 })]);
    let before = everything(&ports, &[log(), fork(), other()]);
    let refused = purger(&ports).purge(log()).await;
    assert_eq!(refused, Err(PurgeError::Forked { log: log(), fork: fork() }));
    assert_eq!(everything(&ports, &[log(), fork(), other()]), before, "nothing is removed");
    change(&ports, fork(), CatalogAction::Delete).await;
    ports.clock.advance_ms(KEPT_MS);
    let both = [(fork(), DeletedPlan::Purge), (log(), DeletedPlan::Purge)];
    assert_eq!(plans(&ports).await, both);
    let removed = purge(&ports).await.unwrap();
    assert_eq!(everything(&ports, &[log(), fork()]), BTreeMap::new());
    let others = before.into_iter().filter(|(key, _)| key.contains(&other().to_string()));
    assert_eq!(everything(&ports, &[other()]), others.collect(), "another log's stays");
    assert_eq!(plans(&ports).await, []);
    let [of_fork, of_log] = removed.as_slice() else { panic!("{removed:?}") };
    assert_eq!((of_fork.entries, of_fork.objects, of_fork.object_bytes), (2, 1, 9));
    assert!(
        of_log.entries > 3 && of_log.objects > 3,
        "{of_log:?}: snapshots and the offloaded segment are deleted too"
    );
}

#[tokio::test]
async fn a_purged_fork_leaves_its_source_readable() {
    let (ports, of_fork) = deleted(&[fork()]).await;
    assert!(of_fork.iter().any(|key| key.contains("/chunks/")), "{of_fork:?}");
    assert!(of_fork.iter().any(|key| key.contains("/roots/")), "{of_fork:?}");
    let why = GarbageError::UnderWay { log: log(), at: at(2, 0) };
    let refused = purge(&ports).await;
    assert_eq!(refused, Err(PurgeError::Garbage { log: fork(), why }));
    mend(&ports).await;
    let shared = everything(&ports, &[log(), other()]);
    let removed = purge(&ports).await.unwrap();
    assert_eq!(removed.iter().map(|removed| removed.objects).sum::<u64>(), of_fork.len() as u64);
    assert_eq!(everything(&ports, &[fork()]), BTreeMap::new());
    let left = shared.into_iter().filter(|(key, _)| !of_fork.contains(key));
    assert_eq!(
        everything(&ports, &[log(), other()]),
        left.collect(),
        "all but what was the fork's"
    );
    assert!(ports.logs().workbook(log(), None, None).await.is_ok());
}

/// Creates a fork with a long text of its own and a snapshot of it. Returns the fork, and the objects
/// that the snapshot added.
async fn fork_with_snapshot(
    ports: &Arc<FaultyPorts>,
    source: LogId,
    nonce: &str,
) -> (LogId, BTreeSet<String>) {
    let (before, logs) = (ports.blobs.contents(), ports.logs());
    let fork = LogId::derive_fork(&alice(), source, nonce).unwrap();
    logs.fork(NewFork { log: fork, source, at: None, author: None }).await.unwrap();
    let head = logs.load(fork, None).await.unwrap().entries.last().unwrap().position;
    snapshot(ports, SnapshotJob { log: fork, position: head }).await;
    let long = set_text(0, &nonce.repeat(10_000));
    logs.append(edit_request(fork, 1, 1, head, vec![long])).await.unwrap();
    let last = Arc::clone(logs.load(fork, None).await.unwrap().entries.last().unwrap());
    let position = at(last.position.segment() + 1, 0);
    logs.roll(last).await.unwrap();
    snapshot(ports, SnapshotJob { log: fork, position }).await;
    let create = CatalogAction::Create { name: Name::default(), source: Some(source) };
    change(ports, fork, create).await;
    let mut added: BTreeSet<String> = ports.blobs.contents().into_keys().collect();
    added.retain(|key| !before.contains_key(key));
    (fork, added)
}

#[tokio::test]
async fn a_purged_fork_leaves_the_snapshots_of_forks_of_other_forks() {
    let ports = world().await;
    snapshots_of_fork(&ports).await;
    mend(&ports).await;
    let (other_fork, objects_of_other) = fork_with_snapshot(&ports, log(), "other fork").await;
    let (_, objects_of_nested) = fork_with_snapshot(&ports, other_fork, "nested").await;
    assert!(!objects_of_other.is_empty() && !objects_of_nested.is_empty());
    change(&ports, fork(), CatalogAction::Delete).await;
    ports.clock.advance_ms(KEPT_MS);
    let purged = purger(&ports).purge(fork()).await.unwrap();
    assert!(purged.objects > 1, "{purged:?}: also snapshots of the fork");
    let left = ports.blobs.contents();
    for key in objects_of_other.iter().chain(&objects_of_nested) {
        assert!(left.contains_key(key), "{key}");
    }
}

#[tokio::test]
async fn a_purge_of_a_fork_sends_as_many_requests_for_any_number_of_spreadsheets() {
    let count_requests = async |spreadsheets: u32| {
        let (ports, _) = deleted(&[fork()]).await;
        mend(&ports).await;
        for number in 0..spreadsheets {
            let log = LogId::derive(&alice(), &format!("spreadsheet {number}")).unwrap();
            ports.logs().create(log, None).await.unwrap();
        }
        ports.faults.take_request_count();
        purger(&ports).purge(fork()).await.unwrap();
        ports.faults.take_request_count()
    };
    assert_eq!(count_requests(50).await, count_requests(0).await);
}

#[tokio::test]
async fn recently_written_objects_stay() {
    let (ports, _) = deleted(&[fork()]).await;
    mend(&ports).await;
    // Write all objects again, as `synth reprocess --rebuild` does.
    for (key, (bytes, _)) in ports.blobs.contents() {
        let key = BlobKey::new(key).unwrap();
        let sha256 = sha256(&bytes);
        let (content_type, content_encoding, pending) = (None, None, false);
        let again = NewBlob { key, bytes, sha256, content_type, content_encoding, pending };
        ports.blobs.put(again).await.unwrap();
    }
    let sheets = |ports: &FaultyPorts| {
        let mut all = everything(ports, &[log()]);
        all.retain(|key, _| key.starts_with("object sheets/"));
        all
    };
    let before = sheets(&ports);
    purge(&ports).await.unwrap();
    assert_eq!(sheets(&ports), before);
}

#[tokio::test]
async fn a_spreadsheet_undeleted_at_the_last_moment_stays() {
    let ports = world().await;
    change(&ports, other(), CatalogAction::Delete).await;
    ports.clock.advance_ms(KEPT_MS - 1_000);
    change(&ports, other(), CatalogAction::Activate).await;
    ports.clock.advance_ms(KEPT_MS);
    let before = everything(&ports, &[other()]);
    let refused = purger(&ports).purge(other()).await;
    let rejection = Rejection::NotPurgeable;
    assert_eq!(refused, Err(PurgeError::Refused { log: other(), rejection }));
    assert_eq!(everything(&ports, &[other()]), before);
}

#[tokio::test]
async fn data_created_by_a_late_request_is_purged_again() {
    let (ports, _) = deleted(&[log(), fork()]).await;
    purge(&ports).await.unwrap();
    ports.logs().create(log(), None).await.unwrap();
    let right = Right::Token(Role::Owner);
    let by = By { person: person("alice"), right, cap: Role::Owner };
    let create = CatalogAction::Create { name: Name::default(), source: None };
    let listed = catalog(&ports).change(log(), by, create, None).await;
    assert_eq!(listed, Err(CatalogError::Rejected(Rejection::Gone)), "nobody is told of it");
    assert_eq!(plans(&ports).await, [(log(), DeletedPlan::Purge)]);
    purge(&ports).await.unwrap();
    assert_eq!(everything(&ports, &[log()]), BTreeMap::new());
}

/// Asserts that nothing was deleted before the catalog marked the spreadsheet as purged, and that
/// no data of other logs was deleted.
async fn assert_between(
    ports: &Arc<FaultyPorts>,
    (before, of_fork): (&FaultyPorts, &BTreeSet<String>),
    what: &str,
) {
    ports.faults.pause();
    let of_other = |ports: &FaultyPorts| everything(ports, &[other()]);
    assert_eq!(of_other(ports), of_other(before), "{what}");
    for log in [log(), fork()] {
        let listing = catalog(ports).read_listing(log, Right::Token(Role::Owner)).await.unwrap();
        if matches!(listing.unwrap().status, Status::Purged { .. }) {
            continue;
        }
        let of_log = |ports: &FaultyPorts| {
            let mut all = everything(ports, &[log]);
            // The fork's snapshots are stored under the id of the original log.
            let is_kept = |key: &String| log == fork() || !of_fork.contains(key);
            all.retain(|key, _| !key.starts_with("listed") && is_kept(key));
            all
        };
        assert_eq!(of_log(ports), of_log(before), "{what}: deleted before marked as purged");
    }
    ports.faults.resume();
}

/// Purges the logs once for each request. In each run, a fault is injected into that request, and
/// the purge is then retried without faults until it succeeds.
async fn purge_with_each_fault(logs: &[LogId]) {
    let (before, of_fork) = deleted(logs).await;
    mend(&before).await;
    let undisturbed = before.copied(vec![]);
    purge(&undisturbed).await.unwrap();
    let in_the_end = everything(&undisturbed, &[log(), fork()]);
    let requests = undisturbed.faults.requests();
    assert!(requests > 20, "{requests}");
    for number in 0..requests {
        for fault in [Fault::Refused, Fault::Denied, Fault::ReplyLost, Fault::Outage] {
            let what = format!("{fault:?} at {number}");
            let ports = before.copied(vec![(number, fault)]);
            let mut tries = 0;
            while purge(&ports).await.is_err() {
                assert_between(&ports, (&before, &of_fork), &what).await;
                tries += 1;
                assert!(tries < 20, "{what}");
            }
            assert_eq!(everything(&ports, &[log(), fork()]), in_the_end, "{what}");
            assert_between(&ports, (&before, &of_fork), &what).await;
        }
    }
}

#[tokio::test]
async fn a_purge_that_fails_anywhere_is_completed_by_the_next() {
    purge_with_each_fault(&[log(), fork()]).await;
}

#[tokio::test]
async fn a_purge_of_a_fork_that_fails_anywhere_is_completed_by_the_next() {
    purge_with_each_fault(&[fork()]).await;
}
