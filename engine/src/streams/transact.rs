//! Executes commands: loads the state, decides on events and appends them. If other events were
//! appended first, repeats this with the new state.

use std::sync::Arc;

use cellar_base::limits::MAX_DECIDE_ATTEMPTS;
use cellar_catalog::stream::append::AppendOutcome;
use cellar_catalog::stream::{
    Decider, Encoded, Payload, PayloadError, Proposal, RebuiltState, StreamEvent, StreamName, Tip,
    Unfold, WriterId,
};

use super::{StreamError, StreamStore, TransactError};
use crate::ports::ReadConsistency;

/// The latest item of a stream, as far as the caller knows it.
#[derive(Debug, Clone, PartialEq)]
pub enum CachedTip {
    /// The caller knows nothing, so the latest item is read.
    Unknown,
    /// An item that is or was the latest one, or `None` for a new stream. The first attempt does
    /// not read the stream.
    Tip(Option<Arc<Tip>>),
}

/// Result of a command.
#[derive(Debug, Clone, PartialEq)]
pub struct Transacted<D: Decider> {
    /// State after the command.
    pub state: D::State,
    /// Events that were appended. Empty if no change was necessary.
    pub events: Vec<D::Event>,
    /// Index of the first event that the state does not include.
    pub next: u64,
    /// Latest known stream item, or `None` if the stream does not exist. It may contain events that
    /// the state does not include.
    pub tip: Option<Arc<Tip>>,
}

struct KnownTip {
    tip: Option<Arc<Tip>>,
    /// Whether the item was read with strong consistency or returned by a failed append.
    is_current: bool,
}

struct Decision<D: Decider> {
    state: D::State,
    /// Index of the first event that the state does not include.
    next: u64,
    events: Vec<D::Event>,
}

impl StreamStore {
    /// Executes a command: decides its events from the immediately preceding state and appends them
    /// exactly once. `writer` must be unique to this call. A rejection or an empty list of events
    /// is always based on a strongly consistent state.
    ///
    /// If the caller does not receive the result, it may repeat the command in another call. This
    /// is safe only if the decider can recognize from the state that the command was already
    /// executed.
    ///
    /// # Errors
    ///
    /// - [`TransactError::Rejected`] if the decider rejects the command.
    /// - [`TransactError::Stream`] if the store fails, if an event is unreadable or too long, or if
    ///   other events were appended first in `MAX_DECIDE_ATTEMPTS` attempts.
    pub async fn transact<D: Decider>(
        &self,
        decider: &D,
        stream: &StreamName,
        command: &D::Command,
        writer: WriterId,
        cached_tip: CachedTip,
    ) -> Result<Transacted<D>, TransactError<D::Rejection>> {
        let mut known_tip = match cached_tip {
            CachedTip::Unknown => {
                let tip = self.read_tip(stream, ReadConsistency::Eventual).await;
                KnownTip { tip: tip.map_err(StreamError::from)?, is_current: false }
            }
            CachedTip::Tip(tip) => KnownTip { tip, is_current: false },
        };
        let mut lost_attempts = 0;
        loop {
            let Decision { state, next, events } =
                self.decide(decider, stream, command, &mut known_tip).await?;
            let tip = known_tip.tip;
            if events.is_empty() {
                return Ok(Transacted { state, events, next, tip });
            }
            let state = events.iter().fold(state, |state, event| decider.evolve(state, event));
            let proposal = self.build_proposal(decider, stream, tip, writer, &events, &state);
            let proposal = proposal.map_err(StreamError::from)?;
            match self.append(&proposal).await? {
                AppendOutcome::Appended { tip, index } => {
                    let event_count = u64::try_from(events.len()).unwrap_or(u64::MAX);
                    let next = index.saturating_add(event_count);
                    return Ok(Transacted { state, events, next, tip: Some(tip) });
                }
                AppendOutcome::Conflict { tip } => known_tip = KnownTip { tip, is_current: true },
            }
            lost_attempts += 1;
            if lost_attempts >= MAX_DECIDE_ATTEMPTS {
                return Err(StreamError::Contention.into());
            }
            self.pause_before_retry(lost_attempts).await;
        }
    }

    /// A rejection or an empty list of events is confirmed with the current state, which updates
    /// `known_tip`.
    async fn decide<D: Decider>(
        &self,
        decider: &D,
        stream: &StreamName,
        command: &D::Command,
        known_tip: &mut KnownTip,
    ) -> Result<Decision<D>, TransactError<D::Rejection>> {
        loop {
            let tip = known_tip.tip.as_deref();
            let RebuiltState { state, next } = self.rebuild(decider, stream, tip).await?;
            match decider.decide(command, &state) {
                Ok(events) if known_tip.is_current || !events.is_empty() => {
                    return Ok(Decision { state, next, events });
                }
                Err(rejection) if known_tip.is_current => {
                    return Err(TransactError::Rejected(rejection));
                }
                Ok(_) | Err(_) => {
                    let current_tip = self.read_tip(stream, ReadConsistency::Strong).await;
                    known_tip.tip = current_tip.map_err(StreamError::from)?;
                    known_tip.is_current = true;
                }
            }
        }
    }

    fn build_proposal<D: Decider>(
        &self,
        decider: &D,
        stream: &StreamName,
        base_tip: Option<Arc<Tip>>,
        writer: WriterId,
        events: &[D::Event],
        state: &D::State,
    ) -> Result<Proposal, PayloadError> {
        let time_ms = self.clock.now_ms();
        let mut stored_events = Vec::with_capacity(events.len());
        for event in events {
            stored_events.push(encode_event(decider.encode(event), time_ms, writer)?);
        }
        let event_count = u64::try_from(events.len()).unwrap_or(u64::MAX);
        let next_index = base_tip.as_ref().map_or(0, |tip| tip.next).saturating_add(event_count);
        let mut unfolds = Vec::new();
        if let Some(encoded_state) = decider.unfold(state) {
            unfolds.push(encode_unfold(encoded_state, time_ms, next_index)?);
        }
        Ok(Proposal { name: stream.clone(), base_tip, writer, events: stored_events, unfolds })
    }
}

fn encode_event(
    encoded: Encoded,
    time_ms: u64,
    writer: WriterId,
) -> Result<StreamEvent, PayloadError> {
    let Encoded { kind, data, meta, correlation, causation } = encoded;
    let data = Payload::pack(data)?;
    let meta = Payload::pack(meta)?;
    Ok(StreamEvent { time_ms, kind, data, meta, correlation, causation, writer })
}

fn encode_unfold(encoded_state: Encoded, time_ms: u64, index: u64) -> Result<Unfold, PayloadError> {
    let Encoded { kind, data, meta, .. } = encoded_state;
    let data = Payload::pack(data)?;
    let meta = Payload::pack(meta)?;
    Ok(Unfold { index, time_ms, kind, data, meta })
}
