//! Computes the state of an event stream from the latest cached state and the events after it.
//!
//! Without a readable cached state, the computation starts with the latest event that makes earlier
//! events irrelevant, or with the first event.

use super::decider::{Decider, UnreadableEvent};
use super::event::StreamEvent;
use super::payload::PayloadError;
use super::tip::{EventBatch, Tip};
use cellar_base::limits::MAX_REBUILD_BYTES;

/// Next step of a rebuild.
pub enum RebuildStep<'a, D: Decider> {
    Complete(RebuiltState<D::State>),
    /// Batches of older events must be read, latest first.
    ReadBatches {
        /// Exclusive upper bound on the indices of the required batches.
        below: u64,
        /// The computation, which continues after the batches have been read.
        rebuild: Rebuild<'a, D>,
    },
}

/// The state of an event stream, and the number of events that it includes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RebuiltState<S> {
    /// State after the included events.
    pub state: S,
    /// Index after the last included event.
    pub next: u64,
}

/// The reason why the state of an event stream cannot be computed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RebuildFault {
    /// The kind of an event is unknown because a later version of Cellar wrote the event.
    #[error("event {index} has the kind `{kind}`, which is unknown to this build; upgrade Cellar")]
    UnknownEvent {
        /// Index of the event.
        index: u64,
        /// Kind of the event.
        kind: String,
    },
    /// The data of an event does not match the kind of the event.
    #[error("event {index} of kind `{kind}` has invalid data")]
    Malformed {
        /// Index of the event.
        index: u64,
        /// Kind of the event.
        kind: String,
    },
    #[error("event {index}: {fault}")]
    Payload {
        /// Index of the event.
        index: u64,
        /// Reason why the data cannot be decoded.
        fault: PayloadError,
    },
    /// Events are missing.
    #[error("the stream is damaged at index {index}")]
    Damaged {
        /// Index after the last missing event.
        index: u64,
    },
    /// The total size of the required events is too large.
    #[error("the events of the stream have more than {MAX_REBUILD_BYTES} bytes")]
    TooLarge,
}

/// A computation in progress, to which events are added in descending order.
pub struct Rebuild<'a, D: Decider> {
    decider: &'a D,
    /// The cached state from which the computation starts, and the number of events that it
    /// includes.
    unfold: Option<(u64, D::State)>,
    stream_end: u64,
    oldest_index: u64,
    events_newest_first: Vec<D::Event>,
    total_bytes: usize,
    found_origin: bool,
}

impl<'a, D: Decider> Rebuild<'a, D> {
    /// Starts the computation with the newest item of a stream, or with `None` if the stream does
    /// not exist.
    ///
    /// # Errors
    /// Returns a [`RebuildFault`] if a required event cannot be decoded.
    pub fn begin(decider: &'a D, tip: Option<&Tip>) -> Result<RebuildStep<'a, D>, RebuildFault> {
        let Some(tip) = tip else {
            return Ok(RebuildStep::Complete(RebuiltState { state: decider.initial(), next: 0 }));
        };
        let mut rebuild = Self {
            decider,
            unfold: newest_readable_unfold(decider, tip),
            stream_end: tip.next,
            oldest_index: tip.next,
            events_newest_first: Vec::new(),
            total_bytes: 0,
            found_origin: false,
        };
        rebuild.add_events(&tip.events)?;
        Ok(rebuild.finish_or_continue())
    }

    /// Adds the requested batches, latest first.
    ///
    /// # Errors
    /// Returns a [`RebuildFault`] if events are missing or a required event cannot be decoded.
    pub fn add_batches(
        mut self,
        batches: &[EventBatch],
    ) -> Result<RebuildStep<'a, D>, RebuildFault> {
        if batches.is_empty() {
            return Err(RebuildFault::Damaged { index: self.oldest_index });
        }
        for batch in batches {
            if self.has_required_events() {
                break;
            }
            let is_adjacent = batch.next() == self.oldest_index;
            if !is_adjacent || batch.events.is_empty() {
                return Err(RebuildFault::Damaged { index: self.oldest_index });
            }
            self.add_events(&batch.events)?;
        }
        Ok(self.finish_or_continue())
    }

