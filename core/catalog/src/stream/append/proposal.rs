//! Events that a caller wants to append to a stream, based on its newest item.

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

/// Events to be appended to a stream if its newest item has not changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// Name of the stream.
    pub name: StreamName,
    /// The newest item of the stream that the caller has read, or `None` if the stream did not
    /// exist.
    pub base_tip: Option<Arc<Tip>>,
    /// Id of the append, which is stored with each event.
    pub writer: WriterId,
    /// Events to be appended, oldest first. At least one is required.
    pub events: Vec<StreamEvent>,
    /// States to be cached in the newest item.
    pub unfolds: Vec<Unfold>,
}

impl Proposal {
    /// Returns the write that appends the events. It is deterministic, so retries are identical.
    ///
    /// # Errors
    /// Returns an [`AppendFault`] if the events are invalid or do not fit into an item.
    pub fn write(&self, policy: SplitPolicy) -> Result<Write, AppendFault> {
        self.events.iter().try_for_each(StreamEvent::check)?;
        if self.events.is_empty() {
            return Err(AppendFault::Empty);
        }
        let first_index = self.base_tip.as_ref().map_or(0, |tip| tip.next);
        let end_index = first_index.saturating_add(event_count(&self.events));
        if end_index > TIP_INDEX {
            return Err(AppendFault::Full);
        }
        let new_events_tip = self.tip_with_new_events(end_index);
        let new_events_bytes = item_bytes(&encode_tip(&new_events_tip));
        if new_events_bytes > MAX_STREAM_ITEM_BYTES {
            return Err(AppendFault::TooLarge { bytes: new_events_bytes });
        }
        let Some(base_tip) = &self.base_tip else {
            return Ok(Write::First(new_events_tip));
        };
        let extended_tip = tip_with_all_events(base_tip, &new_events_tip);
        if must_split(&extended_tip, policy) {
            return Ok(split_off_old_events(base_tip, new_events_tip));
        }
        Ok(Write::Update(Update {
            expected: base_tip.etag,
            tip: extended_tip,
            appended: self.events.clone(),
        }))
    }

    fn tip_with_new_events(&self, end_index: u64) -> Tip {
        let base_etag = self.base_tip.as_ref().map(|tip| tip.etag);
        Tip {
            name: self.name.clone(),
            etag: Etag::of(&self.name, base_etag, &self.events, &self.unfolds),
            next: end_index,
            batch_bytes: self.base_tip.as_ref().map_or(0, |tip| tip.batch_bytes),
            appended: event_count(&self.events),
            events: self.events.clone(),
            unfolds: self.unfolds.clone(),
        }
    }
}

fn tip_with_all_events(old_tip: &Tip, new_tip: &Tip) -> Tip {
    let events = old_tip.events.iter().chain(&new_tip.events).cloned().collect();
    Tip { events, ..new_tip.clone() }
}

fn must_split(tip: &Tip, policy: SplitPolicy) -> bool {
    tip.events.len() > policy.events
        || events_bytes(&tip.events) + unfolds_bytes(&tip.unfolds) > policy.bytes
        || item_bytes(&encode_tip(tip)) > MAX_STREAM_ITEM_BYTES
}

fn split_off_old_events(old_tip: &Tip, new_tip: Tip) -> Write {
    let batch = EventBatch {
        name: old_tip.name.clone(),
        index: old_tip.first(),
        events: old_tip.events.clone(),
    };
    let batch_bytes = u64::try_from(item_bytes(&encode_event_batch(&batch))).unwrap_or(u64::MAX);
    let tip = Tip { batch_bytes: old_tip.batch_bytes.saturating_add(batch_bytes), ..new_tip };
    let appended = tip.events.clone();
    Write::SplitOff { batch, update: Update { expected: old_tip.etag, tip, appended } }
}
