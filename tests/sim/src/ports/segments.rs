//! The simulated Segment table and its transactions.

use std::sync::Arc;

use async_trait::async_trait;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_engine::ports::{
    CreateOutcome, ForkPage, ForkRecords, PortError, ReadConsistency, Segments,
};
use cellar_log::entry::Entry;
use cellar_log::roll::Transaction;
use cellar_log::segment::Segment;

use crate::process::Process;
use crate::rare::RareEvent;
use crate::world::World;

/// Records the items that a transaction wrote. Replicas show each item independently of the others.
async fn record_written(world: &World, segments: &[&Segment], entries: &[&Entry]) {
    for segment in segments {
        world.segment_changed(segment.log, segment.num).await;
    }
    for entry in entries {
        world.entry_changed(entry.log, entry.position, true).await;
    }
}

impl Process {
    fn shown_segments(&self, log: LogId) -> Vec<Segment> {
        let (world, keys) = (self.world(), (log, 0)..=(log, u32::MAX));
        let shown = world.segments_shown.range(keys, world.time.elapsed_ms());
        shown.into_iter().map(|(_, segment)| segment).collect()
    }
}

#[async_trait]
impl Segments for Process {
    async fn newest(
        &self,
        log: LogId,
        limit: u8,
        consistency: ReadConsistency,
    ) -> Result<Vec<Segment>, PortError> {
        let process = self.clone();
        let effect = async move {
            let leader = process.world().tables.newest(log, limit, ReadConsistency::Strong).await?;
            if !process.is_stale(consistency) {
                return Ok(leader);
            }
            let mut shown = process.shown_segments(log);
            shown.reverse();
            shown.truncate(usize::from(limit));
            Ok(process.count_if_stale(shown, &leader))
        };
        let what = format!("newest {limit} segments, {consistency:?}");
        self.call(what, effect).await.and_then(|newest| newest)
    }

    async fn segment(
        &self,
        log: LogId,
        segment: u32,
        consistency: ReadConsistency,
    ) -> Result<Option<Segment>, PortError> {
        let process = self.clone();
        let effect = async move {
            let leader =
                process.world().tables.segment(log, segment, ReadConsistency::Strong).await?;
            if !process.is_stale(consistency) {
                return Ok(leader);
            }
            let shown = process.shown_segments(log).into_iter().find(|shown| shown.num == segment);
            Ok(process.count_if_stale(shown, &leader))
        };
        let what = format!("segment {segment}, {consistency:?}");
        self.call(what, effect).await.and_then(|segment| segment)
    }

    async fn roll(&self, transaction: &Transaction) -> CreateOutcome {
        let (process, new) = (self.clone(), transaction.clone());
        let effect = async move {
            let (world, Transaction { end, segment, first }) = (process.world(), &new);
            let outcome = world.tables.roll(&new).await;
            process.event(format_args!("roll at {}: {outcome:?}", end.position));
            match &outcome {
                CreateOutcome::Created => {
                    world.count(RareEvent::RollWon);
                    record_written(world, &[segment], &[end, first]).await;
                }
                CreateOutcome::Exists => world.count(RareEvent::RollLost),
                CreateOutcome::Unknown(_) | CreateOutcome::Failed(_) => {}
            }
            outcome
        };
        let what = format!("roll at {}", transaction.end.position);
        let outcome = self.call(what, effect).await.unwrap_or_else(CreateOutcome::Unknown);
        if matches!(outcome, CreateOutcome::Unknown(_)) {
            self.world().count(RareEvent::RollUnknown);
        }
        outcome
    }

    async fn raise_last_snapshot(&self, log: LogId, at: Position) -> Result<(), PortError> {
        let world = Arc::clone(self.world());
        let effect = async move {
            let before = world.tables.segment(log, at.segment(), ReadConsistency::Strong).await?;
            world.tables.raise_last_snapshot(log, at).await?;
            let after = world.tables.segment(log, at.segment(), ReadConsistency::Strong).await?;
            let last = |segment: Option<Segment>| segment.and_then(|segment| segment.last_snapshot);
            let (before, after) = (last(before), last(after));
            if after < before {
                world.report_violation(format_args!(
                    "I9: L of {at} fell from {before:?} to {after:?}"
                ));
            }
            if before > Some(at.entry_number()) {
                world.count(RareEvent::LastNotLowered);
            }
            world.segment_changed(log, at.segment()).await;
            Ok(())
        };
        self.call(format!("raise L to {at}"), effect).await.and_then(|raised| raised)
    }

    async fn create(&self, segment: &Segment, entry: &Entry) -> CreateOutcome {
        let (world, segment, entry) = (Arc::clone(self.world()), segment.clone(), entry.clone());
        let what = format!("create segment {}", segment.num);
        let effect = {
            let segment = segment.clone();
            async move {
                let outcome = world.tables.create(&segment, &entry).await;
                if outcome == CreateOutcome::Created {
                    record_written(&world, &[&segment], &[&entry]).await;
                }
                outcome
            }
        };
        self.call(what, effect).await.unwrap_or_else(CreateOutcome::Unknown)
    }

    async fn fork(&self, records: &ForkRecords) -> CreateOutcome {
        let (world, new) = (Arc::clone(self.world()), records.clone());
        let effect = async move {
            let outcome = world.tables.fork(&new).await;
            if outcome == CreateOutcome::Created {
                world.count(RareEvent::Forked);
                world.fork_listed(&new.listed);
                record_written(&world, &[&new.origin, &new.segment], &[&new.first]).await;
            }
            outcome
        };
        let what = format!("fork at {}", records.listed.position);
        self.call(what, effect).await.unwrap_or_else(CreateOutcome::Unknown)
    }

    async fn forks(
        &self,
        source: LogId,
        after: Option<u64>,
        limit: u32,
    ) -> Result<ForkPage, PortError> {
        let process = self.clone();
        let effect = async move {
            let world = process.world();
            let leader = world.tables.forks(source, after, limit).await?;
            if !process.is_stale(ReadConsistency::Eventual) {
                return Ok(leader);
            }
            let (keys, now_ms) = ((source, 0)..=(source, u64::MAX), world.time.elapsed_ms());
            let shown = world.forks_shown.range(keys, now_ms).into_iter();
            let behind = shown.filter(|((_, number), _)| Some(*number) > after);
            let mut forks: Vec<_> = behind.map(|(_, listed)| listed).collect();
            let limit = usize::try_from(limit).unwrap_or(usize::MAX);
            let more = forks.len() > limit;
            forks.truncate(limit);
            let next = forks.last().filter(|_| more).map(|last| last.number);
            Ok(process.count_if_stale(ForkPage { forks, next }, &leader))
        };
        self.call("forks".to_owned(), effect).await.and_then(|forks| forks)
    }

    async fn reachable(&self) -> bool {
        self.call("reachable".to_owned(), async {}).await.is_ok()
    }
}
