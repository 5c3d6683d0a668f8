//! Checks invariants I1-I5, I13 and I23 for a log.

use std::collections::BTreeSet;
use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_engine::ports::{
    BlobKey, Blobs as _, Entries as _, GetOutcome, PortError, ReadConsistency, Segments as _,
};
use cellar_log::entry::{Entry, Mutation};
use cellar_log::invariants::{
    Violation, check_acknowledged, check_effects, check_links, check_no_gap, check_once,
    check_order, check_prefix, complete_history, readable_entries,
};
use cellar_log::lineage::Lineage;
use cellar_log::retention::decode_offloaded;
use cellar_log::segment::Segment;
use cellar_sheet::operation::{Operation, SheetId};

use crate::witness::Witness;
use crate::world::World;

/// All stored data of one log.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// Id of the log.
    pub log: LogId,
    /// The log's segment records, in ascending order.
    pub segments: Vec<Segment>,
    /// The log's entries in the table, in ascending order. For a fork, they include the inherited
    /// entries.
    pub table: Vec<Arc<Entry>>,
    /// The entries of the offloaded segments.
    pub offloaded: Vec<Arc<Entry>>,
    /// The origin of a fork, or `None` if the log is not a fork.
    pub lineage: Option<Lineage>,
}

/// Reads all stored data of a log. If reading fails, reports a violation and returns `None`.
pub async fn read_stored(world: &World, log: LogId) -> Option<Stored> {
    match read_with_inherited(world, log).await {
        Ok(stored) => Some(stored),
        Err(error) => {
            world.report_violation(format_args!("{log} cannot be read: {error}"));
            None
        }
    }
}

/// Reads a log. If it is a fork, adds the entries inherited from its source.
async fn read_with_inherited(world: &World, log: LogId) -> Result<Stored, PortError> {
    let own = read_own(world, log).await?;
    let Some(lineage) = own.lineage else { return Ok(own) };
    let source = Box::pin(read_with_inherited(world, lineage.source)).await?;
    Ok(add_inherited(&source, own, lineage))
}

/// Adds the entries and segments that a fork inherits from its source.
fn add_inherited(source: &Stored, mut fork: Stored, lineage: Lineage) -> Stored {
    let source_history = source.history();
    let last_inherited_segment = lineage.position.segment();
    let mut inherited_entries = Vec::new();
    for segment_number in 0..=last_inherited_segment {
        let source_page: Vec<_> = source_history
            .iter()
            .filter(|entry| entry.position.segment() == segment_number)
            .cloned()
            .collect();
        let first_position =
            source_page.first().map_or(lineage.position, |first_entry| first_entry.position);
        match lineage.inherited_page(fork.log, first_position, &source_page, false) {
            Ok(inherited_page) => inherited_entries.extend(inherited_page.entries),
            Err(_) => inherited_entries.extend(source_page),
        }
    }
    fork.table.splice(..0, inherited_entries);
    let inherited_segments =
        source.segments.iter().filter(|segment| segment.num <= last_inherited_segment);
    let own_segments = fork.segments.iter().filter(|segment| segment.lineage.is_none());
    fork.segments = inherited_segments.chain(own_segments).cloned().collect();
    fork
}

async fn read_own(world: &World, log: LogId) -> Result<Stored, PortError> {
    let mut segments = world.tables.newest(log, u8::MAX, ReadConsistency::Strong).await?;
    segments.reverse();
    let mut table = Vec::new();
    let mut offloaded = Vec::new();
    for segment in &segments {
        let mut next_position = Position::new(segment.num, 0).ok();
        while let Some(position) = next_position {
            let page = world.tables.page(log, position, ReadConsistency::Strong).await?;
            next_position = match page.entries.last() {
                Some(last_entry) if page.more => last_entry.position.next_in_segment(),
                _ => None,
            };
            table.extend(page.entries);
        }
        if let Some(key) = &segment.offloaded {
            offloaded.extend(read_offloaded(world, key).await?.into_iter().map(Arc::new));
        }
    }
    let lineage = segments.first().and_then(|first_segment| first_segment.lineage);
    if let (Some(lineage), Some(first_entry)) = (lineage, table.first())
        && lineage.inherits(first_entry.position)
    {
        let position = first_entry.position;
        world.report_violation(format_args!("a fork has an entry of its own at {position}"));
    }
    Ok(Stored { log, segments, table, offloaded, lineage })
}

