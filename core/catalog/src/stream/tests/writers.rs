//! Several writers at once in a world that loses replies, lets requests land late and reads what is old:
//! each append is in the stream once, in order, and nobody decides on what is no beginning of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;

use super::support::{SMALL, event, name};
use crate::stream::append::{End, Rules, StreamAppendAction, StreamAppendAnswer};
use crate::stream::{Append, EventBatch, Proposal, StreamEvent, Tip, Write, WriterId};
use cellar_log::append::Inputs;

/// The table, with every tip that it ever had.
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

enum Doing {
    Deciding(Option<Arc<Tip>>),
    Appending { append: Append, action: StreamAppendAction },
    Ended,
}

struct Writer {
    id: u8,
    doing: Doing,
    left: u32,
    /// Which events of it are acknowledged: the number in its data.
    acknowledged: Vec<String>,
    doubts: usize,
}

struct World {
    table: Table,
    /// Requests that nobody waits for any more.
    late: Vec<Arc<Write>>,
    writers: Vec<Writer>,
    /// Each byte decides one thing.
    fate: std::vec::IntoIter<u8>,
    rules: Rules,
}

impl World {
    fn fate(&mut self, of: u8) -> u8 {
        self.fate.next().unwrap_or(u8::MAX) % of
    }

    /// A fault, while fate lasts.
    fn is_lucky(&mut self) -> bool {
        self.fate.next().is_none_or(|byte| byte % 3 != 0)
    }

