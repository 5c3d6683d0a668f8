//! Proposals: events to append, together with the tip (latest stored state) on which they were
//! decided.

use std::sync::Arc;

use super::AppendFault;
use super::write::{Update, Write};
use crate::records::stream::{encode_event_batch, encode_tip, events_bytes, unfolds_bytes};
use crate::stream::etag::Etag;
use crate::stream::event::{StreamEvent, WriterId};
use crate::stream::name::StreamName;
use crate::stream::tip::{EventBatch, SplitPolicy, Tip, event_count};
use crate::stream::unfold::Unfold;
use cellar_base::limits::{MAX_STREAM_ITEM_BYTES, TIP_INDEX};
use cellar_base::record::item_bytes;

/// Events to append, decided on a known tip (the item with the stream's latest events).
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// Name of the stream.
    pub name: StreamName,
    /// Tip on which the events were decided, or `None` if the stream did not exist.
    pub on: Option<Arc<Tip>>,
    /// Append id, stored with each event.
    pub writer: WriterId,
    /// Events to append, oldest first. Not empty.
    pub events: Vec<StreamEvent>,
    /// Unfolds (cached states) to store in the new tip.
    pub unfolds: Vec<Unfold>,
}

impl Proposal {
    /// Returns the write that appends this proposal. Deterministic, so a retry is identical.
    ///
    /// # Errors
    /// Returns an [`AppendFault`] if the events are invalid or do not fit into a tip.
    pub fn write(&self, policy: SplitPolicy) -> Result<Write, AppendFault> {
        self.events.iter().try_for_each(StreamEvent::check)?;
        if self.events.is_empty() {
            return Err(AppendFault::Empty);
        }
        let first = self.on.as_ref().map_or(0, |tip| tip.next);
        let next = first.saturating_add(event_count(&self.events));
        if next > TIP_INDEX {
            return Err(AppendFault::Full);
        }
        let new_events_tip = self.tip_with_new_events(next);
        let bytes = item_bytes(&encode_tip(&new_events_tip));
        if bytes > MAX_STREAM_ITEM_BYTES {
            return Err(AppendFault::TooLarge { bytes });
        }
        let Some(old) = &self.on else { return Ok(Write::First(new_events_tip)) };
        let tip = tip_with_all_events(old, &new_events_tip);
        if exceeds_policy(&tip, policy) {
            return Ok(split_off_old_events(old, new_events_tip));
        }
        Ok(Write::Update(Update { expected: old.etag, tip, appended: self.events.clone() }))
    }

    /// Returns a tip that contains only the new events.
    fn tip_with_new_events(&self, next: u64) -> Tip {
        let before = self.on.as_ref().map(|tip| tip.etag);
        Tip {
            name: self.name.clone(),
            etag: Etag::of(&self.name, before, &self.events, &self.unfolds),
            next,
            batch_bytes: self.on.as_ref().map_or(0, |tip| tip.batch_bytes),
            appended: event_count(&self.events),
            events: self.events.clone(),
            unfolds: self.unfolds.clone(),
        }
    }
}

/// Returns `new` with the events of `old` prepended to its events.
fn tip_with_all_events(old: &Tip, new: &Tip) -> Tip {
    let events = old.events.iter().chain(&new.events).cloned().collect();
    Tip { events, ..new.clone() }
}

/// Whether a tip exceeds the policy's thresholds or the maximum item size.
fn exceeds_policy(tip: &Tip, policy: SplitPolicy) -> bool {
    tip.events.len() > policy.events
        || events_bytes(&tip.events) + unfolds_bytes(&tip.unfolds) > policy.bytes
        || item_bytes(&encode_tip(tip)) > MAX_STREAM_ITEM_BYTES
}

/// Returns the write that moves the events of `old` to an event batch and replaces the tip by
/// `new`.
fn split_off_old_events(old: &Tip, new: Tip) -> Write {
    let (name, events) = (old.name.clone(), old.events.clone());
    let batch = EventBatch { name, index: old.first(), events };
    let bytes = u64::try_from(item_bytes(&encode_event_batch(&batch))).unwrap_or(u64::MAX);
    let tip = Tip { batch_bytes: old.batch_bytes.saturating_add(bytes), ..new };
    let appended = tip.events.clone();
    Write::SplitOff { batch, update: Update { expected: old.etag, tip, appended } }
}
