//! The EventStream table in memory, with a single stream: its newest item, its event batches, and
//! the conditions of writes.

use std::collections::BTreeMap;
use std::sync::Arc;

use cellar_catalog::stream::append::StreamAppendAnswer;
use cellar_catalog::stream::{
    Decider, Etag, EventBatch, Rebuild, RebuildStep, StreamEvent, Tip, Update, Write,
};

use super::events::{EventListDecider, ModelEvent};
use crate::fingerprint::Hashed;

/// The current and all earlier contents of the table.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Table {
    /// Every version of the newest item of the stream, oldest first. The last version is the
    /// current one.
    tips: Vec<Hashed<Tip>>,
    batches: BTreeMap<u64, Hashed<EventBatch>>,
}

/// The condition under which a write may replace the newest item of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TipCondition {
    /// The tip has the expected etag.
    Etag,
    /// The current tip has as many events as the writer expects.
    EventCount,
    /// A tip exists.
    Exists,
}

/// The conditions that the table enforces. Tests relax individual conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conditions {
    /// Whether the put of the first tip requires that the stream has no tip yet.
    pub first_once: bool,
    /// The condition under which an update may replace the current tip.
    pub update: TipCondition,
    /// The condition under which a split may replace the current tip. A split also requires that
    /// the key of the event batch does not exist.
    pub split_off: TipCondition,
    /// Whether a split writes the event batch and the tip in one transaction. Without a
    /// transaction, a writer that crashes between both writes leaves an event batch without its
    /// tip.
    pub one_transaction: bool,
}

impl Default for Conditions {
    fn default() -> Self {
        let etag = TipCondition::Etag;
        Self { first_once: true, update: etag, split_off: etag, one_transaction: true }
    }
}

impl Table {
    /// Returns the current tip.
    #[must_use]
    pub fn tip(&self) -> Option<Arc<Tip>> {
        self.nth_tip(self.tips.len())
    }

    /// Returns the tip with the number `tip_number`. All tips that were ever written are numbered
    /// from 1.
    #[must_use]
    pub fn nth_tip(&self, tip_number: usize) -> Option<Arc<Tip>> {
        let tip = self.tips.get(tip_number.checked_sub(1)?)?;
        Some(Arc::clone(tip.shared()))
    }

    /// Returns the number of tips ever written.
    #[must_use]
    pub fn tip_count(&self) -> usize {
        self.tips.len()
    }

    /// Returns whether `tip` was ever the newest item of the stream.
    #[must_use]
    pub fn ever_contained(&self, tip: &Tip) -> bool {
        self.tips.iter().any(|stored| **stored == *tip)
    }

    /// Returns the etags of all tips, oldest first.
    pub fn etags(&self) -> impl Iterator<Item = Etag> {
        self.tips.iter().map(|tip| tip.etag)
    }

    /// Returns the event batches, oldest first.
    pub fn batches(&self) -> impl Iterator<Item = &EventBatch> {
        self.batches.values().map(|batch| &**batch)
    }

    /// Returns the newest event batch before the event index `below`, if any. A page of the model
    /// contains at most one event batch.
    #[must_use]
    pub fn batches_before(&self, below: u64) -> Vec<EventBatch> {
        let newest_batch = self.batches.range(..below).next_back();
        newest_batch.map(|(_, batch)| EventBatch::clone(batch)).into_iter().collect()
    }

    /// Returns all stored events, in order.
    pub fn events(&self) -> impl Iterator<Item = &StreamEvent> {
        let split_off = self.batches().flat_map(|batch| &batch.events);
        split_off.chain(self.tips.last().into_iter().flat_map(|tip| &tip.events))
    }

    /// Returns all events in decoded form, or `None` if an event cannot be decoded.
    #[must_use]
    pub fn decode_events(&self, decider: &EventListDecider) -> Option<Vec<ModelEvent>> {
        let decode =
            |event: &StreamEvent| decider.decode(&event.kind, &event.data.unpack().ok()?).ok();
        self.events().map(decode).collect()
    }

    /// Returns the state of the stream at a tip, or `None` if it cannot be derived. Core derives it
    /// from the state that the tip caches, or from all events.
    #[must_use]
    pub fn state_at(
        &self,
        decider: &EventListDecider,
        tip: Option<&Tip>,
    ) -> Option<Vec<ModelEvent>> {
        let mut rebuild_step = Rebuild::begin(decider, tip).ok()?;
        loop {
            match rebuild_step {
                RebuildStep::Complete(rebuilt) => return Some(rebuilt.state),
                RebuildStep::ReadBatches { below, rebuild } => {
                    let batches = self.batches_before(below);
                    rebuild_step = rebuild.add_batches(&batches).ok()?;
                }
            }
        }
    }

    /// Executes a write if its conditions are met.
    pub fn write(&mut self, write: &Write, conditions: Conditions) -> StreamAppendAnswer {
        match write {
            Write::First(tip) => self.put_first(tip, conditions.first_once),
            Write::Update(update) => self.update(update, conditions.update),
            Write::SplitOff { batch, update } => {
                self.split_off(batch, update, conditions.split_off)
            }
        }
    }

    /// Puts the event batch of a split, but not its tip. No-op if the key of the event batch
    /// exists.
    pub fn write_batch_only(&mut self, write: &Write) {
        if let Write::SplitOff { batch, .. } = write {
            let stored = || Hashed::new(Arc::new(batch.clone()));
            self.batches.entry(batch.index).or_insert_with(stored);
        }
    }

    fn put_first(&mut self, tip: &Tip, only_if_none: bool) -> StreamAppendAnswer {
        match self.tip() {
            Some(current_tip) if only_if_none => {
                StreamAppendAnswer::Refused { tip: Some(current_tip) }
            }
            _ => self.store_tip(tip.clone()),
        }
    }

    /// Replaces the attributes of the tip and appends the new events to the stored ones.
    fn update(&mut self, update: &Update, condition: TipCondition) -> StreamAppendAnswer {
        let Some(current_tip) = self.tip() else {
            return StreamAppendAnswer::Refused { tip: None };
        };
        if !is_condition_met(condition, &current_tip, update) {
            return StreamAppendAnswer::Refused { tip: Some(current_tip) };
        }
        let events = current_tip.events.iter().chain(&update.appended).cloned().collect();
        self.store_tip(Tip { events, ..update.tip.clone() })
    }

    /// If the conditions on both items fail, the response reports the failed condition on the tip.
    fn split_off(
        &mut self,
        batch: &EventBatch,
        update: &Update,
        condition: TipCondition,
    ) -> StreamAppendAnswer {
        let Some(current_tip) = self.tip() else {
            return StreamAppendAnswer::Refused { tip: None };
        };
        if !is_condition_met(condition, &current_tip, update) {
            return StreamAppendAnswer::Refused { tip: Some(current_tip) };
        }
        if self.batches.contains_key(&batch.index) {
            return StreamAppendAnswer::BatchExists;
        }
        self.batches.insert(batch.index, Hashed::new(Arc::new(batch.clone())));
        self.store_tip(Tip { events: update.appended.clone(), ..update.tip.clone() })
    }

    fn store_tip(&mut self, tip: Tip) -> StreamAppendAnswer {
        self.tips.push(Hashed::new(Arc::new(tip)));
        StreamAppendAnswer::Done
    }
}

fn is_condition_met(condition: TipCondition, current_tip: &Tip, update: &Update) -> bool {
    match condition {
        TipCondition::Etag => current_tip.etag == update.expected,
        TipCondition::EventCount => {
            current_tip.next == update.tip.next.saturating_sub(update.tip.appended)
        }
        TipCondition::Exists => true,
    }
}
