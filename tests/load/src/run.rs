//! One run: starts the cloud, loads it, kills it if planned, waits for snapshots, and checks the
//! results.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cellar::Client;
use cellar_api::{wire::CreateReply, wire::CreateRequest};
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
use crate::stored::{Log, Tables};
use crate::watch::Watch;

/// Progress of a run.
#[derive(Debug, Clone, Copy)]
pub struct RunProgress {
    /// Time since the start.
    pub elapsed: Duration,
    /// Number of answered requests.
    pub answered: u64,
    /// Resident memory of the cloud in bytes; `None` if unknown.
    pub resident_bytes: Option<u64>,
}

/// Polling interval for the time of the next kill.
const POLL: Duration = Duration::from_millis(20);
/// Maximum downtime of a killed cloud, in milliseconds. Sometimes the cloud restarts immediately.
const AWAY_MS: u64 = 500;

/// State of a run.
struct Run<'a> {
    plan: &'a Plan,
    cloud: Cloud,
    measured: Measured,
    watch: Arc<Watch>,
    begun: Instant,
}

/// Executes a plan.
///
/// # Errors
/// [`LoadError`] if the run cannot be made. Violations by the cloud are in the report.
pub async fn run(
    plan: &Plan,
    program: &Program,
    progress: impl Fn(RunProgress) + Send + Sync + 'static,
) -> Result<Report, LoadError> {
    let cloud = Cloud::start(program, plan).await?;
    let created = create(&cloud, plan).await?;
    let measured = Measured::new(plan.kills > 0)?;
    let clients = clients(&cloud, plan, &created, &measured)?;
    let (watch, begun) = (Arc::new(Watch::new(cloud.pid())), Instant::now());
    let mut run = Run { plan, cloud, measured, watch, begun };
    // The checks must not count as load.
    let watching = run.watch(progress);
    let ended = run.load(clients).await;
    watching.abort();
    let loaded = Loaded { time: begun.elapsed(), kinds: run.measured.kinds() };
    run.check_results(ended?, &created, loaded).await
}

/// Creates all clients, each with its own token and connections.
fn clients(
    cloud: &Cloud,
    plan: &Plan,
    created: &[CreateReply],
    measured: &Measured,
) -> Result<Vec<LoadClient>, LoadError> {
    let tokens = cloud.tokens((0..plan.clients).map(|number| format!("client {number}")))?;
    let client = |(number, token): (u32, &String)| {
        let (url, spreadsheet) = (cloud.url(), spreadsheet(number, plan, created)?);
        let identity = Identity { number, url, token, spreadsheet };
        LoadClient::new(&identity, plan, measured.clone())
    };
    (0..).zip(&tokens).map(client).collect()
}

async fn create(cloud: &Cloud, plan: &Plan) -> Result<Vec<CreateReply>, LoadError> {
    let token = cloud.tokens(std::iter::once("creator".to_owned()))?;
    let client = Client::new(cloud.url(), token.first().map(String::as_str))?;
    let mut created = Vec::new();
    for number in 0..plan.spreadsheets.max(1) {
        let request = CreateRequest::new(format!("load {number}"));
        created.push(client.create(&request).await?);
    }
    Ok(created)
}

