//! Checks of invariants I7, I10, I11 and I12: each snapshot equals a replay of its log, despite all
//! faults, and no other objects remain.

use std::collections::BTreeSet;
use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_engine::ports::{BlobKey, Blobs as _, Entries as _, GetOutcome, NewBlob, Segments as _};
use cellar_engine::sha256::sha256;
use cellar_engine::snapshots::{BuildStep, LevelsBuilder, SnapshotBuilder as _};
use cellar_log::entry::{Content, Entry};
use cellar_log::segment::Segment;
use cellar_sheet::operation::{Operation, SheetId};
use cellar_snapshot::snapshot_job::SnapshotJob;

use super::cells::{cold_logs, replayed};
use super::log::Stored;
use crate::fleet::logs_of;
use crate::plan::FaultPlan;
use crate::process::{Mortality, Process};
use crate::random::SimRandom;
use crate::reading::cells;
use crate::world::{World, WorldConfig};

/// Maximum compaction steps of one snapshot: far more than any needs.
const MAX_STEPS: usize = 10_000;

/// Number of a log's snapshots, including the newest, that are compared with a replay, because a
/// replay is slow. All snapshots are compared with the result of an undisturbed worker.
const MAX_REPLAYS: usize = 4;

/// Checks the snapshots of a log. Forks share the object folder of their source, so surplus objects
/// can be detected only if the log has no forks.
pub(super) async fn check(world: &Arc<World>, stored: &Stored, has_no_forks: bool) {
    let history = stored.history();
    let mut made = Vec::new();
    let is_own = |entry: &&Arc<Entry>| match &stored.lineage {
        Some(lineage) => !lineage.inherits(entry.position),
        None => entry.position != Position::FIRST,
    };
    for entry in history.iter().filter(is_own) {
        let Content::Snapshot { root, .. } = &entry.content else { continue };
        let is_passed = stored.segments.iter().any(|segment| {
            segment.num == entry.position.segment()
                && segment.last_snapshot >= Some(entry.position.entry_number())
        });
        if !is_passed {
            world.report_violation(format_args!(
                "I10: the snapshot at {} is unfinished",
                entry.position
            ));
        }
        made.extend(root.is_some().then_some(entry));
    }
    for entry in made.iter().rev().step_by(made.len().div_ceil(MAX_REPLAYS).max(1)) {
        check_against_replay(world, entry, &imported_sheets(&history)).await;
    }
    if stored.lineage.is_none() {
        let prefix = has_no_forks.then(|| format!("sheets/{}/", stored.log));
        check_against_undisturbed(world, stored, &history, prefix.as_deref()).await;
    }
}

/// Returns the imported sheets: a replay lacks their cells.
fn imported_sheets(history: &[Arc<Entry>]) -> BTreeSet<SheetId> {
    let mutations = history.iter().filter_map(|entry| Some(&entry.edits()?.mutations)).flatten();
    let operations = mutations.flat_map(|mutation| mutation.committed_operations());
    let imported = operations.filter_map(|operation| match operation {
        Operation::ImportSheet(import) => Some(import.sheet),
        _ => None,
    });
    imported.collect()
}

/// Checks I7: the cells read through the root of a snapshot equal those of the log.
async fn check_against_replay(world: &Arc<World>, entry: &Entry, imported: &BTreeSet<SheetId>) {
    let (logs, log, at) = (cold_logs(world), entry.log, entry.position);
    let sheets = match replayed(&logs, log, at).await {
        Ok(sheets) => sheets,
        Err(error) => {
            return world
                .report_violation(format_args!("I7: the log cannot be replayed to {at}: {error}"));
        }
    };
    for (sheet, expected) in sheets.into_iter().filter(|(sheet, _)| !imported.contains(sheet)) {
        match cells(&logs, log, at, sheet).await {
            Ok(cells) if cells == expected => {}
            Ok(_) => world
                .report_violation(format_args!("I7: the snapshot at {at} differs from its log")),
            Err(error) => {
                world.report_violation(format_args!("I7: cells at {at} cannot be read: {error}"));
            }
        }
    }
}

