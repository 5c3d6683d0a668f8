//! Checks all invariants after a run, using the predicates of `core`.

mod cells;
mod feed;
mod imports;
mod log;
mod snapshots;
mod uploads;

use std::sync::Arc;

use cellar_base::identity::LogId;

use crate::rare::RareEvent;
use crate::witness::Witness;
use crate::world::World;

pub(crate) use feed::check as feed;
pub use log::{Stored, read_stored};

/// Checks the final state of a run against all responses that its clients received.
pub async fn all(world: &Arc<World>, witness: &Witness, logs: &[LogId], with_snapshots: bool) {
    for log in logs {
        let Some(stored) = log::read_stored(world, *log).await else { continue };
        log::check(world, witness, &stored);
        uploads::check(world, &stored).await;
        cells::check(world, witness, &stored).await;
        if with_snapshots {
            snapshots::check(world, &stored, logs.len() == 1).await;
        }
    }
    if world.rare.has(RareEvent::Imported) {
        imports::check(world, witness, logs).await;
    }
}
