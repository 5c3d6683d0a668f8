//! Executes a command: loads the state, decides and appends. If another append came first, reloads
//! the state and decides again.

use std::sync::Arc;

use cellar_base::limits::MAX_DECIDE_ATTEMPTS;
use cellar_catalog::stream::append::AppendOutcome;
use cellar_catalog::stream::{
    Decider, Encoded, Payload, PayloadError, Proposal, StreamEvent, StreamName, Tip, Unfold,
    WriterId,
};

use super::{StreamError, StreamStore, TransactError};

/// The caller's prior knowledge of a stream.
#[derive(Debug, Clone, PartialEq)]
pub enum CachedTip {
    /// Nothing is known about the stream, so the tip (latest item) is read.
    Unknown,
    /// The current or an earlier tip, so that no read is needed; `None` for a new stream.
    Tip(Option<Arc<Tip>>),
}

/// Result of a command.
#[derive(Debug, Clone, PartialEq)]
pub struct Transacted<D: Decider> {
    /// State after the command.
    pub state: D::State,
    /// Events that the command appended; empty if there was nothing to do.
    pub events: Vec<D::Event>,
    /// Index of the first event that the state does not include.
    pub next: u64,
    /// Latest known tip, or `None` if the stream does not exist. It may contain events that the
    /// state does not include.
    pub tip: Option<Arc<Tip>>,
}

impl StreamStore {
    /// Executes a command: decides its events from the immediately preceding state and appends them
    /// exactly once. `writer` must be unique to this call. A rejection or an empty list of events
    /// is always based on a strongly consistent state.
    ///
    /// If the caller does not receive the result, it may repeat the command with another call only
    /// if the decider can recognize from the state that the command was already executed.
    ///
    /// # Errors
    ///
    /// - [`TransactError::Rejected`] if the decider rejects the command.
    /// - [`TransactError::Stream`] if the store fails, an event is unreadable or too long, or `MAX_DECIDE_ATTEMPTS` attempts lost to concurrent appends.
    pub async fn transact<D: Decider>(
        &self,
        decider: &D,
        name: &StreamName,
        command: &D::Command,
        writer: WriterId,
        cached: CachedTip,
    ) -> Result<Transacted<D>, TransactError<D::Rejection>> {
        let mut tip = match cached {
            CachedTip::Unknown => self.read_tip(name, false).await.map_err(StreamError::from)?,
            CachedTip::Tip(tip) => tip,
        };
        let mut is_current = false;
        let mut lost_attempts = 0;
        loop {
            let rebuilt = self.rebuild(decider, name, tip.as_deref()).await?;
            let events = match decider.decide(command, &rebuilt.state) {
                Ok(events) if !events.is_empty() => events,
                decided if is_current => {
                    let events = decided.map_err(TransactError::Rejected)?;
                    let (state, next) = (rebuilt.state, rebuilt.next);
                    return Ok(Transacted { state, events, next, tip });
                }
                _ => {
                    tip = self.read_tip(name, true).await.map_err(StreamError::from)?;
                    is_current = true;
                    continue;
                }
            };
            let state =
                events.iter().fold(rebuilt.state, |state, event| decider.evolve(state, event));
            let proposal = self.build_proposal(decider, name, tip, writer, &events, &state);
            let proposal = proposal.map_err(StreamError::from)?;
            match self.append(&proposal).await? {
                AppendOutcome::Appended { tip, index } => {
                    let count = u64::try_from(events.len()).unwrap_or(u64::MAX);
                    let next = index.saturating_add(count);
                    return Ok(Transacted { state, events, next, tip: Some(tip) });
                }
                AppendOutcome::Conflict { tip: current } => (tip, is_current) = (current, true),
            }
            lost_attempts += 1;
            if lost_attempts >= MAX_DECIDE_ATTEMPTS {
                return Err(StreamError::Contention.into());
            }
            self.pause(lost_attempts).await;
        }
    }

    /// Builds the append of events to a tip. The state after the events is included as an unfold
    /// (cached state).
    fn build_proposal<D: Decider>(
        &self,
        decider: &D,
        name: &StreamName,
        on: Option<Arc<Tip>>,
        writer: WriterId,
        events: &[D::Event],
        state: &D::State,
    ) -> Result<Proposal, PayloadError> {
        let time_ms = self.clock.now_ms();
        let stored =
            events.iter().map(|event| encode_event(decider.encode(event), time_ms, writer));
        let events = stored.collect::<Result<Vec<_>, _>>()?;
        let count = u64::try_from(events.len()).unwrap_or(u64::MAX);
        let next = on.as_ref().map_or(0, |tip| tip.next).saturating_add(count);
        let unfold =
            decider.unfold(state).map(|state| encode_unfold(state, time_ms, next)).transpose()?;
        let unfolds = unfold.into_iter().collect();
        Ok(Proposal { name: name.clone(), on, writer, events, unfolds })
    }
}

fn encode_event(
    encoded: Encoded,
    time_ms: u64,
    writer: WriterId,
) -> Result<StreamEvent, PayloadError> {
    let Encoded { kind, data, meta, correlation, causation } = encoded;
    let (data, meta) = (Payload::pack(data)?, Payload::pack(meta)?);
    Ok(StreamEvent { time_ms, kind, data, meta, correlation, causation, writer })
}

fn encode_unfold(encoded: Encoded, time_ms: u64, index: u64) -> Result<Unfold, PayloadError> {
    let (data, meta) = (Payload::pack(encoded.data)?, Payload::pack(encoded.meta)?);
    Ok(Unfold { index, time_ms, kind: encoded.kind, data, meta })
}
