//! A load of several shards with a rate of entries, and its measured outcome.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use cellar_catalog::feed::Span;
use cellar_catalog::stream::{Kind, StreamName};
use cellar_engine::feed::{Indexer, NoReactions};
use cellar_engine::memory::MemoryStreams;
use futures_util::future::join_all;
use tokio::time::{Instant, sleep_until};

use super::WINDOW_S;
use super::distant::DistantIndex;

/// Number of log segments to which a shard's entries belong.
const STREAMS: usize = 50;

#[derive(Clone, Copy)]
pub(super) struct Load {
    pub(super) shards: usize,
    /// Entries per second of each shard.
    pub(super) per_s: f64,
    /// Maximum entries of a batch.
    pub(super) batch: usize,
    /// Number of feeds over which streams are divided.
    pub(super) partitions: usize,
    /// Duration of the writes, in seconds.
    pub(super) for_s: f64,
}

/// Counters of requests, and the delays of entries.
pub(super) struct Outcome {
    pub(super) events: u64,
    pub(super) items: u64,
    pub(super) puts: u64,
    marks: u64,
    reads: u64,
    /// Number of failed invocations, whose batches were delivered again.
    pub(super) failed: u64,
    /// Delay of the first entry of each batch in seconds, in ascending order.
    late_s: Vec<f64>,
}

/// A shard that writes entries at even intervals and delivers a batch when its window ends or the
/// batch is full.
struct Shard {
    number: usize,
    load: Load,
    begun: Instant,
    random: fastrand::Rng,
    /// When the next entry is written, in seconds.
    next_s: f64,
    /// Index of the next entry of each stream.
    next: Vec<u64>,
    indexers: Vec<Indexer>,
    failed: Arc<AtomicU64>,
}

impl Load {
    pub(super) async fn run(self) -> Outcome {
        let seeds = 0..u64::try_from(self.partitions).unwrap();
        let indexes: Vec<_> = seeds.map(|seed| Arc::new(DistantIndex::new(seed))).collect();
        let failed = Arc::new(AtomicU64::new(0));
        let shards = (0..self.shards).map(|number| {
            let mut random = fastrand::Rng::with_seed(u64::try_from(number).unwrap());
            let indexer = |index: &Arc<DistantIndex>| {
                let (streams, time) =
                    (MemoryStreams::default(), (index.clone() as _, index.clone() as _));
                Indexer::new(index.clone(), Arc::new(streams), Arc::new(NoReactions), time, 0)
            };
            let shard = Shard {
                number,
                load: self,
                begun: Instant::now(),
                next_s: random.f64() * WINDOW_S,
                random,
                next: vec![0; STREAMS],
                indexers: indexes.iter().map(indexer).collect(),
                failed: failed.clone(),
            };
            tokio::spawn(shard.run())
        });
        let calls: Vec<(f64, u64)> =
            join_all(shards).await.into_iter().flat_map(Result::unwrap).collect();
        let mut late_s: Vec<f64> = calls.iter().map(|(late_s, _)| *late_s).collect();
        late_s.sort_by(f64::total_cmp);
        let sum = |counter: fn(&DistantIndex) -> &AtomicU64| {
            indexes.iter().map(|index| counter(index).load(Ordering::Relaxed)).sum()
        };
        Outcome {
            events: calls.iter().map(|(_, events)| events).sum(),
            items: sum(|index| &index.items),
            puts: sum(|index| &index.puts),
            marks: sum(|index| &index.marks),
            reads: sum(|index| &index.reads),
            failed: failed.load(Ordering::Relaxed),
            late_s,
        }
    }
}

impl Shard {
    /// Runs the shard; returns the delay of the first entry and the number of entries of each
    /// batch.
    async fn run(mut self) -> Vec<(f64, u64)> {
        let mut calls = Vec::new();
        while self.next_s < self.load.for_s {
            let first_s = self.next_s;
            let full_s = u32::try_from(self.load.batch).map(f64::from).unwrap() / self.load.per_s;
            let due = Duration::from_secs_f64(first_s + full_s.min(WINDOW_S));
            sleep_until(self.begun + due).await;
            let batch = self.batch();
            let parts = (0..self.indexers.len()).map(|part| self.index(part, &batch));
            join_all(parts).await;
            let events = u64::try_from(batch.len()).unwrap();
            calls.push((self.begun.elapsed().as_secs_f64() - first_s, events));
        }
        calls
    }

    /// Returns the entries written by now, up to a full batch.
    fn batch(&mut self) -> Vec<(usize, Span)> {
        let (now_s, mut batch) = (self.begun.elapsed().as_secs_f64(), Vec::new());
        while batch.is_empty() || self.next_s < now_s && batch.len() < self.load.batch {
            let number = self.random.usize(..STREAMS);
            let stream = StreamName::new("Log", &format!("{}.{number}", self.number)).unwrap();
            let (first, kinds) = (self.next[number], vec![Kind::new("Edits").unwrap()]);
            batch.push((number, Span { stream, first, kinds }));
            self.next[number] += 1;
            self.next_s += 1.0 / self.load.per_s;
        }
        batch
    }

    /// Indexes the entries of one partition, and retries until it succeeds.
    async fn index(&self, part: usize, batch: &[(usize, Span)]) {
        let is_own =
            |(stream, _): &&(usize, Span)| (stream + self.number) % self.indexers.len() == part;
        let own: Vec<Span> = batch.iter().filter(is_own).map(|(_, span)| span.clone()).collect();
        while let Err(error) = self.indexers[part].index(own.clone()).await {
            assert!(error.is_temporary(), "{error}");
            self.failed.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Outcome {
    /// Returns the number of writes of items and marks, including refused ones.
    pub(super) fn writes(&self) -> u64 {
        self.puts + self.marks
    }

    /// Returns a percentile of the delays, in seconds.
    pub(super) fn late_s(&self, percent: usize) -> f64 {
        self.late_s[(self.late_s.len() - 1) * percent / 100]
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { shards, per_s, batch, partitions, .. } = self;
        write!(
            f,
            "{shards} shards with {per_s} entries/s, batches of {batch}, {partitions} partitions"
        )
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let float = |count: u64| u32::try_from(count).map(f64::from).unwrap();
        let per = |count: u64, of: u64| float(count) / float(of);
        write!(
            f,
            "{} entries in {} items, {:.2} puts an item, {:.2} W and {:.2} reads an entry, {} calls \
             again, late by {:.2} s (median), {:.2} s (99 %), {:.2} s (all)",
            self.events,
            self.items,
            per(self.puts, self.items),
            per(self.writes(), self.events),
            per(self.reads, self.events),
            self.failed,
            self.late_s(50),
            self.late_s(99),
            self.late_s(100),
        )
    }
}
