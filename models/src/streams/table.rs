//! The EventStream table with one stream: its tip, its event batches, and the conditions of writes to them.

use std::collections::BTreeMap;
use std::sync::Arc;

use cellar_catalog::stream::append::StreamAppendAnswer;
use cellar_catalog::stream::{
    Decider, Etag, EventBatch, Need, Rebuild, StreamEvent, Tip, Update, Write,
};

use super::sayings::{Said, Sayings};
use crate::fingerprint::Hashed;

/// What is stored, and was.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Table {
    /// Every tip that there was, the present one last.
    tips: Vec<Hashed<Tip>>,
    batches: BTreeMap<u64, Hashed<EventBatch>>,
}

/// What a write asks of the tip that it changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TipCondition {
    /// That it has the expected etag.
    Etag,
    /// That it has as many events as the writer knows of.
    Next,
    /// Nothing but that there is one.
    Nothing,
}

/// What the table sees to; the model checker switches one off at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conditions {
    /// A first tip is put only where there is none.
    pub first_once: bool,
    /// What an update asks of the tip.
    pub update: TipCondition,
    /// What a transaction that splits the tip asks of the tip, besides that the event batch's key is free.
    pub split_off: TipCondition,
    /// That is one transaction: if not, a writer that dies may leave an event batch without its tip.
    pub one_transaction: bool,
}

impl Default for Conditions {
    fn default() -> Self {
        let etag = TipCondition::Etag;
        Self { first_once: true, update: etag, split_off: etag, one_transaction: true }
    }
}

impl Table {
    /// The tip.
    #[must_use]
    pub fn tip(&self) -> Option<Arc<Tip>> {
        self.tip_of(self.tips.len())
    }

    /// The tip when there had been so many.
    #[must_use]
    pub fn tip_of(&self, count: usize) -> Option<Arc<Tip>> {
        self.tips.get(count.checked_sub(1)?).map(|tip| Arc::clone(tip.shared()))
    }

    /// How many tips there have been.
    #[must_use]
    pub fn tips(&self) -> usize {
        self.tips.len()
    }

    /// Whether this was the tip at some time, as it is.
    #[must_use]
    pub fn has_had(&self, tip: &Tip) -> bool {
        self.tips.iter().any(|had| **had == *tip)
    }

    /// The etags of all tips, in their order.
    pub fn etags(&self) -> impl Iterator<Item = Etag> {
        self.tips.iter().map(|tip| tip.etag)
    }

    /// The event batches, the oldest first.
    pub fn batches(&self) -> impl Iterator<Item = &EventBatch> {
        self.batches.values().map(|batch| &**batch)
    }

    /// A page of the event batches below an index: the newest.
    #[must_use]
    pub fn batches_before(&self, below: u64) -> Vec<EventBatch> {
        let newest = self.batches.range(..below).next_back();
        newest.map(|(_, batch)| EventBatch::clone(batch)).into_iter().collect()
    }

    /// All events, in the order of the keys.
    pub fn events(&self) -> impl Iterator<Item = &StreamEvent> {
        let split_off = self.batches().flat_map(|batch| &batch.events);
        split_off.chain(self.tips.last().into_iter().flat_map(|tip| &tip.events))
    }

    /// The same, read; `None` if one cannot be.
    #[must_use]
    pub fn said(&self, sayings: &Sayings) -> Option<Vec<Said>> {
        let read =
            |event: &StreamEvent| sayings.decode(&event.kind, &event.data.unpack().ok()?).ok();
        self.events().map(read).collect()
    }

    /// The state at a tip, made by core of its unfold or of events back to the first; `None` if none can be
    /// made.
    #[must_use]
    pub fn state_at(&self, sayings: &Sayings, tip: Option<&Tip>) -> Option<Vec<Said>> {
        let mut need = Rebuild::begin(sayings, tip).ok()?;
        loop {
            match need {
                Need::Nothing(rebuilt) => return Some(rebuilt.state),
                Need::Batches { below, rebuild } => {
                    need = rebuild.add_batches(&self.batches_before(below)).ok()?;
                }
            }
        }
    }

    /// Writes all of it if its conditions hold.
    pub fn write(&mut self, write: &Write, conditions: Conditions) -> StreamAppendAnswer {
        match write {
            Write::First(tip) => self.put_first(tip, conditions.first_once),
            Write::Update(update) => self.update(update, conditions.update),
            Write::SplitOff { batch, update } => {
                self.split_off(batch, update, conditions.split_off)
            }
        }
    }

    /// Puts the event batch of a write, if its key is free, and not its tip.
    pub fn write_batch_only(&mut self, write: &Write) {
        if let Write::SplitOff { batch, .. } = write {
            let stored = || Hashed::new(Arc::new(batch.clone()));
            self.batches.entry(batch.index).or_insert_with(stored);
        }
    }

    fn put_first(&mut self, tip: &Tip, once: bool) -> StreamAppendAnswer {
        match self.tip() {
            Some(stands) if once => StreamAppendAnswer::Refused { tip: Some(stands) },
            _ => self.set(tip.clone()),
        }
    }

    /// Adds the events to those that stand there, and sets all else.
    fn update(&mut self, update: &Update, condition: TipCondition) -> StreamAppendAnswer {
        match self.tip() {
            Some(stands) if holds(condition, &stands, update) => {
                let events = stands.events.iter().chain(&update.appended).cloned().collect();
                self.set(Tip { events, ..update.tip.clone() })
            }
            tip => StreamAppendAnswer::Refused { tip },
        }
    }

    /// Of two conditions that fail the one on the tip is told.
    fn split_off(
        &mut self,
        batch: &EventBatch,
        update: &Update,
        condition: TipCondition,
    ) -> StreamAppendAnswer {
        match self.tip() {
            Some(stands) if holds(condition, &stands, update) => {
                if self.batches.contains_key(&batch.index) {
                    return StreamAppendAnswer::BatchExists;
                }
                self.batches.insert(batch.index, Hashed::new(Arc::new(batch.clone())));
                self.set(Tip { events: update.appended.clone(), ..update.tip.clone() })
            }
            tip => StreamAppendAnswer::Refused { tip },
        }
    }

    fn set(&mut self, tip: Tip) -> StreamAppendAnswer {
        self.tips.push(Hashed::new(Arc::new(tip)));
        StreamAppendAnswer::Done
    }
}

fn holds(condition: TipCondition, stands: &Tip, update: &Update) -> bool {
    match condition {
        TipCondition::Etag => stands.etag == update.expected,
        TipCondition::Next => stands.next == update.tip.next.saturating_sub(update.tip.appended),
        TipCondition::Nothing => true,
    }
}
