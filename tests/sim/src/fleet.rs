//! The API's processes. Each request goes to one of them, and crashed processes are replaced.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cellar_base::identity::LogId;
use cellar_base::limits::{
    MAX_APPEND_AGE_S, MAX_PUT_ATTEMPTS, MAX_READ_ATTEMPTS, MAX_RESOLVE_ATTEMPTS, MAX_UPKEEP_MS,
};
use cellar_engine::catalog::CatalogStore;
use cellar_engine::logs::{Completion, LogError, Logs};
use cellar_log::append::{Appended, Request};
use cellar_log::upkeep::LogPolicy;

use crate::ports::counting_attempts;
use crate::process::{Mortality, Process};
use crate::random::SimRandom;
use crate::rare::RareEvent;
use crate::world::World;

/// Request timeout of clients, in milliseconds.
const REQUEST_TIMEOUT_MS: u64 = 30_000;

/// Creates a process's log service in the same way as the API.
#[must_use]
pub fn logs_of(process: &Process) -> Logs {
    let port = Arc::new(process.clone());
    let (entries, segments) = (Arc::clone(&port) as _, Arc::clone(&port) as _);
    let (blobs, clock) = (Arc::clone(&port) as _, Arc::clone(&port) as _);
    Logs::new(entries, segments, blobs, clock, port as _)
}

/// Creates a process's catalog in the same way as the API.
#[must_use]
pub fn catalog_of(process: &Process) -> CatalogStore {
    let port = Arc::new(process.clone());
    CatalogStore::new(Arc::clone(&port) as _, Arc::clone(&port) as _, port)
}

/// A process of the API.
#[derive(Clone)]
pub struct Server {
    pub process: Process,
    /// The process's log service, with its caches.
    pub logs: Arc<Logs>,
    /// The process's catalog.
    pub catalog: CatalogStore,
    /// Policy that determines when the process writes Snapshot entries and starts new segments.
    pub policy: LogPolicy,
}

/// The processes of the API.
pub struct Fleet {
    world: Arc<World>,
    random: SimRandom,
    state: Mutex<State>,
}

struct State {
    policy: LogPolicy,
    started_count: u32,
    servers: Vec<Server>,
}

impl Fleet {
    /// Starts `count` processes with the given upkeep policy.
    #[must_use]
    pub fn new(world: &Arc<World>, count: u32, policy: LogPolicy) -> Self {
        let state = Mutex::new(State { policy, started_count: 0, servers: Vec::new() });
        let fleet = Self { world: Arc::clone(world), random: world.random.fork(), state };
        let mut state = fleet.lock();
        for _ in 0..count {
            let server = fleet.start_server(&mut state);
            state.servers.push(server);
        }
        drop(state);
        fleet
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start_server(&self, state: &mut State) -> Server {
        state.started_count += 1;
        let process =
            Process::new(&self.world, format!("api-{}", state.started_count), Mortality::Mortal);
        let logs = Arc::new(logs_of(&process));
        let catalog = catalog_of(&process);
        Server { process, logs, catalog, policy: state.policy }
    }

    /// Returns the process that receives the next request.
    #[must_use]
    pub fn pick(&self) -> Server {
        let mut state = self.lock();
        let server_count = u32::try_from(state.servers.len()).unwrap_or(u32::MAX);
        let index = usize::try_from(self.random.draw_below(server_count)).unwrap_or(0);
        if let Some(server) = state.servers.get(index)
            && self.answers(server)
        {
            return server.clone();
        }
        let new_server = self.start_server(&mut state);
        if let Some(replaced_server) = state.servers.get_mut(index) {
            *replaced_server = new_server.clone();
        }
        new_server
    }

    /// Returns whether a server receives the request. A frozen process is eventually replaced, and
    /// may resume while its successor runs.
    fn answers(&self, server: &Server) -> bool {
        let process = &server.process;
        !process.is_dead() && (!process.is_frozen() || self.random.draw_below(3) > 0)
    }

    /// Returns the processes that currently receive requests.
    #[must_use]
    pub fn all(&self) -> Vec<Server> {
        self.lock().servers.clone()
    }

    /// Deploys a new version. New processes take over, and the old processes finish their work.
    pub fn redeploy(&self, policy: LogPolicy) {
        let mut state = self.lock();
        state.policy = policy;
        for index in 0..state.servers.len() {
            let server = self.start_server(&mut state);
            if let Some(place) = state.servers.get_mut(index) {
                *place = server;
            }
        }
        self.world.count(RareEvent::Redeployed);
        self.world.event("fleet", format_args!("another version is deployed"));
    }

    /// Sends a client's request to one process. Returns `None` if no response arrives; the request
    /// may nevertheless have been executed.
    pub async fn ask<T, F>(
        &self,
        client: &Process,
        description: String,
        handle_request: impl FnOnce(Server) -> F,
    ) -> Option<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let server = self.pick();
        let process = server.process.clone();
        let description = format!("asks {}: {description}", process.name());
        let handle_request = Box::pin(handle_request(server));
        let answer = client.call(description, async move { process.run(handle_request).await });
        let timeout = Duration::from_millis(REQUEST_TIMEOUT_MS);
        tokio::time::timeout(timeout, answer).await.ok()?.ok()?.ok()
    }
}

