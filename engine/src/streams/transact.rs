//! Carries out a command: load, decide, append, and decide again when others were faster.

use std::sync::Arc;

use cellar_base::limits::MAX_DECIDE_ATTEMPTS;
use cellar_catalog::stream::append::AppendOutcome;
use cellar_catalog::stream::{
    Decider, Encoded, Payload, PayloadError, Proposal, StreamEvent, StreamName, Tip, Unfold,
    WriterId,
};

use super::{StreamError, StreamStore, TransactError};

/// What the caller knows of a stream.
#[derive(Debug, Clone, PartialEq)]
pub enum Known {
    /// Nothing: it is read.
    Nothing,
    /// Its tip, as it is or as it was; `None` if there was no such stream. Nothing is read.
    Tip(Option<Arc<Tip>>),
}

/// What a command came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Transacted<D: Decider> {
    /// The state behind it.
    pub state: D::State,
    /// The events, which are in the stream now; none if there was nothing left to do.
    pub events: Vec<D::Event>,
    /// Index of the first event that is not in the state.
    pub next: u64,
    /// The newest tip that is known, which may have later events, too; `None` if there is no such
    /// stream.
    pub tip: Option<Arc<Tip>>,
}

impl StreamStore {
    /// Carries out a command: its events are in the stream once, decided on the very state before them.
    /// `writer` is made for this call and for no other. A refusal, or that there is nothing to do, is
    /// only believed on a state that was read consistently or told by the table.
    ///
    /// Whoever does not learn the answer – the outcome is unknown, the process dies – and repeats the
    /// command in another call needs a decider that sees in the state that it is done.
    ///
    /// # Errors
    /// [`TransactError::Rejected`] by the decider; [`TransactError::Stream`] if the store fails, an
    /// event cannot be read or stored, or others are faster `MAX_DECIDE_ATTEMPTS` times.
    pub async fn transact<D: Decider>(
        &self,
        decider: &D,
        name: &StreamName,
        command: &D::Command,
        writer: WriterId,
        known: Known,
    ) -> Result<Transacted<D>, TransactError<D::Rejection>> {
        let mut tip = match known {
            Known::Nothing => self.read_tip(name, false).await.map_err(StreamError::from)?,
            Known::Tip(tip) => tip,
        };
        let mut is_current = false;
        let mut losses = 0;
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
            let proposal = self.proposal(decider, name, tip, writer, &events, &state);
            let proposal = proposal.map_err(StreamError::from)?;
            match self.append(&proposal).await? {
                AppendOutcome::Appended { tip, index } => {
                    let count = u64::try_from(events.len()).unwrap_or(u64::MAX);
                    let next = index.saturating_add(count);
                    return Ok(Transacted { state, events, next, tip: Some(tip) });
                }
                AppendOutcome::Conflict { tip: stands } => (tip, is_current) = (stands, true),
            }
            losses += 1;
            if losses >= MAX_DECIDE_ATTEMPTS {
                return Err(StreamError::Contention.into());
            }
            self.pause(losses).await;
        }
    }

    /// What appends these events to a tip, with the state behind them as its unfold.
    fn proposal<D: Decider>(
        &self,
        decider: &D,
        name: &StreamName,
        on: Option<Arc<Tip>>,
        writer: WriterId,
        events: &[D::Event],
        state: &D::State,
    ) -> Result<Proposal, PayloadError> {
        let time_ms = self.clock.now_ms();
        let encoded = events.iter().map(|event| stored(decider.encode(event), time_ms, writer));
        let events = encoded.collect::<Result<Vec<_>, _>>()?;
        let count = u64::try_from(events.len()).unwrap_or(u64::MAX);
        let index = on.as_ref().map_or(0, |tip| tip.next).saturating_add(count);
        let unfold = decider.unfold(state).map(|state| kept(state, time_ms, index)).transpose()?;
        let unfolds = unfold.into_iter().collect();
        Ok(Proposal { name: name.clone(), on, writer, events, unfolds })
    }
}

fn stored(encoded: Encoded, time_ms: u64, writer: WriterId) -> Result<StreamEvent, PayloadError> {
    let Encoded { kind, data, meta, correlation, causation } = encoded;
    let (data, meta) = (Payload::pack(data)?, Payload::pack(meta)?);
    Ok(StreamEvent { time_ms, kind, data, meta, correlation, causation, writer })
}

fn kept(encoded: Encoded, time_ms: u64, index: u64) -> Result<Unfold, PayloadError> {
    let (data, meta) = (Payload::pack(encoded.data)?, Payload::pack(encoded.meta)?);
    Ok(Unfold { index, time_ms, kind: encoded.kind, data, meta })
}