    fn has_required_events(&self) -> bool {
        let first_required_index = self.unfold.as_ref().map_or(0, |(index, _)| *index);
        self.found_origin || self.oldest_index <= first_required_index
    }

    fn add_events(&mut self, events: &[StreamEvent]) -> Result<(), RebuildFault> {
        for stored_event in events.iter().rev() {
            if self.has_required_events() {
                return Ok(());
            }
            let index = self.oldest_index.saturating_sub(1);
            let (event, data_bytes) = decode(self.decider, index, stored_event)?;
            self.total_bytes = self.total_bytes.saturating_add(data_bytes);
            if self.total_bytes > MAX_REBUILD_BYTES {
                return Err(RebuildFault::TooLarge);
            }
            self.found_origin = self.decider.is_origin(&event);
            self.events_newest_first.push(event);
            self.oldest_index = index;
        }
        Ok(())
    }

    fn finish_or_continue(self) -> RebuildStep<'a, D> {
        if !self.has_required_events() {
            return RebuildStep::ReadBatches { below: self.oldest_index, rebuild: self };
        }
        let mut state = match self.unfold {
            Some((_, unfolded_state)) if !self.found_origin => unfolded_state,
            _ => self.decider.initial(),
        };
        for event in self.events_newest_first.iter().rev() {
            state = self.decider.evolve(state, event);
        }
        RebuildStep::Complete(RebuiltState { state, next: self.stream_end })
    }
}

fn newest_readable_unfold<D: Decider>(decider: &D, tip: &Tip) -> Option<(u64, D::State)> {
    let mut newest_first: Vec<_> =
        tip.unfolds.iter().filter(|unfold| unfold.index <= tip.next).collect();
    newest_first.sort_by_key(|unfold| std::cmp::Reverse(unfold.index));
    newest_first.into_iter().find_map(|unfold| {
        let data = unfold.data.unpack().ok()?;
        let state = decider.refold(&unfold.kind, &data)?;
        Some((unfold.index, state))
    })
}

/// An event with its index and time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dated<E> {
    /// Index of the event in its stream.
    pub index: u64,
    /// Time at which it was decided to append the event, in milliseconds since the Unix epoch.
    pub time_ms: u64,
    /// Decoded event.
    pub event: E,
}

/// Decodes consecutive events, of which the first has the index `first`. The result starts with the
/// latest event.
///
/// # Errors
/// Returns a [`RebuildFault`] if an event cannot be decoded.
pub fn newest_first<D: Decider>(
    decider: &D,
    first: u64,
    events: &[StreamEvent],
) -> Result<Vec<Dated<D::Event>>, RebuildFault> {
    let mut dated_events = Vec::with_capacity(events.len());
    for (index, stored_event) in (first..).zip(events) {
        let (event, _) = decode(decider, index, stored_event)?;
        dated_events.push(Dated { index, time_ms: stored_event.time_ms, event });
    }
    dated_events.reverse();
    Ok(dated_events)
}

/// Decodes an event. Also returns the size of its data in bytes.
fn decode<D: Decider>(
    decider: &D,
    index: u64,
    event: &StreamEvent,
) -> Result<(D::Event, usize), RebuildFault> {
    let kind = || event.kind.as_str().to_owned();
    let data = event.data.unpack().map_err(|fault| RebuildFault::Payload { index, fault })?;
    let decoded = decider.decode(&event.kind, &data).map_err(|fault| match fault {
        UnreadableEvent::UnknownKind => RebuildFault::UnknownEvent { index, kind: kind() },
        UnreadableEvent::Malformed => RebuildFault::Malformed { index, kind: kind() },
    })?;
    Ok((decoded, data.len()))
}