async fn read_offloaded(world: &World, key: &str) -> Result<Vec<Entry>, PortError> {
    let offload_error = |reason: String| PortError::permanent(format!("offload {key}: {reason}"));
    let blob_key = BlobKey::new(key).map_err(|error| offload_error(error.to_string()))?;
    match world.blobs.get(&blob_key, u64::MAX).await? {
        GetOutcome::Found { bytes, .. } => {
            decode_offloaded(key, &bytes).map_err(|error| offload_error(error.to_string()))
        }
        other_outcome => Err(offload_error(format!("{other_outcome:?}"))),
    }
}

impl Stored {
    /// Returns every entry that was ever in the log.
    #[must_use]
    pub fn history(&self) -> Vec<Arc<Entry>> {
        complete_history(&self.table, &self.offloaded)
    }

    /// Returns the sheets that were ever imported. The log does not contain their imported cells.
    #[must_use]
    pub fn imported_sheets(&self) -> BTreeSet<SheetId> {
        let mut imported_sheets = BTreeSet::new();
        for entry in self.history() {
            let mutations = entry.edits().map(|edits| &edits.mutations);
            for operation in
                mutations.into_iter().flatten().flat_map(Mutation::committed_operations)
            {
                if let Operation::ImportSheet(import) = operation {
                    imported_sheets.insert(import.sheet);
                }
            }
        }
        imported_sheets
    }
}

/// Checks a log's structure and what its clients were told: acknowledgements and read entries.
pub(super) fn check(world: &World, witness: &Witness, stored: &Stored) {
    let report = |invariant: &str, result: Result<(), Violation>| {
        if let Err(violation) = result {
            world.report_violation(format_args!("{invariant}: {violation} ({})", stored.log));
        }
    };
    let history = stored.history();
    let readable = readable_entries(&stored.table, &stored.offloaded);
    report("I1", check_no_gap(&stored.table));
    report("I5", check_links(&history, &stored.segments));
    report("I3", check_once(&history));
    report("I13", check_order(&history));
    let seen = witness.seen();
    let acknowledged = seen.acknowledged.iter().filter(|(log, ..)| *log == stored.log);
    let acknowledged_ids = acknowledged.clone().map(|(_log, mutation_id, _position)| *mutation_id);
    report("I4", check_acknowledged(&readable, acknowledged_ids));
    if let Some(effects) = seen.effects.get(&stored.log) {
        report("I23", check_effects(&readable, effects));
    }
    for (_log, mutation_id, position) in acknowledged {
        let id = mutation_id.id;
        if !is_stored(&readable, id, *position) {
            world.report_violation(format_args!(
                "I4: mutation {id} is not at the acknowledged position {position}"
            ));
        }
    }
    for (log, run) in &seen.runs {
        if *log == stored.log {
            report("I2", check_run(run, &history));
        }
    }
}

fn is_stored(entries: &[Arc<Entry>], mutation_id: u64, position: Position) -> bool {
    entries.iter().filter(|entry| entry.position == position).any(|entry| {
        entry
            .mutation_ids()
            .is_some_and(|(_client, first_id, last_id)| (first_id..=last_id).contains(&mutation_id))
    })
}

/// Checks I2 for consecutive entries, which may start anywhere in the log.
fn check_run(run: &[Arc<Entry>], history: &[Arc<Entry>]) -> Result<(), Violation> {
    let Some(first_entry) = run.first() else { return Ok(()) };
    let first_position = first_entry.position;
    let history_from_run: &[Arc<Entry>] =
        match history.iter().position(|entry| entry.position >= first_position) {
            Some(start_index) => history.get(start_index..).unwrap_or_default(),
            None => &[],
        };
    check_prefix(run, history_from_run)
}
