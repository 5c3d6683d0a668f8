//! Executes one run: starts the stack, puts it under load, kills it if planned, waits for the
//! snapshots, and checks the results.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cellar::Client;
use cellar_api::{wire::CreateReply, wire::CreateRequest};
use cellar_base::position::Position;
use tokio::task::JoinSet;

use crate::LoadError;
use crate::check::{CheckResults, are_distinct};
use crate::client::{Author, ClientRun, Identity, LoadClient};
use crate::cloud::{Cloud, Program};
use crate::measured::Measured;
use crate::memory;
use crate::pace::Pace;
use crate::plan::{Length, Plan};
use crate::report::{Backlog, Loaded, Report};
use crate::stored::{Cells, Log, Tables};
use crate::watch::Watch;

/// Progress of a run.
#[derive(Debug, Clone, Copy)]
pub struct RunProgress {
    /// Time since the start.
    pub elapsed: Duration,
    /// Number of requests that have received a response.
    pub answered: u64,
    /// Resident memory of the stack in bytes, if known.
    pub resident_bytes: Option<u64>,
}

/// Interval at which the time of the next kill is polled.
const KILL_POLL_PERIOD: Duration = Duration::from_millis(20);
/// Maximum time until a killed stack restarts, in milliseconds. Sometimes the stack restarts
/// immediately.
const MAX_DOWNTIME_MS: u64 = 500;

/// State of a run.
struct Run<'a> {
    plan: &'a Plan,
    cloud: Cloud,
    measured: Measured,
    watch: Arc<Watch>,
    begun_at: Instant,
}

/// Executes a plan.
///
/// # Errors
/// Returns a [`LoadError`] if the run is not possible. Violations by the stack are part of the
/// report instead.
pub async fn run(
    plan: &Plan,
    program: &Program,
    progress: impl Fn(RunProgress) + Send + Sync + 'static,
) -> Result<Report, LoadError> {
    let cloud = Cloud::start(program, plan).await?;
    let spreadsheets = create_spreadsheets(&cloud, plan).await?;
    let may_break_connections = plan.kills > 0;
    let measured = Measured::new(may_break_connections)?;
    let clients = create_clients(&cloud, plan, &spreadsheets, &measured)?;
    let watch = Arc::new(Watch::new(cloud.pid()));
    let begun_at = Instant::now();
    let mut run = Run { plan, cloud, measured, watch, begun_at };
    let watch_task = run.watch_process(progress);
    let client_runs = run.run_clients(clients).await;
    // Stop sampling and copy the measurements now, because the checks do not count as load.
    watch_task.abort();
    let loaded = Loaded { time: begun_at.elapsed(), kinds: run.measured.kinds() };
    run.check_results(client_runs?, &spreadsheets, loaded).await
}

/// Creates all clients, each with a token and separate connections.
fn create_clients(
    cloud: &Cloud,
    plan: &Plan,
    spreadsheets: &[CreateReply],
    measured: &Measured,
) -> Result<Vec<LoadClient>, LoadError> {
    let subjects = (0..plan.clients).map(|number| format!("client {number}"));
    let tokens = cloud.sign_tokens(subjects)?;
    let mut clients = Vec::new();
    for (number, token) in (0..).zip(&tokens) {
        let spreadsheet = spreadsheet_of_client(number, plan, spreadsheets)?;
        let identity = Identity { number, url: cloud.url(), token, spreadsheet };
        clients.push(LoadClient::new(&identity, plan, measured.clone())?);
    }
    Ok(clients)
}

async fn create_spreadsheets(cloud: &Cloud, plan: &Plan) -> Result<Vec<CreateReply>, LoadError> {
    let tokens = cloud.sign_tokens(std::iter::once("creator".to_owned()))?;
    let client = Client::new(cloud.url(), tokens.first().map(String::as_str))?;
    let mut spreadsheets = Vec::new();
    for number in 0..plan.spreadsheets.max(1) {
        let request = CreateRequest::new(format!("load {number}"));
        spreadsheets.push(client.create(&request).await?);
    }
    Ok(spreadsheets)
}

