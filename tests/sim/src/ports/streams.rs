//! The simulated EventStream table.

use std::sync::Arc;

use async_trait::async_trait;
use cellar_catalog::stream::{EventBatch, StreamName, Tip, Update};
use cellar_engine::ports::{
    AllStreams, PortError, ReadConsistency, StreamOutcome, StreamPage, StreamScanKey, Streams,
};

use crate::process::Process;
use crate::rare::RareEvent;

impl Process {
    fn shown_tip(&self, name: &StreamName) -> Option<Arc<Tip>> {
        let world = self.world();
        let shown = world.tips_shown.range(name.clone()..=name.clone(), world.time.elapsed_ms());
        shown.into_iter().next().map(|(_, tip)| tip)
    }
}

#[async_trait]
impl Streams for Process {
    async fn tip(
        &self,
        name: &StreamName,
        consistency: ReadConsistency,
    ) -> Result<Option<Arc<Tip>>, PortError> {
        let (process, of) = (self.clone(), name.clone());
        let effect = async move {
            let leader = process.world().streams.tip(&of, ReadConsistency::Strong).await?;
            if !process.is_stale(consistency) {
                return Ok(leader);
            }
            Ok(process.count_if_stale(process.shown_tip(&of), &leader))
        };
        let what = format!("tip of {name}, {consistency:?}");
        self.call(what, effect).await.and_then(|tip| tip)
    }

    async fn batches_before(
        &self,
        name: &StreamName,
        below: u64,
        consistency: ReadConsistency,
    ) -> Result<Vec<EventBatch>, PortError> {
        let (process, of) = (self.clone(), name.clone());
        let effect = async move {
            let leader =
                process.world().streams.batches_before(&of, below, ReadConsistency::Strong).await?;
            if !process.is_stale(consistency) {
                return Ok(leader);
            }
            // The replica may lack the event batches that its version of the tip does not reference
            // yet.
            let known = process.shown_tip(&of).map_or(0, |tip| tip.first());
            let shown = leader.iter().filter(|batch| batch.index < known).cloned().collect();
            Ok(process.count_if_stale(shown, &leader))
        };
        let what = format!("event batches of {name} below {below}, {consistency:?}");
        self.call(what, effect).await.and_then(|batches| batches)
    }

    async fn put_first(&self, tip: &Tip) -> StreamOutcome {
        let (process, tip) = (self.clone(), Arc::new(tip.clone()));
        let what = format!("put first tip of {}", tip.name);
        let effect = async move {
            let outcome = process.world().streams.put_first(&tip).await;
            process.record_write(&outcome, None, &tip);
            outcome
        };
        self.call(what, effect).await.unwrap_or_else(StreamOutcome::Unknown)
    }

    async fn update(&self, update: &Update) -> StreamOutcome {
        let (process, update) = (self.clone(), update.clone());
        let what = format!("update {} to {}", update.tip.name, update.tip.next);
        let effect = async move {
            let outcome = process.world().streams.update(&update).await;
            process.record_write(&outcome, None, &Arc::new(update.tip));
            outcome
        };
        self.call(what, effect).await.unwrap_or_else(StreamOutcome::Unknown)
    }

    async fn split_off(&self, batch: &EventBatch, update: &Update) -> StreamOutcome {
        let (process, batch, update) = (self.clone(), batch.clone(), update.clone());
        let what = format!("split off {} at {}", batch.name, batch.index);
        let effect = async move {
            let outcome = process.world().streams.split_off(&batch, &update).await;
            process.record_write(&outcome, Some(&batch), &Arc::new(update.tip));
            outcome
        };
        self.call(what, effect).await.unwrap_or_else(StreamOutcome::Unknown)
    }
}

impl Process {
    /// Records the effects of a write to a stream.
    fn record_write(&self, outcome: &StreamOutcome, batch: Option<&EventBatch>, tip: &Arc<Tip>) {
        let world = self.world();
        match outcome {
            StreamOutcome::Done => {
                if let Some(batch) = batch {
                    world.count(RareEvent::SplitOff);
                    world.record_batch(batch);
                }
                world.tip_changed(tip);
            }
            StreamOutcome::Refused { .. } | StreamOutcome::BatchExists => {
                world.count(RareEvent::TipChanged);
            }
            StreamOutcome::Unknown(_) | StreamOutcome::Throttled(_) | StreamOutcome::Failed(_) => {}
        }
    }
}

#[async_trait]
impl AllStreams for Process {
    async fn all_streams(&self, after: Option<StreamScanKey>) -> Result<StreamPage, PortError> {
        let world = Arc::clone(self.world());
        let effect = async move { world.streams.all_streams(after).await };
        self.call("all streams".to_owned(), effect).await.and_then(|page| page)
    }
}
