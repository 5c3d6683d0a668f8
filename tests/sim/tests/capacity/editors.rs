//! Editors that have a sheet open: they poll, and edit at random times.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use cellar_api::polling::{PollEvent, Polling};
use cellar_base::backoff::full_jitter_ms;
use cellar_base::identity::{ClientKey, LogId};
use cellar_base::limits::MAX_MUTATIONS_PER_REQUEST;
use cellar_base::position::Position;
use cellar_catalog::access::{Access, Need};
use cellar_engine::logs::{LogError, UpkeepOutcome};
use cellar_log::append::{NewMutation, Refusal, Request};
use cellar_log::entry::FIRST_INCARNATION;
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{CellEdit, Operation, SetCells, SheetId};
use tokio::time::{sleep, sleep_until};

use super::functions::Invocation;
use super::region::Region;

/// Attempts of a client for a request (`client/src/client/retry.rs`). Then it waits as after a failed
/// poll.
const MAX_ATTEMPTS: u32 = 5;
/// `Retry-After` of replies with status 503.
const RETRY_AFTER_MS: u64 = 1_000;
/// Requests for the files of the page and the name of the sheet. Later visits have them in a cache.
const PAGE_REQUESTS: usize = 8;
/// Two objects that a view reads one after the other, each in 30 ms (`docs/measurements.md`).
const VIEW_OBJECTS_MS: u64 = 2 * 30;
/// Time after the end of the load in which clients may still send edits, in seconds.
const DRAIN_S: f64 = 5.0;

/// When editors arrive, how often they edit, and which edits are measured.
#[derive(Debug, Clone, Copy)]
pub(super) struct Habits {
    pub(super) edits_per_s: f64,
    pub(super) for_s: f64,
    /// Editors open their sheet at random times within these seconds, or have it open already.
    pub(super) open_within_s: Option<f64>,
    /// Edits before this time are not measured.
    pub(super) measured_from_s: f64,
}

/// A sheet with a random number of entries after its last snapshot.
pub(super) struct Sheet {
    pub(super) id: LogId,
    pub(super) snapshot_after: AtomicU32,
}

pub(super) struct Editor {
    region: Arc<Region>,
    sheet: Arc<Sheet>,
    client: ClientKey,
    habits: Habits,
    random: fastrand::Rng,
    seen: Position,
    polling: Polling,
    poll_s: f64,
    edit_s: f64,
    /// Earliest time of the next request that sends edits.
    send_s: f64,
    /// When each unsent edit was made.
    unsent_s: Vec<f64>,
    last_id: u64,
    pub(super) outcome: EditorOutcome,
}

#[derive(Debug, Default)]
pub(super) struct EditorOutcome {
    /// From an edit to its acknowledgement, or to the end of the run.
    pub(super) edit_latencies_s: Vec<f64>,
    pub(super) open_latencies_s: Vec<f64>,
    /// Edits that were not acknowledged by the end of the run.
    pub(super) unsent: u64,
}

/// The request failed, and the client gives up for now.
struct Failed;

impl Editor {
    pub(super) fn new(
        region: &Arc<Region>,
        sheet: &Arc<Sheet>,
        number: u32,
        habits: Habits,
    ) -> Self {
        let mut key = [0; 8];
        key[..4].copy_from_slice(&number.to_be_bytes());
        Self {
            region: Arc::clone(region),
            sheet: Arc::clone(sheet),
            client: ClientKey(key),
            habits,
            random: fastrand::Rng::with_seed(u64::from(number)),
            seen: Position::FIRST,
            polling: Polling::default(),
            poll_s: 0.0,
            edit_s: 0.0,
            send_s: 0.0,
            unsent_s: Vec::new(),
            last_id: 0,
            outcome: EditorOutcome::default(),
        }
    }