impl Run<'_> {
    /// Samples the process every second until the task is aborted.
    fn watch_process(
        &self,
        report_progress: impl Fn(RunProgress) + Send + Sync + 'static,
    ) -> tokio::task::JoinHandle<()> {
        let watch = Arc::clone(&self.watch);
        let measured = self.measured.clone();
        let begun_at = self.begun_at;
        tokio::spawn(async move {
            let mut ticks = tokio::time::interval(Duration::from_secs(1));
            loop {
                ticks.tick().await;
                let elapsed = begun_at.elapsed();
                let resident_bytes = watch.sample(elapsed);
                let answered = measured.answered_count();
                report_progress(RunProgress { elapsed, answered, resident_bytes });
            }
        })
    }

    /// Runs all clients concurrently and kills the stack as planned.
    async fn run_clients(&mut self, clients: Vec<LoadClient>) -> Result<Vec<ClientRun>, LoadError> {
        let mut client_tasks = JoinSet::new();
        for (number, client) in (0..).zip(clients) {
            let pace = Pace::new(self.plan, number);
            client_tasks.spawn(client.send_requests(self.begun_at, self.plan.length, pace));
        }
        for kill_number in 1..=self.plan.kills {
            self.wait_for_kill(kill_number).await;
            self.kill_and_restart_cloud().await?;
        }
        let mut client_runs = Vec::new();
        while let Some(client_run) = client_tasks.join_next().await {
            client_runs.push(client_run?);
        }
        self.watch.sample(self.begun_at.elapsed());
        Ok(client_runs)
    }

    /// Waits until the time of the given kill. Kills are spread evenly over the run.
    async fn wait_for_kill(&self, kill_number: u32) {
        let interval_count = self.plan.kills + 1;
        match self.plan.length {
            Length::Time(run_time) => {
                let kill_after = run_time.saturating_mul(kill_number) / interval_count;
                tokio::time::sleep_until((self.begun_at + kill_after).into()).await;
            }
            Length::Requests(requests_per_client) => {
                let request_count = requests_per_client.saturating_mul(self.plan.clients.into());
                let kill_after =
                    request_count.saturating_mul(kill_number.into()) / u64::from(interval_count);
                while self.measured.answered_count() < kill_after
                    && self.measured.faults().is_empty()
                {
                    tokio::time::sleep(KILL_POLL_PERIOD).await;
                }
            }
        }
    }

    async fn kill_and_restart_cloud(&mut self) -> Result<(), LoadError> {
        self.watch.sample(self.begun_at.elapsed());
        self.cloud.kill()?;
        let downtime_ms = fastrand::u64(..MAX_DOWNTIME_MS);
        tokio::time::sleep(Duration::from_millis(downtime_ms)).await;
        self.cloud.restart().await?;
        self.watch.follow(self.cloud.pid());
        Ok(())
    }

    /// Waits for the snapshots and checks all logs.
    async fn check_results(
        &self,
        client_runs: Vec<ClientRun>,
        spreadsheets: &[CreateReply],
        loaded: Loaded,
    ) -> Result<Report, LoadError> {
        let tables = Tables::open(&self.cloud.state())?;
        let mut logs = Vec::new();
        for spreadsheet in spreadsheets {
            logs.push(tables.read_log(spreadsheet.id).await?);
        }
        let mut unfinished_count = 0;
        for log in &logs {
            unfinished_count += tables.list_unfinished(log).await?.len();
        }
        let load_ended_at = Instant::now();
        let never_finished = tables.wait_for_snapshots(&logs).await?;
        let snapshots_ms = load_ended_at.elapsed().as_millis();
        let backlog = Backlog {
            requests: client_runs.iter().map(|client_run| client_run.backlog).sum(),
            snapshots: u64::try_from(unfinished_count).unwrap_or(u64::MAX),
            snapshots_ms: u64::try_from(snapshots_ms).unwrap_or(u64::MAX),
        };
        let mut results = CheckResults::default();
        for snapshot in never_finished {
            results.violations.push(format!("never made: {snapshot}"));
        }
        let clients = self.check_reads(&mut results, client_runs, &logs).await?;
        let authors: Vec<Author> = clients.into_iter().flat_map(LoadClient::into_authors).collect();
        if !are_distinct(&authors) {
            results.violations.push("two clients have the same key".to_owned());
        }
        for log in &logs {
            results.check(log, &authors);
        }
        results.violations.extend(self.measured.faults());
        let memory_violations = memory::violations(&self.watch.samples(), self.plan.checks_growth);
        results.violations.extend(memory_violations);
        Ok(Report::new(self.plan, &loaded, &self.watch, backlog, results))
    }

    /// Compares the cells that each client reads with a replay of the log, both at the newest
    /// snapshot and at the end of the log. Returns the clients.
    async fn check_reads(
        &self,
        results: &mut CheckResults,
        client_runs: Vec<ClientRun>,
        logs: &[Log],
    ) -> Result<Vec<LoadClient>, LoadError> {
        let mut replays = BTreeMap::new();
        for log in logs {
            let snapshot_positions = log.snapshot_positions();
            results.snapshots += u64::try_from(snapshot_positions.len()).unwrap_or(u64::MAX);
            let mut compared_positions = vec![log.head()];
            compared_positions.extend(snapshot_positions.last());
            let states = log.replay(&compared_positions)?;
            replays.insert(log.id.to_string(), Replay { head: log.head(), states });
        }
        let mut clients = Vec::new();
        for ClientRun { mut client, .. } in client_runs {
            let log_id = client.spreadsheet().to_string();
            if let Some(replay) = replays.get(&log_id) {
                check_client_reads(results, &mut client, replay).await;
                clients.push(client);
            }
        }
        Ok(clients)
    }
}

/// The newest position of a log, and the log's cells at some positions.
struct Replay {
    head: Position,
    states: Vec<(Position, Cells)>,
}

async fn check_client_reads(results: &mut CheckResults, client: &mut LoadClient, replay: &Replay) {
    let name = client.name();
    for (position, replayed_cells) in &replay.states {
        match client.read_all_cells(*position).await {
            Ok(read_cells) => results.compare(&name, *position, &read_cells, replayed_cells),
            Err(stuck) => results.violations.push(format!("{name}: {stuck}")),
        }
    }
    if client.pulls() {
        let head = replay.head;
        match client.pull_all().await {
            Ok(pulled_position) if pulled_position >= head => {}
            Ok(pulled_position) => {
                results.violations.push(format!("{name} pulls up to {pulled_position} of {head}"));
            }
            Err(stuck) => results.violations.push(format!("{name}: {stuck}")),
        }
    }
}

/// Returns the spreadsheet of a client. Clients with adjacent numbers share a spreadsheet.
fn spreadsheet_of_client(
    client_number: u32,
    plan: &Plan,
    spreadsheets: &[CreateReply],
) -> Result<CreateReply, LoadError> {
    let client_count = u64::from(plan.clients.max(1));
    let spreadsheet_index = u64::from(client_number) * u64::from(plan.spreadsheets) / client_count;
    usize::try_from(spreadsheet_index)
        .ok()
        .and_then(|index| spreadsheets.get(index).copied())
        .ok_or_else(|| LoadError::Part {
            why: format!("no spreadsheet for client {client_number}"),
        })
}
