//! The relay function, attached to the stream of the Entry table.

use std::sync::Arc;

use async_trait::async_trait;
use cellar_base::record::Attribute;
use cellar_base::table_attributes::{EXTERNAL, TYPE};
use cellar_engine::relay::{EntryChange, Relay};
use cellar_log::records::entry::SNAPSHOT;
use cellar_snapshot::relay::INSERT;

use super::stream_source::{Handler, RETRIES, StreamFunction};
use crate::process::Process;
use crate::stream::{Record, Stream};
use crate::world::World;

pub(super) struct RelayFunction;

impl StreamFunction for RelayFunction {
    fn name(&self) -> &'static str {
        "relay"
    }

    fn stream<'a>(&self, world: &'a World) -> &'a Stream {
        &world.stream
    }

    fn matches_filter(&self, record: &Record) -> bool {
        let is_snapshot = match record.image.get(TYPE) {
            Some(Attribute::Text(letter)) => letter == SNAPSHOT,
            _ => false,
        };
        record.name == INSERT && (is_snapshot || record.image.contains_key(EXTERNAL))
    }

    fn retries(&self) -> Option<u32> {
        Some(RETRIES)
    }

    fn begin(&self, process: &Process) -> Arc<dyn Handler> {
        Arc::new(Relaying { process: process.clone() })
    }
}

struct Relaying {
    process: Process,
}

#[async_trait]
impl Handler for Relaying {
    async fn handle(&self, records: &[Record]) -> usize {
        let changes: Vec<EntryChange> = records.iter().map(change).collect();
        let port = Arc::new(self.process.clone());
        let work = Relay::new(Arc::clone(&port) as _, port);
        let relayed = work.relay_batch(&changes).await;
        // A record that cannot be relayed counts as lost after the retries.
        let first_dead =
            relayed.dead_letters.into_iter().map(|letter| letter.sequence_number).next();
        let Some(number) = first_dead.or(relayed.retry_from) else { return records.len() };
        let failed = records.iter().position(|record| record.number.to_string() == number);
        failed.unwrap_or(0)
    }
}

fn change(record: &Record) -> EntryChange {
    EntryChange {
        sequence_number: record.number.to_string(),
        name: record.name.to_owned(),
        image: record.image.clone(),
    }
}
