//! Property tests of several concurrent writers with lost replies, late writes and stale reads:
//! each append is in the stream once and in order, and was decided on exactly the events before it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;

use super::support::{SMALL, event, name};
use crate::stream::append::{AppendOutcome, Rules, StreamAppendAction, StreamAppendAnswer};
use crate::stream::{Append, EventBatch, Proposal, StreamEvent, Tip, Write, WriterId};
use cellar_log::append::Inputs;

/// The table with its event batches and all its tips, oldest first.
#[derive(Default)]
struct Table {
    tips: Vec<Arc<Tip>>,
    batches: BTreeMap<u64, EventBatch>,
}

impl Table {
    fn tip(&self) -> Option<Arc<Tip>> {
        self.tips.last().cloned()
    }

    fn write(&mut self, write: &Write) -> StreamAppendAnswer {
        if self.tip().map(|tip| tip.etag) != write.expected() {
            return StreamAppendAnswer::Refused { tip: self.tip() };
        }
        if let Write::SplitOff { batch, .. } = write {
            if self.batches.contains_key(&batch.index) {
                return StreamAppendAnswer::BatchExists;
            }
            self.batches.insert(batch.index, batch.clone());
        }
        self.tips.push(Arc::new(write.tip().clone()));
        StreamAppendAnswer::Done
    }

    fn events(&self) -> Vec<StreamEvent> {
        let split_off = self.batches.values().flat_map(|batch| batch.events.clone());
        split_off.chain(self.tip().map(|tip| tip.events.clone()).unwrap_or_default()).collect()
    }
}

enum WriterState {
    Deciding(Option<Arc<Tip>>),
    Appending { append: Append, action: StreamAppendAction },
    Ended,
}

struct Writer {
    id: u8,
    state: WriterState,
    left: u32,
    /// Acknowledged appends, as the words of their events.
    acknowledged: Vec<String>,
    uncertain: usize,
}

struct World {
    table: Table,
    /// Writes that may still take effect, although their writers have given up waiting.
    late: Vec<Arc<Write>>,
    writers: Vec<Writer>,
    /// Random bytes, each of which determines one choice.
    choices: std::vec::IntoIter<u8>,
    rules: Rules,
}

impl World {
    /// Returns a random number below `bound`.
    fn choose(&mut self, bound: u8) -> u8 {
        self.choices.next().unwrap_or(u8::MAX) % bound
    }

    /// Returns whether the next request succeeds.
    fn succeeds(&mut self) -> bool {
        self.choices.next().is_none_or(|byte| byte % 3 != 0)
    }

    fn write(&mut self, write: &Arc<Write>) -> StreamAppendAnswer {
        if self.succeeds() {
            return self.table.write(write);
        }
        match self.choose(4) {
            // The reply is lost.
            0 => drop(self.table.write(write)),
            1 => self.late.push(Arc::clone(write)),
            2 => return StreamAppendAnswer::Throttled,
            // The write arrives twice: now and later.
            _ => {
                self.late.push(Arc::clone(write));
                drop(self.table.write(write));
            }
        }
        StreamAppendAnswer::Unknown
    }

    fn answer(&mut self, action: &StreamAppendAction) -> Option<StreamAppendAnswer> {
        Some(match action {
            StreamAppendAction::Write(write) => self.write(write),
            StreamAppendAction::ReadTip | StreamAppendAction::ReadBatches { .. }
                if !self.succeeds() =>
            {
                StreamAppendAnswer::ReadFailed { temporary: true }
            }
            StreamAppendAction::ReadTip => StreamAppendAnswer::Tip(self.table.tip()),
            StreamAppendAction::ReadBatches { below } => {
                // One batch per page.
                let batches = self.table.batches.range(..below).next_back();
                StreamAppendAnswer::Batches {
                    batches: batches.map(|(_, batch)| batch.clone()).into_iter().collect(),
                }
            }
            StreamAppendAction::Wait { .. } => StreamAppendAnswer::Waited,
            StreamAppendAction::Finish(_) => return None,
        })
    }