    fn write(&mut self, write: &Arc<Write>) -> StreamAppendAnswer {
        if self.is_lucky() {
            return self.table.write(write);
        }
        match self.fate(4) {
            // The reply is lost.
            0 => drop(self.table.write(write)),
            1 => self.late.push(Arc::clone(write)),
            2 => return StreamAppendAnswer::Throttled,
            // It lands twice: now and later.
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
                if !self.is_lucky() =>
            {
                StreamAppendAnswer::ReadFailed { temporary: true }
            }
            StreamAppendAction::ReadTip => StreamAppendAnswer::Tip(self.table.tip()),
            StreamAppendAction::ReadBatches { below } => {
                // One a page.
                let batches = self.table.batches.range(..below).next_back();
                StreamAppendAnswer::Batches {
                    batches: batches.map(|(_, batch)| batch.clone()).into_iter().collect(),
                }
            }
            StreamAppendAction::Wait { .. } => StreamAppendAnswer::Waited,
            StreamAppendAction::Finish(_) => return None,
        })
    }

    /// Decides the next append of a writer, whose state is what the tip says that came before.
    fn begin(&mut self, id: u8, left: u32, on: Option<Arc<Tip>>) -> Doing {
        let writer =
            WriterId([id, left.to_le_bytes()[0], 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        let seen = on.as_ref().map_or(0, |tip| tip.next);
        let events = vec![StreamEvent { writer, ..event(0, &format!("{id}/{left}@{seen}")) }];
        let proposal = Proposal { name: name(), on, writer, events, unfolds: vec![] };
        let (append, action) = Append::begin_by(&proposal, SMALL, self.rules).unwrap();
        Doing::Appending { append, action }
    }

    fn stale_tip(&mut self) -> Option<Arc<Tip>> {
        let back = usize::from(self.fate(3));
        let last = self.table.tips.len().checked_sub(1)?;
        self.table.tips.get(last.checked_sub(back)?).cloned()
    }

    fn step(&mut self, at: usize) {
        let doing = std::mem::replace(&mut self.writers[at].doing, Doing::Ended);
        let (id, left) = (self.writers[at].id, self.writers[at].left);
        self.writers[at].doing = match doing {
            Doing::Ended if left == 0 => Doing::Ended,
            Doing::Ended => {
                let on = self.stale_tip();
                self.begin(id, left, on)
            }
            Doing::Deciding(on) => self.begin(id, left, on),
            Doing::Appending { append, action } => match self.answer(&action) {
                Some(answer) => {
                    let (append, action) = append.step(answer, Inputs { now_s: 0, random: 0 });
                    Doing::Appending { append, action }
                }
                None => self.ended(at, &action),
            },
        };
    }

    fn ended(&mut self, at: usize, action: &StreamAppendAction) -> Doing {
        let StreamAppendAction::Finish(end) = action else { panic!("{action:?}") };
        let writer = &mut self.writers[at];
        match end {
            Ok(End::Conflict { tip }) => return Doing::Deciding(tip.clone()),
            Ok(End::Appended { index, .. }) => {
                writer.acknowledged.push(format!("{}/{}@{index}", writer.id, writer.left));
            }
            Err(_) => writer.doubts += 1,
        }
        writer.left -= 1;
        Doing::Ended
    }

    fn run(mut self) -> Self {
        loop {
            if !self.late.is_empty() && self.fate(4) == 0 {
                let which = usize::from(self.fate(u8::MAX)) % self.late.len();
                let write = self.late.swap_remove(which);
                self.table.write(&write);
            }
            let busy: Vec<usize> = (0..self.writers.len())
                .filter(|at| {
                    let writer = &self.writers[*at];
                    writer.left > 0 || !matches!(writer.doing, Doing::Ended)
                })
                .collect();
            if busy.is_empty() {
                break;
            }
            let at = busy[usize::from(self.fate(u8::MAX)) % busy.len()];
            self.step(at);
        }
        // Whatever was on its way lands in the end.
        for write in std::mem::take(&mut self.late) {
            self.table.write(&write);
        }
        self
    }
}

/// Three writers of five appends each, to their end.
fn ended(fate: Vec<u8>, rules: Rules) -> World {
    let writer = |id| Writer { id, doing: Doing::Ended, left: 5, acknowledged: vec![], doubts: 0 };
    let (table, late, writers) = (Table::default(), vec![], (1..=3).map(writer).collect());
    World { table, late, writers, fate: fate.into_iter(), rules }.run()
}

/// What is promised of the end.
fn check(world: &World) -> Result<(), String> {
    let text =
        |event: &StreamEvent| String::from_utf8(event.data.stored.clone()).unwrap_or_default();
    let words: Vec<String> = world.table.events().iter().map(text).collect();
    let is_decided_here = |(index, word): (usize, &String)| word.ends_with(&format!("@{index}"));
    if !words.iter().enumerate().all(is_decided_here) {
        return Err(format!("one was not decided on exactly what is before it: {words:?}"));
    }
    let once: BTreeSet<&str> = words.iter().filter_map(|word| word.split('@').next()).collect();
    if once.len() != words.len() {
        return Err(format!("an append is there twice: {words:?}"));
    }
    let mut acknowledged = world.writers.iter().flat_map(|writer| &writer.acknowledged);
    if let Some(lost) = acknowledged.find(|word| !words.contains(word)) {
        return Err(format!("{lost} was acknowledged and is not in {words:?}"));
    }
    let acknowledged: usize = world.writers.iter().map(|writer| writer.acknowledged.len()).sum();
    let doubts: usize = world.writers.iter().map(|writer| writer.doubts).sum();
    match words.len() - acknowledged <= doubts {
        true => Ok(()),
        false => Err(format!("more is there than was acknowledged or in doubt: {words:?}")),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn each_append_is_there_once_and_in_order(fate in prop::collection::vec(any::<u8>(), 0..600)) {
        prop_assert_eq!(check(&ended(fate, Rules::default())), Ok(()));
    }
}

/// Without any one of the rules something goes wrong; with all of them nothing does.
#[cfg(feature = "model")]
#[test]
fn each_rule_is_needed() {
    use crate::stream::append::SafetyRule;

    let fate = |seed: u32| {
        let mut state = seed;
        let byte = |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_le_bytes()[3]
        };
        (0..600).map(byte).collect::<Vec<u8>>()
    };
    let fault = |rules| (0..3_000).find_map(|seed| check(&ended(fate(seed), rules)).err());
    assert_eq!(fault(Rules::default()), None);
    for rule in [SafetyRule::SearchTip, SafetyRule::SearchBatches, SafetyRule::SameWrite] {
        let fault = fault(Rules::without(rule));
        assert!(fault.is_some_and(|fault| fault.contains("twice")), "{rule:?}");
    }
}
