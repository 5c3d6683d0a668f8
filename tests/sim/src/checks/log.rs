//! Checks of invariants I1-I5, I13 and I23 of a log.

use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_engine::ports::{
    BlobKey, Blobs as _, Entries as _, GetOutcome, PortError, Segments as _,
};
use cellar_log::entry::Entry;
use cellar_log::invariants::{
    Violation, check_acknowledged, check_effects, check_links, check_no_gap, check_once,
    check_order, check_prefix, history, readable,
};
use cellar_log::lineage::Lineage;
use cellar_log::retention::decode_offloaded;
use cellar_log::segment::Segment;

use crate::witness::Witness;
use crate::world::World;

/// All stored data of a log.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// Id of the log.
    pub log: LogId,
    /// Records of the log's segments, in ascending order.
    pub segments: Vec<Segment>,
    /// The log's entries in the table, in ascending order. They include inherited entries of a
    /// fork.
    pub table: Vec<Arc<Entry>>,
    /// The entries of the offloaded segments.
    pub offloaded: Vec<Arc<Entry>>,
    /// The origin of a fork; `None` if the log is no fork.
    pub lineage: Option<Lineage>,
}

/// Reads all stored data of a log; reports a violation and returns `None` if that fails.
pub async fn stored(world: &World, log: LogId) -> Option<Stored> {
    let read = read_with_inherited(world, log).await;
    if let Err(error) = &read {
        world.report_violation(format_args!("{log} cannot be read: {error}"));
    }
    read.ok()
}

/// Reads a log and, if it is a fork, adds the entries that it inherits from its source.
async fn read_with_inherited(world: &World, log: LogId) -> Result<Stored, PortError> {
    let mut chain = vec![read(world, log).await?];
    while let Some(lineage) = chain.last().and_then(|last| last.lineage) {
        chain.push(read(world, lineage.source).await?);
    }
    let whole = chain.into_iter().rev().reduce(|source, fork| add_inherited(&source, fork));
    whole.ok_or_else(|| PortError::permanent("there is no such log"))
}

/// Adds to a fork the entries and segments that it inherits from its source.
fn add_inherited(source: &Stored, mut fork: Stored) -> Stored {
    let Some(lineage) = fork.lineage else { return fork };
    let history = source.history();
    let mut table = Vec::new();
    for num in 0..=lineage.position.segment() {
        let of = |entry: &&Arc<Entry>| entry.position.segment() == num;
        let page: Vec<_> = history.iter().filter(of).cloned().collect();
        let from = page.first().map_or(lineage.position, |first| first.position);
        table.extend(
            lineage.inherited_page(fork.log, from, &page, false).map_or(page, |cut| cut.entries),
        );
    }
    fork.table.splice(..0, table);
    let inherited =
        source.segments.iter().filter(|segment| segment.num <= lineage.position.segment());
    let own = fork.segments.iter().filter(|segment| segment.lineage.is_none());
    fork.segments = inherited.chain(own).cloned().collect();
    fork
}

async fn read(world: &World, log: LogId) -> Result<Stored, PortError> {
    let mut segments = world.tables.newest(log, u8::MAX, true).await?;
    segments.reverse();
    let (mut table, mut offloaded) = (Vec::new(), Vec::new());
    for segment in &segments {
        let mut next = Position::new(segment.num, 0).ok();
        while let Some(from) = next {
            let page = world.tables.page(log, from, true).await?;
            let last = page.entries.last().filter(|_| page.more);
            next = last.and_then(|last| last.position.next_in_segment());
            table.extend(page.entries);
        }
        if let Some(key) = &segment.offloaded {
            offloaded.extend(read_offloaded(world, key).await?.into_iter().map(Arc::new));
        }
    }
    let lineage = segments.first().and_then(|first| first.lineage);
    if let Some(entry) = table
        .first()
        .filter(|entry| lineage.is_some_and(|lineage| lineage.inherits(entry.position)))
    {
        world
            .report_violation(format_args!("a fork has an entry of its own at {}", entry.position));
    }
    Ok(Stored { log, segments, table, offloaded, lineage })
}

async fn read_offloaded(world: &World, key: &str) -> Result<Vec<Entry>, PortError> {
    let fault = |why: String| PortError::permanent(format!("offload {key}: {why}"));
    let blob_key = BlobKey::new(key).map_err(|error| fault(error.to_string()))?;
    match world.blobs.get(&blob_key, u64::MAX).await? {
        GetOutcome::Found { bytes, .. } => {
            decode_offloaded(key, &bytes).map_err(|error| fault(error.to_string()))
        }
        gone => Err(fault(format!("{gone:?}"))),
    }
}

impl Stored {
    /// Returns every entry that was ever in the log.
    #[must_use]
    pub fn history(&self) -> Vec<Arc<Entry>> {
        history(&self.table, &self.offloaded)
    }
}

/// Checks a log's structure, and its clients' acknowledgements and reads.
pub(super) fn check(world: &World, witness: &Witness, stored: &Stored) {
    let report = |name: &str, result: Result<(), Violation>| {
        if let Err(violation) = result {
            world.report_violation(format_args!("{name}: {violation} ({})", stored.log));
        }
    };
    let (history, readable) = (stored.history(), readable(&stored.table, &stored.offloaded));
    report("I1", check_no_gap(&stored.table));
    report("I5", check_links(&history, &stored.segments));
    report("I3", check_once(&history));
    report("I13", check_order(&history));
    let seen = witness.seen();
    let acknowledged = seen.acknowledged.iter().filter(|(log, ..)| *log == stored.log);
    report("I4", check_acknowledged(&readable, acknowledged.clone().map(|(_, id, _)| *id)));
    if let Some(effects) = seen.effects.get(&stored.log) {
        report("I23", check_effects(&readable, effects));
    }
    for (_, id, at) in acknowledged {
        if !is_stored(&readable, id.id, *at) {
            world.report_violation(format_args!(
                "I4: mutation {} is not at the acknowledged position {at}",
                id.id
            ));
        }
    }
    for (_, run) in seen.runs.iter().filter(|(log, _)| *log == stored.log) {
        report("I2", check_run(run, &history));
    }
}

fn is_stored(entries: &[Arc<Entry>], id: u64, at: Position) -> bool {
    entries.iter().filter(|entry| entry.position == at).any(|entry| {
        entry.mutation_ids().is_some_and(|(_, first, last)| (first..=last).contains(&id))
    })
}

/// Checks I2 for consecutive entries that may start anywhere in the log.
fn check_run(run: &[Arc<Entry>], history: &[Arc<Entry>]) -> Result<(), Violation> {
    let Some(first) = run.first() else { return Ok(()) };
    let from = history.iter().position(|entry| entry.position >= first.position);
    check_prefix(run, history.get(from.unwrap_or(history.len())..).unwrap_or(&[]))
}