    /// Starts the next append of a writer, decided on the tip `on`.
    fn begin(&mut self, id: u8, left: u32, on: Option<Arc<Tip>>) -> WriterState {
        let writer =
            WriterId([id, left.to_le_bytes()[0], 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        let seen = on.as_ref().map_or(0, |tip| tip.next);
        let events = vec![StreamEvent { writer, ..event(0, &format!("{id}/{left}@{seen}")) }];
        let proposal = Proposal { name: name(), base_tip: on, writer, events, unfolds: vec![] };
        let (append, action) = Append::begin_with_rules(&proposal, SMALL, self.rules).unwrap();
        WriterState::Appending { append, action }
    }

    fn stale_tip(&mut self) -> Option<Arc<Tip>> {
        let back = usize::from(self.choose(3));
        let last = self.table.tips.len().checked_sub(1)?;
        self.table.tips.get(last.checked_sub(back)?).cloned()
    }

    fn step(&mut self, at: usize) {
        let state = std::mem::replace(&mut self.writers[at].state, WriterState::Ended);
        let (id, left) = (self.writers[at].id, self.writers[at].left);
        self.writers[at].state = match state {
            WriterState::Ended if left == 0 => WriterState::Ended,
            WriterState::Ended => {
                let on = self.stale_tip();
                self.begin(id, left, on)
            }
            WriterState::Deciding(on) => self.begin(id, left, on),
            WriterState::Appending { append, action } => match self.answer(&action) {
                Some(answer) => {
                    let (append, action) = append.step(answer, Inputs { now_s: 0, random: 0 });
                    WriterState::Appending { append, action }
                }
                None => self.ended(at, &action),
            },
        };
    }

    fn ended(&mut self, at: usize, action: &StreamAppendAction) -> WriterState {
        let StreamAppendAction::Finish(end) = action else { panic!("{action:?}") };
        let writer = &mut self.writers[at];
        match end {
            Ok(AppendOutcome::Conflict { tip }) => return WriterState::Deciding(tip.clone()),
            Ok(AppendOutcome::Appended { index, .. }) => {
                writer.acknowledged.push(format!("{}/{}@{index}", writer.id, writer.left));
            }
            Err(_) => writer.uncertain += 1,
        }
        writer.left -= 1;
        WriterState::Ended
    }

    fn run(mut self) -> Self {
        loop {
            if !self.late.is_empty() && self.choose(4) == 0 {
                let which = usize::from(self.choose(u8::MAX)) % self.late.len();
                let write = self.late.swap_remove(which);
                self.table.write(&write);
            }
            let busy: Vec<usize> = (0..self.writers.len())
                .filter(|at| {
                    let writer = &self.writers[*at];
                    writer.left > 0 || !matches!(writer.state, WriterState::Ended)
                })
                .collect();
            if busy.is_empty() {
                break;
            }
            let at = busy[usize::from(self.choose(u8::MAX)) % busy.len()];
            self.step(at);
        }
        // All late writes arrive in the end.
        for write in std::mem::take(&mut self.late) {
            self.table.write(&write);
        }
        self
    }
}

/// Runs three writers with five appends each until all have finished.
fn run_writers(choices: Vec<u8>, rules: Rules) -> World {
    let writer =
        |id| Writer { id, state: WriterState::Ended, left: 5, acknowledged: vec![], uncertain: 0 };
    let (table, late, writers) = (Table::default(), vec![], (1..=3).map(writer).collect());
    World { table, late, writers, choices: choices.into_iter(), rules }.run()
}

/// Checks the guarantees of event streams.
fn check(world: &World) -> Result<(), String> {
    let text =
        |event: &StreamEvent| String::from_utf8(event.data.stored.clone()).unwrap_or_default();
    let words: Vec<String> = world.table.events().iter().map(text).collect();
    let is_decided_on_prefix =
        |(index, word): (usize, &String)| word.ends_with(&format!("@{index}"));
    if !words.iter().enumerate().all(is_decided_on_prefix) {
        return Err(format!(
            "an append was not decided on exactly the events before it: {words:?}"
        ));
    }
    let once: BTreeSet<&str> = words.iter().filter_map(|word| word.split('@').next()).collect();
    if once.len() != words.len() {
        return Err(format!("an append is in the stream twice: {words:?}"));
    }
    let mut acknowledged = world.writers.iter().flat_map(|writer| &writer.acknowledged);
    if let Some(lost) = acknowledged.find(|word| !words.contains(word)) {
        return Err(format!("{lost} was acknowledged and is not in {words:?}"));
    }
    let acknowledged: usize = world.writers.iter().map(|writer| writer.acknowledged.len()).sum();
    let uncertain: usize = world.writers.iter().map(|writer| writer.uncertain).sum();
    match words.len() - acknowledged <= uncertain {
        true => Ok(()),
        false => Err(format!(
            "the stream has more appends than were acknowledged or uncertain: {words:?}"
        )),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn each_append_is_in_the_stream_once_and_in_order(choices in prop::collection::vec(any::<u8>(), 0..600)) {
        prop_assert_eq!(check(&run_writers(choices, Rules::default())), Ok(()));
    }
}

/// Without any single rule, a test run finds a violation; with all rules, none does.
#[cfg(feature = "model")]
#[test]
fn each_rule_is_needed() {
    use crate::stream::append::SafetyRule;

    let choices = |seed: u32| {
        let mut state = seed;
        let byte = |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_le_bytes()[3]
        };
        (0..600).map(byte).collect::<Vec<u8>>()
    };
    let fault = |rules| (0..3_000).find_map(|seed| check(&run_writers(choices(seed), rules)).err());
    assert_eq!(fault(Rules::default()), None);
    for rule in [SafetyRule::SearchTip, SafetyRule::SearchBatches, SafetyRule::SameWrite] {
        let fault = fault(Rules::without(rule));
        assert!(fault.is_some_and(|fault| fault.contains("twice")), "{rule:?}");
    }
}
