//! Passes the entries of a table to the relay, as the table's change stream does.

use std::sync::Arc;

use cellar_log::records::entry::encode;
use cellar_snapshot::relay::INSERT;

use super::FaultyPorts;
use super::stored::Stored;
use crate::ports::Blobs;
use crate::relay::{EntryChange, Relay};

pub(super) fn entry_changes(ports: &FaultyPorts) -> Vec<EntryChange> {
    let change = |(number, entry): (usize, _)| EntryChange {
        sequence_number: number.to_string(),
        name: INSERT.to_owned(),
        image: encode(&entry).unwrap(),
    };
    Stored::read(ports).entries.into_values().enumerate().map(change).collect()
}

pub(super) fn relay(ports: &Arc<FaultyPorts>) -> Relay {
    let objects: Arc<dyn Blobs> = Arc::clone(ports) as _;
    Relay::new(Arc::clone(ports) as _, Arc::new(objects))
}
