//! Proposals: events to append, and the tip on which they were decided.

use std::sync::Arc;

use super::AppendFault;
use super::write::{Update, Write};
use crate::records::stream::{encode_event_batch, encode_tip, events_bytes, unfolds_bytes};
use crate::stream::etag::Etag;
use crate::stream::event::{StreamEvent, WriterId};
use crate::stream::name::StreamName;
use crate::stream::tip::{EventBatch, SplitPolicy, Tip, count};
use crate::stream::unfold::Unfold;
use cellar_base::limits::{MAX_STREAM_ITEM_BYTES, TIP_INDEX};
use cellar_base::record::item_bytes;

/// Events that were decided on a tip.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// Stream.
    pub name: StreamName,
    /// Tip; `None` if the stream did not exist.
    pub on: Option<Arc<Tip>>,
    /// Id of the append, stored with each event.
    pub writer: WriterId,
    /// Events, oldest first.
    pub events: Vec<StreamEvent>,
    /// Unfolds of the new tip.
    pub unfolds: Vec<Unfold>,
}

impl Proposal {
    /// Returns the write of this proposal; always the same for the same proposal and policy.
    ///
    /// # Errors
    /// [`AppendFault`] if no tip can contain these events.
    pub fn write(&self, policy: SplitPolicy) -> Result<Write, AppendFault> {
        self.events.iter().try_for_each(StreamEvent::check)?;
        if self.events.is_empty() {
            return Err(AppendFault::Empty);
        }
        let index = self.on.as_ref().map_or(0, |tip| tip.next);
        let next = index.saturating_add(count(&self.events));
        if next > TIP_INDEX {
            return Err(AppendFault::Full);
        }
        let alone = self.tip_alone(next);
        let bytes = item_bytes(&encode_tip(&alone));
        if bytes > MAX_STREAM_ITEM_BYTES {
            return Err(AppendFault::TooLarge { bytes });
        }
        let Some(on) = &self.on else { return Ok(Write::First(alone)) };
        Ok(match joined(on, &alone) {
            tip if is_too_large(&tip, policy) => split_off(on, alone),
            tip => Write::Update(Update { expected: on.etag, tip, appended: self.events.clone() }),
        })
    }

    /// Returns the tip with only these events.
    fn tip_alone(&self, next: u64) -> Tip {
        let before = self.on.as_ref().map(|tip| tip.etag);
        Tip {
            name: self.name.clone(),
            etag: Etag::of(&self.name, before, &self.events, &self.unfolds),
            next,
            batch_bytes: self.on.as_ref().map_or(0, |tip| tip.batch_bytes),
            appended: count(&self.events),
            events: self.events.clone(),
            unfolds: self.unfolds.clone(),
        }
    }
}

/// Returns the tip with the events of both.
fn joined(on: &Tip, alone: &Tip) -> Tip {
    let events = on.events.iter().chain(&alone.events).cloned().collect();
    Tip { events, ..alone.clone() }
}

fn is_too_large(tip: &Tip, policy: SplitPolicy) -> bool {
    tip.events.len() > policy.events
        || events_bytes(&tip.events) + unfolds_bytes(&tip.unfolds) > policy.bytes
        || item_bytes(&encode_tip(tip)) > MAX_STREAM_ITEM_BYTES
}

/// Returns the write that moves the earlier events to an event batch.
fn split_off(on: &Tip, alone: Tip) -> Write {
    let batch = EventBatch { name: on.name.clone(), index: on.first(), events: on.events.clone() };
    let bytes = u64::try_from(item_bytes(&encode_event_batch(&batch))).unwrap_or(u64::MAX);
    let tip = Tip { batch_bytes: on.batch_bytes.saturating_add(bytes), ..alone };
    let appended = tip.events.clone();
    Write::SplitOff { batch, update: Update { expected: on.etag, tip, appended } }
}