/// Executes an append followed by the log's upkeep, like the API.
pub async fn append(server: Server, request: Request) -> Result<Appended, LogError> {
    let log = request.log();
    let logs = Arc::clone(&server.logs);
    let is_reversal = request.resolution_request().is_some();
    let has_import = request.imports().next().is_some();
    let max_attempts = if is_reversal {
        // An undo or a revert is written again after edits of other clients, and it reads the
        // entries that it reverses.
        MaxAttempts { puts: MAX_RESOLVE_ATTEMPTS * MAX_PUT_ATTEMPTS, reads: u32::MAX }
    } else if has_import || request.may_read_metadata() {
        // The check of an import and the metadata need reads of the log.
        MaxAttempts { puts: MAX_PUT_ATTEMPTS, reads: u32::MAX }
    } else {
        MaxAttempts { puts: MAX_PUT_ATTEMPTS, reads: MAX_READ_ATTEMPTS }
    };
    let append = async move { logs.append(request).await };
    append_with_upkeep(server, log, max_attempts, Box::pin(append)).await
}

/// Maximum number of requests per append.
struct MaxAttempts {
    puts: u32,
    reads: u32,
}

/// Completes an upload in the same way as the API.
pub async fn complete(
    server: Server,
    log: LogId,
    completion: Completion,
) -> Result<Appended, LogError> {
    let logs = Arc::clone(&server.logs);
    // The formulas of an upload may need the metadata, which is read from the log.
    let max_attempts = MaxAttempts { puts: MAX_PUT_ATTEMPTS, reads: u32::MAX };
    let complete = async move { logs.complete_upload(log, completion).await };
    append_with_upkeep(server, log, max_attempts, Box::pin(complete)).await
}

async fn append_with_upkeep(
    server: Server,
    log: LogId,
    max_attempts: MaxAttempts,
    append: impl Future<Output = Result<Appended, LogError>>,
) -> Result<Appended, LogError> {
    let world = server.process.world();
    let begun_ms = world.time.elapsed_ms();
    let (append_result, attempts) = counting_attempts(append).await;
    let duration_ms = world.time.elapsed_ms() - begun_ms;
    if append_result.is_err() && duration_ms > MAX_APPEND_AGE_S * 1_000 {
        world.count(RareEvent::AppendTooOld);
    }
    if let Err(violation) = attempts.check_within(max_attempts.puts, max_attempts.reads) {
        world.report_violation(format_args!("I6: {violation}"));
    }
    if append_result.is_ok() {
        run_upkeep(&server, log).await;
    }
    append_result
}

/// Runs the log's upkeep after an append, within a time limit. Omitting the upkeep does no harm.
pub async fn run_upkeep(server: &Server, log: LogId) {
    let upkeep = server.logs.upkeep(log, &server.policy);
    let upkept = tokio::time::timeout(Duration::from_millis(MAX_UPKEEP_MS), upkeep).await;
    let world = server.process.world();
    match upkept {
        Ok(Ok(cellar_engine::logs::UpkeepOutcome::Snapshot(at))) => {
            world.count(RareEvent::SnapshotEntryPut);
            server.process.event(format_args!("Snapshot entry {at}"));
        }
        Ok(Ok(_)) | Err(_) => {}
        Ok(Err(error)) => server.process.event(format_args!("no upkeep: {error}")),
    }
}