impl Run<'_> {
    /// Samples the process every second, until the task is aborted.
    fn watch(
        &self,
        progress: impl Fn(RunProgress) + Send + Sync + 'static,
    ) -> tokio::task::JoinHandle<()> {
        let (watch, measured, begun) = (Arc::clone(&self.watch), self.measured.clone(), self.begun);
        tokio::spawn(async move {
            let mut ticks = tokio::time::interval(Duration::from_secs(1));
            loop {
                ticks.tick().await;
                let resident_bytes = watch.sample(begun.elapsed());
                let answered = measured.total();
                progress(RunProgress { elapsed: begun.elapsed(), answered, resident_bytes });
            }
        })
    }

    /// Runs all clients concurrently, and kills the cloud as planned.
    async fn load(&mut self, clients: Vec<LoadClient>) -> Result<Vec<ClientRun>, LoadError> {
        let mut running = JoinSet::new();
        for (number, client) in (0..).zip(clients) {
            let (begun, length) = (self.begun, self.plan.length);
            running.spawn(client.run(begun, length, Pace::new(self.plan, number)));
        }
        for kill in 1..=self.plan.kills {
            self.wait_for(kill).await;
            self.kill().await?;
        }
        let mut ended = Vec::new();
        while let Some(client) = running.join_next().await {
            ended.push(client?);
        }
        self.watch.sample(self.begun.elapsed());
        Ok(ended)
    }

    /// Waits until the time of a kill. Kills are spread evenly over the run.
    async fn wait_for(&self, kill: u32) {
        let parts = self.plan.kills.saturating_add(1);
        match self.plan.length {
            Length::Time(time) => {
                let at = time.saturating_mul(kill) / parts;
                tokio::time::sleep_until((self.begun + at).into()).await;
            }
            Length::Requests(requests) => {
                let all = requests.saturating_mul(self.plan.clients.into());
                let at = all.saturating_mul(kill.into()) / u64::from(parts);
                while self.measured.total() < at && self.measured.faults().is_empty() {
                    tokio::time::sleep(POLL).await;
                }
            }
        }
    }

    async fn kill(&mut self) -> Result<(), LoadError> {
        self.watch.sample(self.begun.elapsed());
        self.cloud.kill()?;
        let away_ms = fastrand::u64(..AWAY_MS);
        tokio::time::sleep(Duration::from_millis(away_ms)).await;
        self.cloud.start_again().await?;
        self.watch.follow(self.cloud.pid());
        Ok(())
    }

    /// Waits for the snapshots, and checks all logs.
    async fn check_results(
        &self,
        ended: Vec<ClientRun>,
        created: &[CreateReply],
        loaded: Loaded,
    ) -> Result<Report, LoadError> {
        let tables = Tables::open(&self.cloud.state())?;
        let mut logs = Vec::new();
        for created in created {
            logs.push(tables.read(created.id).await?);
        }
        let mut unmade = 0;
        for log in &logs {
            unmade += tables.list_unfinished(log).await?.len();
        }
        let finishing = Instant::now();
        let left = tables.wait_for_snapshots(&logs).await?;
        let backlog = Backlog {
            requests: ended.iter().map(|ended| ended.backlog).sum(),
            snapshots: u64::try_from(unmade).unwrap_or(u64::MAX),
            snapshots_ms: u64::try_from(finishing.elapsed().as_millis()).unwrap_or(u64::MAX),
        };
        let mut found = CheckResults::default();
        found.violations.extend(left.into_iter().map(|left| format!("never made: {left}")));
        let clients = self.compare(&mut found, ended, &logs).await?;
        let authors: Vec<Author> = clients.into_iter().flat_map(LoadClient::into_authors).collect();
        if !are_distinct(&authors) {
            found.violations.push("two clients have the same key".to_owned());
        }
        logs.iter().for_each(|log| found.check(log, &authors));
        let judged = self.plan.checks_growth;
        found.violations.extend(self.measured.faults());
        found.violations.extend(memory::violations(&self.watch.samples(), judged));
        Ok(Report::new(self.plan, &loaded, &self.watch, backlog, found))
    }

    /// Compares the cells that every client reads, at the newest snapshot and at the end of its
    /// log, with a replay of the log; returns the clients.
    async fn compare(
        &self,
        found: &mut CheckResults,
        ended: Vec<ClientRun>,
        logs: &[Log],
    ) -> Result<Vec<LoadClient>, LoadError> {
        let mut replays = std::collections::BTreeMap::new();
        for log in logs {
            let snapshots = log.snapshots();
            let at: Vec<_> = snapshots.last().copied().into_iter().chain([log.head()]).collect();
            found.snapshots += u64::try_from(snapshots.len()).unwrap_or(u64::MAX);
            replays.insert(log.id.to_string(), (log.head(), log.replayed(&at)?));
        }
        let mut clients = Vec::new();
        for ClientRun { mut client, .. } in ended {
            let (name, id) = (client.name(), client.spreadsheet().to_string());
            let Some((head, replayed)) = replays.get(&id) else { continue };
            for (at, cells) in replayed {
                match client.all_cells(*at).await {
                    Ok(read) => found.compare(&name, *at, &read, cells),
                    Err(stuck) => found.violations.push(format!("{name}: {stuck}")),
                }
            }
            if client.pulls() {
                match client.pull_all().await {
                    Ok(end) if end >= *head => {}
                    Ok(end) => found.violations.push(format!("{name} pulls up to {end} of {head}")),
                    Err(stuck) => found.violations.push(format!("{name}: {stuck}")),
                }
            }
            clients.push(client);
        }
        Ok(clients)
    }
}

/// Returns the spreadsheet of a client. Clients with adjacent numbers share one.
fn spreadsheet(
    number: u32,
    plan: &Plan,
    created: &[CreateReply],
) -> Result<CreateReply, LoadError> {
    let at = u64::from(number) * u64::from(plan.spreadsheets) / u64::from(plan.clients.max(1));
    let found = usize::try_from(at).ok().and_then(|at| created.get(at).copied());
    found.ok_or_else(|| LoadError::Part { why: format!("no spreadsheet for client {number}") })
}
