//! State from events: the newest unfold that can be used and what came after it, or events back to an
//! origin.

use super::decider::{Decider, UnreadableEvent};
use super::event::StreamEvent;
use super::payload::PayloadError;
use super::tip::{EventBatch, Tip};
use cellar_base::limits::MAX_REBUILD_BYTES;

/// What is to be done next.
pub enum Need<'a, D: Decider> {
    /// Nothing: here is the state.
    Nothing(Rebuilt<D::State>),
    /// The event batches whose index is below this one, the newest first.
    Batches {
        /// The index.
        below: u64,
        /// What takes them.
        rebuild: Rebuild<'a, D>,
    },
}

/// A state, and what it was made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rebuilt<S> {
    /// The state.
    pub state: S,
    /// Index of the first event that is not in it.
    pub next: u64,
}

/// Why no state can be made of a stream.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RebuildFault {
    /// An event of a later program.
    #[error("event {index} is `{kind}`, which is unknown to this build: upgrade it")]
    UnknownEvent {
        /// Its index.
        index: u64,
        /// Its kind.
        kind: String,
    },
    /// Data that is none of an event's kind.
    #[error("event {index}, `{kind}`, cannot be read")]
    Malformed {
        /// Its index.
        index: u64,
        /// Its kind.
        kind: String,
    },
    /// Data that does not unpack.
    #[error("event {index}: {fault}")]
    Payload {
        /// The event's index.
        index: u64,
        /// What is wrong.
        fault: PayloadError,
    },
    /// Events are missing.
    #[error("the stream is damaged at index {index}")]
    Damaged {
        /// Behind the last that is missing.
        index: u64,
    },
    /// More events than one state may be made of.
    #[error("the events of the stream take more than {MAX_REBUILD_BYTES} bytes")]
    TooLarge,
}

/// A state on its way, from the newest event back.
pub struct Rebuild<'a, D: Decider> {
    decider: &'a D,
    /// The state of the unfold, and its index.
    base: Option<(u64, D::State)>,
    next: u64,
    /// Index of the oldest event that was taken.
    first: u64,
    /// Newest first.
    events: Vec<D::Event>,
    bytes: usize,
    found_origin: bool,
}

impl<'a, D: Decider> Rebuild<'a, D> {
    /// Begins with a tip; `None` if there is no such stream.
    ///
    /// # Errors
    /// [`RebuildFault`] if an event that is needed cannot be read.
    pub fn begin(decider: &'a D, tip: Option<&Tip>) -> Result<Need<'a, D>, RebuildFault> {
        let Some(tip) = tip else {
            let (state, next) = (decider.initial(), 0);
            return Ok(Need::Nothing(Rebuilt { state, next }));
        };
        let mut rebuild = Self {
            decider,
            base: usable_unfold(decider, tip),
            next: tip.next,
            first: tip.next,
            events: Vec::new(),
            bytes: 0,
            found_origin: false,
        };
        rebuild.take(&tip.events)?;
        Ok(rebuild.need())
    }

    /// Goes on with event batches below the last index asked for, the newest first.
    ///
    /// # Errors
    /// [`RebuildFault`] if they do not follow each other, or an event cannot be read.
    pub fn add_batches(mut self, batches: &[EventBatch]) -> Result<Need<'a, D>, RebuildFault> {
        if batches.is_empty() {
            return Err(RebuildFault::Damaged { index: self.first });
        }
        for batch in batches {
            if self.is_done() {
                break;
            }
            if batch.next() != self.first || batch.events.is_empty() {
                return Err(RebuildFault::Damaged { index: self.first });
            }
            self.take(&batch.events)?;
        }
        Ok(self.need())
    }

    fn is_done(&self) -> bool {
        self.found_origin || self.first <= self.base.as_ref().map_or(0, |(index, _)| *index)
    }

    /// Takes events from the newest back, as far as they are needed.
    fn take(&mut self, events: &[StreamEvent]) -> Result<(), RebuildFault> {
        for event in events.iter().rev() {
            if self.is_done() {
                return Ok(());
            }
            let index = self.first.saturating_sub(1);
            let (event, bytes) = decode(self.decider, index, event)?;
            self.bytes = self.bytes.saturating_add(bytes);
            if self.bytes > MAX_REBUILD_BYTES {
                return Err(RebuildFault::TooLarge);
            }
            self.found_origin = self.decider.is_origin(&event);
            self.events.push(event);
            self.first = index;
        }
        Ok(())
    }

    fn need(self) -> Need<'a, D> {
        if !self.is_done() {
            return Need::Batches { below: self.first, rebuild: self };
        }
        // An origin needs no state before it.
        let base = self.base.filter(|_| !self.found_origin);
        let initial = base.map_or_else(|| self.decider.initial(), |(_, state)| state);
        let events = self.events.iter().rev();
        let state = events.fold(initial, |state, event| self.decider.evolve(state, event));
        Need::Nothing(Rebuilt { state, next: self.next })
    }
}

/// The newest unfold of states that the stream has had, and that the decider can read.
fn usable_unfold<D: Decider>(decider: &D, tip: &Tip) -> Option<(u64, D::State)> {
    let mut unfolds: Vec<_> =
        tip.unfolds.iter().filter(|unfold| unfold.index <= tip.next).collect();
    unfolds.sort_by_key(|unfold| std::cmp::Reverse(unfold.index));
    unfolds.into_iter().find_map(|unfold| {
        let data = unfold.data.unpack().ok()?;
        Some((unfold.index, decider.refold(&unfold.kind, &data)?))
    })
}

/// An event of a stream, where it is, and when it was decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dated<E> {
    /// Its index.
    pub index: u64,
    /// When it was decided, Unix milliseconds.
    pub time_ms: u64,
    /// What happened.
    pub event: E,
}

/// The events of an item that begins with the index `first`, the newest first.
///
/// # Errors
/// [`RebuildFault`] if one cannot be read.
pub fn newest_first<D: Decider>(
    decider: &D,
    first: u64,
    events: &[StreamEvent],
) -> Result<Vec<Dated<D::Event>>, RebuildFault> {
    let numbered = (first..).zip(events);
    let dated = numbered.map(|(index, event)| {
        let time_ms = event.time_ms;
        decode(decider, index, event).map(|(event, _)| Dated { index, time_ms, event })
    });
    let mut dated = dated.collect::<Result<Vec<_>, _>>()?;
    dated.reverse();
    Ok(dated)
}

/// An event, and how many bytes its data has.
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
