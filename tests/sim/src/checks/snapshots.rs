//! Checks invariants I7, I10, I11 and I12: despite all faults, each snapshot equals a replay of its
//! log, and no surplus objects remain.

use std::collections::BTreeSet;
use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_engine::ports::{BlobKey, Blobs as _, Entries as _, GetOutcome, NewBlob, Segments as _};
use cellar_engine::sha256::sha256;
use cellar_engine::snapshots::{BuildStep, LevelsBuilder, SnapshotBuilder as _};
use cellar_log::entry::{Content, Entry};
use cellar_log::segment::Segment;
use cellar_snapshot::snapshot_job::SnapshotJob;

use super::cells::check_position;
use super::log::Stored;
use crate::fleet::logs_of;
use crate::plan::FaultPlan;
use crate::process::{Mortality, Process};
use crate::random::SimRandom;
use crate::world::{World, WorldConfig};

/// Maximum number of compaction steps per snapshot, far more than any snapshot needs.
const MAX_STEPS: usize = 10_000;

/// Number of snapshots per log that are compared with a replay, including the newest one. The
/// number is limited because a replay is slow. In addition, all snapshots are compared with the
/// result of an undisturbed worker.
const MAX_REPLAYS: usize = 2;

/// Checks the snapshots of a log. Forks share their source's folder of objects, so surplus objects
/// can be detected only if the log has no forks.
pub(super) async fn check(world: &Arc<World>, stored: &Stored, has_no_forks: bool) {
    let history = stored.history();
    let mut entries_with_root = Vec::new();
    for entry in &history {
        let is_own_entry = match &stored.lineage {
            Some(lineage) => !lineage.inherits(entry.position),
            None => entry.position != Position::FIRST,
        };
        let Content::Snapshot { root, .. } = &entry.content else { continue };
        if !is_own_entry {
            continue;
        }
        if !is_recorded(stored, entry.position) {
            let position = entry.position;
            world.report_violation(format_args!("I10: the snapshot at {position} is unfinished"));
        }
        if root.is_some() {
            entries_with_root.push(entry);
        }
    }
    let replay_step = entries_with_root.len().div_ceil(MAX_REPLAYS).max(1);
    for entry in entries_with_root.iter().rev().step_by(replay_step) {
        check_position(world, stored, entry.position).await;
    }
    if stored.lineage.is_none() {
        let own_prefix = if has_no_forks { Some(format!("sheets/{}/", stored.log)) } else { None };
        check_against_undisturbed(world, stored, &history, own_prefix.as_deref()).await;
    }
}

/// Returns whether the segment's record names the given snapshot or a later one.
fn is_recorded(stored: &Stored, position: Position) -> bool {
    stored.segments.iter().any(|segment| {
        segment.num == position.segment()
            && segment
                .last_snapshot
                .is_some_and(|last_snapshot| last_snapshot >= position.entry_number())
    })
}

/// Checks I11 and I12: a worker without faults builds the same roots from the same objects.
async fn check_against_undisturbed(
    world: &Arc<World>,
    stored: &Stored,
    history: &[Arc<Entry>],
    own_prefix: Option<&str>,
) {
    let quiet_world = World::new(SimRandom::of_seed(0), WorldConfig::with(FaultPlan::none()));
    copy_bodies(world, &quiet_world, history).await;
    if !stored.imported_sheets().is_empty() {
        copy_chunks(world, &quiet_world, stored.log).await;
    }
    copy_entries(&quiet_world, stored, history).await;
    let process = Process::new(&quiet_world, "undisturbed", Mortality::Spared);
    for (position, root) in history.iter().filter_map(|entry| root_of(entry)) {
        match build_snapshot(&process, SnapshotJob { log: stored.log, position }).await {
            Ok(undisturbed_root) if undisturbed_root == root => {}
            Ok(undisturbed_root) => world.report_violation(format_args!(
                "I12: the root at {position} is {root}, not {undisturbed_root}"
            )),
            Err(error) => {
                return world
                    .report_violation(format_args!("the undisturbed worker failed: {error}"));
            }
        }
    }
    let Some(own_prefix) = own_prefix else { return };
    let objects = list_objects(world, own_prefix).await;
    let undisturbed_objects = list_objects(&quiet_world, own_prefix).await;
    for object in objects.difference(&undisturbed_objects) {
        world.report_violation(format_args!("I11: {object} belongs to no snapshot"));
    }
}

/// Copies the segments and entries, but not the snapshots.
async fn copy_entries(quiet_world: &World, stored: &Stored, history: &[Arc<Entry>]) {
    for segment in &stored.segments {
        let record = Segment { last_snapshot: None, offloaded: None, ..segment.clone() };
        let mut entries = history.iter().filter(|entry| entry.position.segment() == segment.num);
        let Some(first_entry) = entries.next() else { continue };
        quiet_world.tables.create(&record, &without_root(first_entry)).await;
        for entry in entries {
            quiet_world.tables.put(&without_root(entry)).await;
        }
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

/// Returns the entry as originally written, without its root.
fn without_root(entry: &Entry) -> Entry {
    match entry.content {
        Content::Snapshot { .. } => {
            Entry { content: Content::Snapshot { root: None, trimmed_s: None }, ..entry.clone() }
        }
        _ => entry.clone(),
    }
}

async fn build_snapshot(process: &Process, job: SnapshotJob) -> Result<String, String> {
    let builder = LevelsBuilder::new(Arc::new(logs_of(process)), Arc::new(process.clone()));
    let mut progress = Vec::new();
    for _step in 0..MAX_STEPS {
        match builder.step(&job, &progress).await.map_err(|error| error.to_string())? {
            BuildStep::Progress(next_progress) => progress = next_progress,
            BuildStep::EarlierSnapshot(position) => {
                return Err(format!("{position} comes before {}", job.position));
            }
            BuildStep::Finished { root } => {
                process
                    .set_root(job.log, job.position, &root)
                    .await
                    .map_err(|error| error.to_string())?;
                process
                    .raise_last_snapshot(job.log, job.position)
                    .await
                    .map_err(|error| error.to_string())?;
                return Ok(root);
            }
        }
    }
    Err("the build does not end".to_owned())
}

async fn list_objects(world: &World, prefix: &str) -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    let mut last_key = None;
    loop {
        let Ok(page) = world.blobs.list(prefix, last_key.as_deref(), u16::MAX).await else {
            return keys;
        };
        keys.extend(page.blobs.into_iter().map(|blob| blob.key));
        last_key = page.next;
        if last_key.is_none() {
            return keys;
        }
    }
}
