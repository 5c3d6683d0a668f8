//! Fault injection scenario for the replacement of lost cells, whose text objects are missing. An
//! operator retries the command until it succeeds.

use std::sync::Arc;

use cellar_base::identity::ClientKey;
use cellar_base::position::Position;
use cellar_log::entry::{Content, Edits, Entry, Header, Mutation};
use cellar_sheet::cell::{ErrorCode, Value};
use cellar_sheet::operation::Operation;
use cellar_snapshot::keys::chunk_key;
use cellar_snapshot::packed::{Bounds, pack};

use super::run::Crashes;
use super::scenario::{Promise, Retry, Scenario, retry};
use super::stored::Stored;
use super::{FaultyPorts, at, log, ports_with_edits};
use crate::logs::Logs;
use crate::logs::tests::imports::FLAT;
use crate::logs::tests::imports::texts::{long, named, naming, sheet_of};
use crate::ports::{BlobKey, Blobs as _, Entries as _, PutOutcome};
use crate::snapshots::new_object;

struct Replacing;

/// Number of the entry that imports a sheet with a missing text object.
const IMPORTED: u32 = 3;

impl Scenario for Replacing {
    type Process = Logs;
    type Caller = ();
    type Answer = ();

    // Entries differ between runs, since each process uses a different client id.
    const PROMISE: Promise = Promise::SameCells;

    fn start_process(&self, ports: &Arc<FaultyPorts>) -> Logs {
        ports.logs()
    }

    async fn step(&self, process: &Logs, (): &(), _: usize) -> Result<(), Retry> {
        process.replace_lost_cells(log(), "operator").await.map(|_| ()).map_err(retry)
    }

    fn assert_final(&self, stored: &Stored, _: &[()], context: &str) {
        let entries_after_import: Vec<&Entry> =
            stored.entries_of(log()).filter(|entry| entry.position > at(0, IMPORTED)).collect();
        let [Entry { content: Content::Edits(edits), .. }] = entries_after_import.as_slice() else {
            panic!("{context}: {entries_after_import:?}");
        };
        let [Mutation { authored: Operation::SetCells(set), .. }] = edits.mutations.as_slice()
        else {
            panic!("{context}: {edits:?}");
        };
        let replaced_cells: Vec<_> =
            set.cells.iter().map(|cell| (cell.row, cell.value.clone())).collect();
        assert_eq!(replaced_cells, [(1, Some(Value::Error(ErrorCode::Lost)))], "{context}");
    }
}

/// Creates a sheet with three long texts in one column. The object of the second text is missing.
async fn ports_with_lost_text() -> Arc<FaultyPorts> {
    let ports = ports_with_edits(2).await;
    let texts = [0, 1, 2].map(long);
    let tile = naming(&texts.each_ref().map(|text| named(text)));
    let [first_text, _lost_text, third_text] =
        texts.map(|text| pack(text.as_bytes(), Bounds::TEXT).unwrap());
    for object in [&tile, &first_text, &third_text] {
        let key = BlobKey::new(chunk_key(log(), object.chunk.hash)).unwrap();
        ports.blobs.put(new_object(key, object.stored.clone().into())).await.unwrap();
    }
    let import = sheet_of(&tile, 3, FLAT).operation();
    let mutation = Mutation { base: Position::FIRST, authored: import, committed: None };
    let edits = Edits {
        client: ClientKey([1; 8]),
        name: None,
        merged: None,
        first_id: 1,
        mutations: vec![mutation],
    };
    let last_entry = ports.tables.get(log(), at(0, IMPORTED - 1)).await.unwrap().unwrap();
    let import_entry = Entry {
        position: at(0, IMPORTED),
        header: Header { summary: None, ..last_entry.header.followed_by(1_000) },
        content: Content::Edits(edits),
        ..Arc::unwrap_or_clone(last_entry)
    };
    assert_eq!(ports.tables.put(&import_entry).await, PutOutcome::Accepted);
    ports.faults.take_request_count();
    ports
}

#[tokio::test]
async fn a_replacement_of_lost_cells_survives() {
    let crashes = Crashes::new(Replacing, ports_with_lost_text().await).await;
    assert!(crashes.requests() > 5, "{}", crashes.requests());
    crashes.inject_each_fault().await;
}

#[tokio::test]
#[ignore = "minutes: the long run"]
async fn long_replacements_of_lost_cells_survive_whatever_two_requests_fail() {
    Crashes::new(Replacing, ports_with_lost_text().await).await.inject_each_pair_of_faults().await;
}
