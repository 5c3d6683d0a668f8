//! In-memory log with injected faults.

use std::collections::{BTreeMap, VecDeque};

use super::support::*;
use crate::append::*;
use crate::entry::Content;
use crate::entry::Entry;
use cellar_base::consistency::ReadConsistency;
use cellar_base::position::Position;
use cellar_sheet::metadata::WorkbookMetadata;
use cellar_sheet::workbook::Workbook;
use std::sync::Arc;

/// Page size. It is small, so that the state machine must read several pages.
const PAGE_ENTRIES: usize = 2;

/// A fault of the next put.
pub enum Fault {
    /// The put fails because another writer has just put this entry at the same position.
    LosesTo(Arc<Entry>),
    /// The put succeeds, but its response is lost.
    ReplyLost,
    /// The put has no effect, and its response is lost.
    Lost,
    /// The put fails permanently.
    Failed,
}

/// An in-memory log that records its requests.
pub struct World {
    pub entries: BTreeMap<Position, Arc<Entry>>,
    /// First position that is not yet visible to eventually consistent reads.
    pub hidden_from: Option<Position>,
    /// Injected faults for the upcoming puts, in order.
    pub faults: VecDeque<Fault>,
    /// Number of upcoming reads that fail.
    pub failing_reads: u32,
    /// Entries of all puts, including failed puts.
    pub puts: Vec<Arc<Entry>>,
    /// Start position and consistency of each read.
    pub reads: Vec<(Position, ReadConsistency)>,
    /// Number of workbook metadata reads.
    pub states_read: u32,
}

impl World {
    /// Creates a log with `count` entries: a Snapshot entry, followed by edits of client 2.
    pub fn new(count: u32) -> Self {
        let mut world = Self {
            entries: BTreeMap::new(),
            hidden_from: None,
            faults: VecDeque::new(),
            failing_reads: 0,
            puts: vec![],
            reads: vec![],
            states_read: 0,
        };
        world.add(snapshot_entry(Position::FIRST));
        (1..count).for_each(|num| world.add(edits_entry(at(0, num), 2, u64::from(num))));
        world
    }

    /// Adds an entry with a state summary, which is computed from the preceding entry.
    pub fn add(&mut self, entry: Arc<Entry>) {
        let preceding_entry = self.entries.range(..entry.position).next_back();
        let preceding_summary =
            preceding_entry.and_then(|(_, preceding)| preceding.header.summary.clone());
        let mut entry = Arc::unwrap_or_clone(entry);
        if let Some(mut summary) = preceding_summary {
            let mutations = entry.edits().map_or(&[][..], |edits| edits.mutations.as_slice());
            for mutation in mutations {
                Arc::make_mut(&mut summary).apply(mutation.committed_operations());
            }
            entry.header.summary = Some(summary);
        }
        self.entries.insert(entry.position, Arc::new(entry));
    }

    /// Returns the workbook metadata at a position.
    pub fn state(&self, at: Position) -> Arc<WorkbookMetadata> {
        let mut workbook = Workbook::default();
        for entry in self.entries.range(..=at).map(|(_, entry)| entry) {
            entry.apply_to(&mut workbook).unwrap();
        }
        Arc::new(workbook.metadata())
    }

    fn read(&mut self, from: Position, consistency: ReadConsistency) -> AppendEvent {
        self.reads.push((from, consistency));
        if self.failing_reads > 0 {
            self.failing_reads -= 1;
            return AppendEvent::ReadFailed { temporary: true };
        }
        let is_visible = |position: Position| match self.hidden_from {
            Some(hidden_from) => consistency.is_strong() || position < hidden_from,
            None => true,
        };
        let mut page: Vec<Arc<Entry>> = self
            .entries_from(from)
            .into_iter()
            .filter(|entry| entry.position.segment() == from.segment())
            .filter(|entry| is_visible(entry.position))
            .collect();
        let has_more = page.len() > PAGE_ENTRIES;
        page.truncate(PAGE_ENTRIES);
        AppendEvent::Page { entries: page, has_more }
    }

    fn put(&mut self, entry: Arc<Entry>) -> AppendEvent {
        self.puts.push(Arc::clone(&entry));
        match self.faults.pop_front() {
            Some(Fault::LosesTo(winner)) => self.add(winner),
            Some(Fault::ReplyLost) => {
                self.entries.entry(entry.position).or_insert(entry);
                return AppendEvent::PutUnknown;
            }
            Some(Fault::Lost) => return AppendEvent::PutUnknown,
            Some(Fault::Failed) => return AppendEvent::PutFailed,
            None => {}
        }
        if let Some(winner) = self.entries.get(&entry.position) {
            return AppendEvent::PutRefused { winner: Arc::clone(winner) };
        }
        self.add(entry);
        AppendEvent::PutAccepted
    }

    /// Runs an append with these cached entries and returns its result.
    pub fn append(
        &mut self,
        request: Request,
        cached_entries: &[Arc<Entry>],
    ) -> Result<Appended, Refusal> {
        const MAX_STEPS: u32 = 1_000;
        // Use a different time for each request, as in a real retry.
        let now_s = u64::try_from(self.puts.len()).unwrap();
        let inputs = Inputs { now_s, random: 3 };
        let (mut append, mut action) = Append::begin(request, cached_entries, inputs);
        for _ in 0..MAX_STEPS {
            let event = match action {
                AppendAction::Finish(result) => return result,
                unfinished => self.perform(unfinished),
            };
            (append, action) = append.step(event, inputs);
        }
        panic!("the append does not end")
    }

    /// Performs an action other than the last action of an append.
    fn perform(&mut self, action: AppendAction) -> AppendEvent {
        match action {
            AppendAction::Read { from, consistency } => self.read(from, consistency),
            AppendAction::Put { entry } => self.put(entry),
            AppendAction::FindNewestSegment => {
                let newest_position = self.entries.keys().last();
                AppendEvent::NewestSegment(newest_position.map(|position| position.segment()))
            }
            AppendAction::ReadState { at } => {
                self.states_read += 1;
                AppendEvent::State(Some(self.state(at)))
            }
            AppendAction::Wait { .. } => AppendEvent::Waited,
            AppendAction::Finish(_) => panic!("the append has finished"),
        }
    }

    /// Returns all entries.
    pub fn all_entries(&self) -> Vec<Arc<Entry>> {
        self.entries.values().cloned().collect()
    }

    /// Returns the entries starting at `base` (inclusive).
    pub fn entries_from(&self, base: Position) -> Vec<Arc<Entry>> {
        self.entries.range(base..).map(|(_, entry)| Arc::clone(entry)).collect()
    }

    /// Returns one client's mutation ids in log order. Panics if the log has a gap.
    pub fn mutation_ids_of(&self, who: u8) -> Vec<u64> {
        let mut expected = Position::FIRST;
        let mut ids = vec![];
        for entry in self.entries.values() {
            assert_eq!(entry.position, expected, "the log has a gap");
            expected = entry.next_position().unwrap();
            if let Content::Edits(edits) = &entry.content
                && edits.client == client(who)
            {
                ids.extend(edits.first_id..=edits.last_id());
            }
        }
        ids
    }
}