    pub(super) async fn run(mut self) -> EditorOutcome {
        if let Some(within_s) = self.habits.open_within_s {
            let arrival_s = self.random.f64() * within_s;
            sleep_until(self.region.moment(arrival_s)).await;
            self.open().await;
        }
        let now_s = self.region.now_s();
        let first_poll_s = (2.0 / self.habits.edits_per_s).clamp(1.0, 10.0);
        self.poll_s = now_s + self.random.f64() * first_poll_s;
        self.edit_s = now_s;
        self.draw_next_edit();
        self.edit_and_poll().await;
        for made_s in std::mem::take(&mut self.unsent_s) {
            self.outcome.unsent += 1;
            self.record_edit(made_s);
        }
        self.outcome
    }

    fn draw_next_edit(&mut self) {
        self.edit_s += -(1.0 - self.random.f64()).ln() / self.habits.edits_per_s;
        if self.edit_s >= self.habits.for_s {
            self.edit_s = f64::INFINITY;
        }
    }

    /// Repeats: waits for the next edit or poll, and sends a request.
    async fn edit_and_poll(&mut self) {
        loop {
            let send_s = if self.unsent_s.is_empty() { f64::INFINITY } else { self.send_s };
            let is_over = self.region.now_s() >= self.habits.for_s;
            let poll_s = if is_over { f64::INFINITY } else { self.poll_s };
            let due_s = self.edit_s.min(poll_s).min(send_s);
            if due_s >= self.habits.for_s + DRAIN_S {
                return;
            }
            sleep_until(self.region.moment(due_s)).await;
            self.make_due_edits();
            if !self.unsent_s.is_empty() && self.region.is_due(self.send_s) {
                self.send_edits().await;
            } else if self.region.is_due(poll_s) {
                self.poll().await;
            }
        }
    }

    /// A client with too many unsent edits accepts no more.
    fn make_due_edits(&mut self) {
        while self.region.is_due(self.edit_s) {
            if self.unsent_s.len() < MAX_MUTATIONS_PER_REQUEST {
                self.unsent_s.push(self.edit_s);
            }
            self.draw_next_edit();
        }
    }

    fn record_edit(&mut self, made_s: f64) {
        if made_s >= self.habits.measured_from_s {
            self.outcome.edit_latencies_s.push(self.region.now_s() - made_s);
        }
    }

    fn step_polling(&mut self, event: PollEvent) -> f64 {
        let (polling, delay_ms) = self.polling.step(event, self.random.u64(..));
        self.polling = polling;
        self.region.now_s() + Duration::from_millis(delay_ms).as_secs_f64()
    }

    /// Invokes the API, with the retries of a client, and checks the access.
    async fn invoke(&mut self, need: Need) -> Result<Invocation, Failed> {
        for attempt in 1..=MAX_ATTEMPTS {
            if let Ok(invocation) = self.region.invoke().await {
                let catalog = &invocation.process.catalog;
                let access = catalog.access(&self.region.principal, self.sheet.id, need).await;
                match access {
                    Ok(access) => {
                        assert_eq!(access, Access::Allowed);
                        return Ok(invocation);
                    }
                    Err(_) => self.wait_after_refusal(invocation).await,
                }
            } else {
                let delay_ms = full_jitter_ms(attempt, self.random.u64(..));
                sleep(Duration::from_millis(delay_ms)).await;
            }
        }
        Err(Failed)
    }

    async fn wait_after_refusal(&self, invocation: Invocation) {
        self.region.finish(invocation);
        sleep(Duration::from_millis(RETRY_AFTER_MS)).await;
    }

    /// Requests the newest position, and the entries after the last one if there are any.
    async fn poll(&mut self) {
        let Ok(invocation) = self.invoke(Need::Read).await else {
            self.poll_s = self.step_polling(PollEvent::Failed);
            return;
        };
        let head = invocation.process.logs.head(self.sheet.id, Some(self.seen)).await;
        self.region.finish(invocation);
        let event = match head {
            Ok(head) if head.head == self.seen => PollEvent::Quiet,
            Ok(_) => self.read_changes().await,
            Err(_) => PollEvent::Failed,
        };
        self.poll_s = self.step_polling(event);
    }

