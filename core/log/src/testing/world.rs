//! A log in memory, with faults on a script.

use std::collections::{BTreeMap, VecDeque};

use super::support::*;
use crate::append::*;
use crate::entry::Content;
use crate::entry::Entry;
use cellar_base::position::Position;
use cellar_sheet::metadata::WorkbookMetadata;
use cellar_sheet::workbook::Workbook;
use std::sync::Arc;

/// What happens to the next put.
pub enum Fault {
    /// It is refused by this entry, put there just before.
    LosesTo(Arc<Entry>),
    /// It happens and its reply is lost.
    ReplyLost,
    /// It does not happen and its reply is lost.
    Lost,
    /// The store says no for good.
    Failed,
}

/// A log in memory that eventually consistent reads see only up to `visible` entries of.
pub struct World {
    pub entries: BTreeMap<Position, Arc<Entry>>,
    pub hidden_from: Option<Position>,
    pub faults: VecDeque<Fault>,
    pub failing_reads: u32,
    pub puts: Vec<Arc<Entry>>,
    pub reads: Vec<(Position, bool)>,
    pub states_read: u32,
}

impl World {
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

    /// Adds an entry, with the summary that follows from the one before.
    pub fn add(&mut self, entry: Arc<Entry>) {
        let before = self.entries.range(..entry.position).next_back();
        let summary = before.and_then(|(_, before)| before.header.summary.clone());
        let mut entry = Arc::unwrap_or_clone(entry);
        if let Some(mut summary) = summary {
            let mutations = entry.edits().map_or(&[][..], |edits| edits.mutations.as_slice());
            let after = Arc::make_mut(&mut summary);
            mutations.iter().for_each(|mutation| after.apply(mutation.effective()));
            entry.header.summary = Some(summary);
        }
        self.entries.insert(entry.position, Arc::new(entry));
    }

    /// The state at a position, without cells.
    pub fn state(&self, at: Position) -> Arc<WorkbookMetadata> {
        let mut workbook = Workbook::default();
        for entry in self.entries.range(..=at).map(|(_, entry)| entry) {
            entry.apply_to(&mut workbook).unwrap();
        }
        Arc::new(workbook.metadata())
    }

    fn read(&mut self, from: Position, consistent: bool) -> AppendEvent {
        self.reads.push((from, consistent));
        if self.failing_reads > 0 {
            self.failing_reads -= 1;
            return AppendEvent::ReadFailed { temporary: true };
        }
        let visible = |position: Position| consistent || Some(position) < self.hidden_from;
        let hidden = self.hidden_from.is_some();
        let page: Vec<_> = self
            .entries
            .range(from..)
            .filter(|(p, _)| p.segment() == from.segment() && (!hidden || visible(**p)))
            .map(|(_, entry)| Arc::clone(entry))
            .collect();
        // Pages of two, so that the machine has to follow them.
        let more = page.len() > 2;
        AppendEvent::Page { entries: page.into_iter().take(2).collect(), more }
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

    pub fn run(&mut self, request: Request, known: &[Arc<Entry>]) -> Result<Appended, Refusal> {
        // Another time at each request, as for any repeated request.
        let now_s = self.puts.iter().map(|_| 1).sum();
        let inputs = Inputs { now_s, random: 3 };
        let (mut append, mut action) = Append::begin(request, known, inputs);
        for _ in 0..1_000 {
            let event = match action {
                AppendAction::Read { from, consistent } => self.read(from, consistent),
                AppendAction::Put { entry } => self.put(entry),
                AppendAction::FindNewestSegment => {
                    AppendEvent::NewestSegment(self.entries.keys().last().map(|p| p.segment()))
                }
                AppendAction::ReadState { at } => {
                    self.states_read += 1;
                    AppendEvent::State(Some(self.state(at)))
                }
                AppendAction::Wait { .. } => AppendEvent::Waited,
                AppendAction::Finish(result) => return result,
            };
            (append, action) = append.step(event, inputs);
        }
        panic!("the append does not end")
    }

    pub fn known(&self) -> Vec<Arc<Entry>> {
        self.entries.values().cloned().collect()
    }

    pub fn known_from(&self, base: Position) -> Vec<Arc<Entry>> {
        self.entries.range(base..).map(|(_, entry)| Arc::clone(entry)).collect()
    }

    /// Ids of one client in the log, in order; numbers must have no gap.
    pub fn ids_of(&self, who: u8) -> Vec<u64> {
        let mut expected = Position::FIRST;
        let mut ids = vec![];
        for entry in self.entries.values() {
            assert_eq!(entry.position, expected, "the log has a gap");
            expected = entry.next_position().unwrap();
            if let Content::Edits(edits) = &entry.content {
                let own = edits.client == client(who);
                ids.extend((edits.first_id..=edits.last_id()).filter(|_| own));
            }
        }
        ids
    }
}
