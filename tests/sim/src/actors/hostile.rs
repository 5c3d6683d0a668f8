//! A hostile tenant, who requests other tenants' logs and stores unreadable bytes. Other tenants
//! must not be affected.

use std::sync::Arc;

use bytes::Bytes;
use cellar_base::identity::{ClientKey, LogId, SubjectKey};
use cellar_base::position::Position;
use cellar_engine::logs::LogError;
use cellar_engine::ports::{BlobKey, Blobs as _, Entries as _, NewBlob, ReadConsistency};
use cellar_engine::sha256::sha256;
use cellar_log::append::{NewMutation, Request};
use cellar_log::entry::{Content, Entry, ExternalEdits};
use cellar_log::transform::SpaceMap;
use cellar_sheet::operation::SheetId;

use crate::editor::is_temporary;
use crate::fleet::Server;
use crate::operations::draw_operation;
use crate::process::{Mortality, Process};
use crate::rare::RareEvent;
use crate::reading::cells;
use crate::simulation::Simulation;

/// Number of requests per run.
const REQUEST_ROUNDS: u32 = 60;
/// Maximum size of an object that the tenant stores, in bytes.
const MAX_OBJECT_BYTES: u64 = 400;
const MAX_PAUSE_MS: u64 = 500;
const RETRY_PAUSE_MS: u64 = 300;
const ROUNDS_PER_GARBAGE: u32 = 4;

/// Runs the hostile tenant.
pub(super) async fn run_tenant(simulation: &Arc<Simulation>) {
    let process = Process::new(&simulation.world, "hostile", Mortality::Spared);
    let Some(own_log) = create_own_log(simulation, &process).await else { return };
    for round in 0..REQUEST_ROUNDS {
        simulation.world.sleep_ms(process.random().draw_in(0..=MAX_PAUSE_MS)).await;
        if round % ROUNDS_PER_GARBAGE == 0 {
            store_garbage(simulation, &process, own_log).await;
        }
        let missing_log = LogId::from_uuid(uuid::Uuid::from_u128(u128::from(round) + 77));
        match process.random().draw_below(3) {
            0 => read_missing_log(simulation, &process, missing_log).await,
            1 => append_to_missing_log(simulation, &process, missing_log).await,
            _ => read_own_log(simulation, &process, own_log).await,
        }
    }
}

async fn create_own_log(simulation: &Simulation, process: &Process) -> Option<LogId> {
    let log = LogId::derive(&SubjectKey::new("sim", "hostile"), "own").ok()?;
    loop {
        let create = move |server: Server| async move { server.logs.create(log, None).await };
        match simulation.fleet.ask(process, "create".to_owned(), create).await {
            Some(Ok(_)) => return Some(log),
            Some(Err(error)) if !is_temporary(&error) => {
                simulation.world.report_violation(format_args!(
                    "the hostile tenant cannot create a log: {error}"
                ));
                return None;
            }
            Some(Err(_)) | None => simulation.world.sleep_ms(RETRY_PAUSE_MS).await,
        }
    }
}

/// Stores random bytes as an object, then puts an entry that names the object into the tenant's own
/// log, as after an upload.
async fn store_garbage(simulation: &Simulation, process: &Process, own_log: LogId) {
    let world = &simulation.world;
    let random = process.random();
    let byte_count = random.draw_in(0..=MAX_OBJECT_BYTES);
    let bytes: Vec<u8> =
        (0..byte_count).map(|_| u8::try_from(random.draw_below(256)).unwrap_or(0)).collect();
    let Ok(key) = BlobKey::new(format!("uploads/{own_log}/{}", random.draw_below(1_000))) else {
        return;
    };
    let object_key = key.as_str().to_owned();
    let sha256 = sha256(&bytes);
    let blob = NewBlob {
        key,
        bytes: Bytes::from(bytes),
        sha256,
        content_type: None,
        content_encoding: None,
        pending: false,
    };
    let put_result = world.blobs.put(blob).await;
    let last_entry = world.tables.last(own_log, 0, ReadConsistency::Strong).await;
    let (Ok(()), Ok(Some(last_entry))) = (put_result, last_entry) else { return };
    let Some(position) = last_entry.next_position() else { return };
    let content = Content::External(ExternalEdits {
        client: ClientKey([200; 8]),
        first_id: u64::from(position.entry_number()),
        count: 1,
        base: Position::FIRST,
        object: object_key,
        bytes: byte_count,
        sha256,
        map: SpaceMap::default(),
    });
    let entry = Entry { position, content, ..Entry::clone(&last_entry) };
    // The position may already be taken.
    let _ = world.tables.put(&entry).await;
}

/// Reads a log. A missing log must be reported as missing, and unreadable bytes must cause errors
/// in the tenant's own log only.
async fn read_missing_log(simulation: &Simulation, process: &Process, log: LogId) {
    match read_somehow(simulation, process, log).await {
        Some(Err(LogError::NotFound)) => simulation.world.count(RareEvent::Foreign),
        Some(Err(error)) if is_temporary(&error) => {}
        Some(answer) => {
            simulation
                .world
                .report_violation(format_args!("I17: a missing log was answered with {answer:?}"));
        }
        None => {}
    }
}

async fn read_own_log(simulation: &Simulation, process: &Process, log: LogId) {
    match read_somehow(simulation, process, log).await {
        Some(Err(error)) if !is_temporary(&error) => {
            simulation.world.count(RareEvent::GarbageRefused);
        }
        Some(_) | None => {}
    }
}

async fn read_somehow(
    simulation: &Simulation,
    process: &Process,
    log: LogId,
) -> Option<Result<(), LogError>> {
    let read_kind = process.random().draw_below(4);
    let read = move |server: Server| async move {
        let logs = &server.logs;
        match read_kind {
            0 => logs.load(log, None).await.map(drop),
            1 => logs.head(log, None).await.map(drop),
            2 => logs.workbook(log, None, None).await.map(drop),
            _ => cells(logs, log, Position::FIRST, SheetId::FIRST).await.map(drop),
        }
    };
    simulation.fleet.ask(process, format!("read {read_kind} of {log}"), read).await
}

/// Appends to a log that does not exist.
async fn append_to_missing_log(simulation: &Simulation, process: &Process, log: LogId) {
    let operation = draw_operation(process.random(), 0);
    let mutation = NewMutation { id: 1, base: Position::FIRST, operation };
    let Ok(request) = Request::new(log, ClientKey([201; 8]), None, 0, 0, vec![mutation]) else {
        return;
    };
    let append = move |server: Server| async move { server.logs.append(request).await.map(drop) };
    match simulation.fleet.ask(process, format!("append to {log}"), append).await {
        Some(Err(LogError::NotFound)) => simulation.world.count(RareEvent::Foreign),
        Some(Err(error)) if is_temporary(&error) => {}
        Some(answer) => {
            simulation.world.report_violation(format_args!(
                "I17: an append to a missing log was answered with {answer:?}"
            ));
        }
        None => {}
    }
}