/// Checks I11 and I12: without faults, a worker makes the same roots from the same objects.
async fn check_against_undisturbed(
    world: &Arc<World>,
    stored: &Stored,
    history: &[Arc<Entry>],
    prefix: Option<&str>,
) {
    let quiet = World::new(SimRandom::of_seed(0), WorldConfig::with(FaultPlan::none()));
    copy_bodies(world, &quiet, history).await;
    if !imported_sheets(history).is_empty() {
        copy_chunks(world, &quiet, stored.log).await;
    }
    let mut made = Vec::new();
    for segment in &stored.segments {
        let record = Segment { last_snapshot: None, offloaded: None, ..segment.clone() };
        let of = |entry: &&Arc<Entry>| entry.position.segment() == segment.num;
        let mut entries = history.iter().filter(of);
        let Some(first) = entries.next() else { continue };
        quiet.tables.create(&record, &without_root(first)).await;
        made.extend(root_of(first));
        for entry in entries {
            quiet.tables.put(&without_root(entry)).await;
            made.extend(root_of(entry));
        }
    }
    let process = Process::new(&quiet, "undisturbed", Mortality::Spared);
    for (position, root) in made {
        match build(&process, SnapshotJob { log: stored.log, position }).await {
            Ok(expected) if expected == root => {}
            Ok(expected) => world.report_violation(format_args!(
                "I12: the root at {position} is {root}, not {expected}"
            )),
            Err(error) => {
                return world
                    .report_violation(format_args!("the undisturbed worker failed: {error}"));
            }
        }
    }
    let Some(prefix) = prefix else { return };
    let (left, expected) = (list_objects(world, prefix).await, list_objects(&quiet, prefix).await);
    for object in left.difference(&expected) {
        world.report_violation(format_args!("I11: {object} belongs to no snapshot"));
    }
}

/// Copies the chunks, because imports reference some of them.
async fn copy_chunks(from: &World, to: &World, log: LogId) {
    let prefix = format!("sheets/{log}/chunks/");
    for key in list_objects(from, &prefix).await {
        let Ok(key) = BlobKey::new(&key) else { continue };
        let Ok(GetOutcome::Found { head, bytes }) = from.blobs.get(&key, u64::MAX).await else {
            continue;
        };
        let (content_type, content_encoding) = (head.content_type, head.content_encoding);
        let (sha256, pending) = (sha256(&bytes), false);
        let copy = NewBlob { key, bytes, sha256, content_type, content_encoding, pending };
        if let Err(error) = to.blobs.put(copy).await {
            from.report_violation(format_args!("a chunk cannot be copied: {error}"));
        }
    }
}

/// Copies the external bodies of large entries.
async fn copy_bodies(from: &World, to: &World, history: &[Arc<Entry>]) {
    for entry in history {
        let Content::External(external) = &entry.content else { continue };
        let Ok(key) = BlobKey::new(&external.object) else { continue };
        let Ok(GetOutcome::Found { head, bytes }) = from.blobs.get(&key, u64::MAX).await else {
            continue;
        };
        let (content_type, content_encoding) = (head.content_type, head.content_encoding);
        let (sha256, pending) = (external.sha256, false);
        let copy = NewBlob { key, bytes, sha256, content_type, content_encoding, pending };
        if let Err(error) = to.blobs.put(copy).await {
            from.report_violation(format_args!(
                "the body at {} cannot be copied: {error}",
                entry.position
            ));
        }
    }
}

fn root_of(entry: &Entry) -> Option<(Position, String)> {
    match &entry.content {
        Content::Snapshot { root: Some(root), .. } => Some((entry.position, root.clone())),
        _ => None,
    }
}

/// Returns the entry as it was put, without its root.
fn without_root(entry: &Entry) -> Entry {
    match entry.content {
        Content::Snapshot { .. } => {
            Entry { content: Content::Snapshot { root: None, trimmed_s: None }, ..entry.clone() }
        }
        _ => entry.clone(),
    }
}

async fn build(process: &Process, job: SnapshotJob) -> Result<String, String> {
    let builder = LevelsBuilder::new(Arc::new(logs_of(process)), Arc::new(process.clone()));
    let mut progress = Vec::new();
    for _ in 0..MAX_STEPS {
        match builder.step(&job, &progress).await.map_err(|error| error.to_string())? {
            BuildStep::Progress(next) => progress = next,
            BuildStep::EarlierSnapshot(at) => {
                return Err(format!("{at} comes before {}", job.position));
            }
            BuildStep::Finished { root } => {
                let (log, at) = (job.log, job.position);
                process.set_root(log, at, &root).await.map_err(|error| error.to_string())?;
                process.raise_last_snapshot(log, at).await.map_err(|error| error.to_string())?;
                return Ok(root);
            }
        }
    }
    Err("the build does not end".to_owned())
}

async fn list_objects(world: &World, prefix: &str) -> BTreeSet<String> {
    let (mut objects, mut after) = (BTreeSet::new(), None);
    loop {
        let Ok(page) = world.blobs.list(prefix, after.as_deref(), u16::MAX).await else {
            return objects;
        };
        objects.extend(page.blobs.into_iter().map(|blob| blob.key));
        after = page.next;
        if after.is_none() {
            return objects;
        }
    }
}