    async fn read_changes(&mut self) -> PollEvent {
        let Ok(invocation) = self.invoke(Need::Read).await else { return PollEvent::Failed };
        let loaded = invocation.process.logs.update(self.sheet.id, self.seen).await;
        self.region.finish(invocation);
        let Ok(loaded) = loaded else { return PollEvent::Failed };
        self.seen = self.seen.max(loaded.head);
        PollEvent::Active
    }

    /// Opens the page and the sheet.
    async fn open(&mut self) {
        let begun_s = self.region.now_s();
        for _ in 0..PAGE_REQUESTS {
            while self.invoke_page().await.is_err() {}
        }
        while self.view().await.is_err() {
            sleep(Duration::from_millis(RETRY_AFTER_MS)).await;
        }
        self.outcome.open_latencies_s.push(self.region.now_s() - begun_s);
    }

    async fn invoke_page(&mut self) -> Result<(), Failed> {
        let invocation = self.invoke(Need::Read).await?;
        self.region.finish(invocation);
        Ok(())
    }

    async fn view(&mut self) -> Result<(), Failed> {
        let invocation = self.invoke(Need::Read).await?;
        let loaded = invocation.process.logs.load(self.sheet.id, None).await;
        sleep(Duration::from_millis(VIEW_OBJECTS_MS)).await;
        self.region.finish(invocation);
        self.seen = loaded.map_err(|_| Failed)?.head;
        Ok(())
    }

    /// Sends all unsent edits in one request.
    async fn send_edits(&mut self) {
        let count = self.unsent_s.len();
        let first_id = self.last_id + 1;
        let last_id = self.last_id + u64::try_from(count).unwrap();
        let result = self.append(first_id..last_id + 1).await;
        if result.is_err() {
            self.send_s = self.step_polling(PollEvent::Failed);
            return;
        }
        self.last_id = last_id;
        for made_s in std::mem::take(&mut self.unsent_s) {
            self.record_edit(made_s);
        }
        self.poll_s = self.step_polling(PollEvent::Active);
    }

    async fn append(&mut self, ids: Range<u64>) -> Result<(), Failed> {
        let request = self.request(ids);
        for _ in 0..MAX_ATTEMPTS {
            let invocation = self.invoke(Need::Write).await?;
            match invocation.process.logs.append(request.clone()).await {
                Ok(appended) => {
                    self.seen = self.seen.max(appended.tail);
                    self.apply_log_policy(&invocation).await;
                    self.region.finish(invocation);
                    return Ok(());
                }
                Err(
                    LogError::Refused(
                        Refusal::Contention | Refusal::OutcomeUnknown | Refusal::Store,
                    )
                    | LogError::Store(_),
                ) => {
                    self.wait_after_refusal(invocation).await;
                }
                Err(error) => panic!("{error}"),
            }
        }
        Err(Failed)
    }

    fn request(&mut self, ids: Range<u64>) -> Request {
        let acked_id = ids.start - 1;
        let mutations = ids.map(|id| {
            let edit = CellEdit {
                row: self.random.u32(..1_000),
                column: 0,
                value: Some(Value::Text(format!("edit {id}"))),
                formula: None,
                format: None,
            };
            let cells = SetCells { sheet: SheetId::FIRST, cells: vec![edit] };
            NewMutation { id, base: self.seen, operation: Operation::SetCells(cells) }
        });
        let mutations = mutations.collect();
        let (log, client) = (self.sheet.id, self.client);
        Request::new(log, client, None, FIRST_INCARNATION, acked_id, mutations).unwrap()
    }

    /// Writes a Snapshot entry if one is due, as the API does after an append.
    async fn apply_log_policy(&self, invocation: &Invocation) {
        let snapshot_entries = self.sheet.snapshot_after.load(Relaxed);
        let policy = self.region.limits.log_policy(snapshot_entries);
        let upkept = invocation.process.logs.upkeep(self.sheet.id, &policy).await;
        if let Ok(UpkeepOutcome::Snapshot(_)) = upkept {
            self.sheet.snapshot_after.store(self.region.limits.snapshot_entries, Relaxed);
            tokio::spawn(Arc::clone(&self.region).build_snapshot());
        }
    }
}
