//! Editors of one sheet, whose requests are handled by processes that handle one request at a time.

use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cellar_base::identity::{ClientKey, LogId, SubjectKey};
use cellar_base::position::Position;
use cellar_engine::logs::{LogError, Logs};
use cellar_engine::memory::MemoryBlobs;
use cellar_log::append::{NewMutation, Refusal, Request};
use cellar_log::entry::FIRST_INCARNATION;
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{CellEdit, Operation, SetCells, SheetId};
use futures_util::future::join_all;
use tokio::time::{Instant, sleep, sleep_until};

use super::distant::DistantTables;

/// Time between two requests of a client for the newest entries.
const POLL_S: f64 = 1.0;

/// When an editor makes the next edit.
#[derive(Debug, Clone, Copy)]
pub(super) enum Pace {
    /// At random times with this mean rate.
    PerSecond(f64),
    /// Directly after the reply to the last one.
    ClosedLoop,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    pub(super) editors: u8,
    pub(super) pace: Pace,
    pub(super) for_s: f64,
}

#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) edits: u64,
    pub(super) puts: u64,
    pub(super) reads: u64,
    /// Replies with status 503. The editor repeats the request.
    pub(super) refusals: u64,
    /// Number of processes, each of which handles one request at a time.
    pub(super) processes: u64,
    /// From the request to the successful reply, in ascending order.
    latencies_ms: Vec<u64>,
    for_s: f64,
}

/// Tables and processes that the editors share.
struct World {
    tables: Arc<DistantTables>,
    /// Processes that are free, the one that was used last at the end.
    idle: Mutex<Vec<Arc<Logs>>>,
    process_count: Mutex<u64>,
    begun: Instant,
}

struct Editor {
    world: Arc<World>,
    number: u8,
    load: Load,
    random: fastrand::Rng,
    /// The newest position that the editor has seen, and when it was requested.
    seen: (Position, f64),
    latencies_ms: Vec<u64>,
    refusals: u64,
}

fn log() -> LogId {
    LogId::derive(&SubjectKey::new("cellar", "alice"), "budget").unwrap()
}

impl Load {
    pub(super) async fn run(self) -> Outcome {
        let tables = Arc::new(DistantTables::new(1));
        let world = Arc::new(World {
            tables: Arc::clone(&tables),
            idle: Mutex::default(),
            process_count: Mutex::default(),
            begun: Instant::now(),
        });
        world.new_process().create(log(), None).await.unwrap();
        let editors = (0..self.editors).map(|number| {
            let random = fastrand::Rng::with_seed(u64::from(number));
            let (world, seen) = (Arc::clone(&world), (Position::FIRST, 0.0));
            let (latencies_ms, refusals) = (Vec::new(), 0);
            let editor = Editor { world, number, load: self, random, seen, latencies_ms, refusals };
            tokio::spawn(editor.run())
        });
        let editors: Vec<Editor> =
            join_all(editors).await.into_iter().map(Result::unwrap).collect();
        let mut latencies_ms: Vec<u64> =
            editors.iter().flat_map(|editor| editor.latencies_ms.iter().copied()).collect();
        latencies_ms.sort_unstable();
        let processes = *world.process_count.lock().unwrap();
        Outcome {
            edits: u64::try_from(latencies_ms.len()).unwrap(),
            puts: tables.puts.load(Ordering::Relaxed),
            reads: tables.reads.load(Ordering::Relaxed),
            refusals: editors.iter().map(|editor| editor.refusals).sum(),
            processes,
            latencies_ms,
            for_s: self.for_s,
        }
    }
}

impl World {
    fn new_process(&self) -> Logs {
        let (tables, log_tables) = (&self.tables, &self.tables.tables);
        let blobs = Arc::new(MemoryBlobs::new(tables.clone()));
        Logs::new(tables.clone(), log_tables.clone(), blobs, tables.clone(), tables.clone())
    }

    /// Returns the process that was used last, or a new one if all are busy.
    fn take_process(&self) -> Arc<Logs> {
        self.idle.lock().unwrap().pop().unwrap_or_else(|| {
            *self.process_count.lock().unwrap() += 1;
            Arc::new(self.new_process())
        })
    }

    fn now_s(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }
}

impl Editor {
    async fn run(mut self) -> Self {
        let mut due_s = 0.0;
        let mut id = 1;
        loop {
            if let Pace::PerSecond(rate) = self.load.pace {
                due_s += -(1.0 - self.random.f64()).ln() / rate;
                sleep_until(self.world.begun + Duration::from_secs_f64(due_s)).await;
            }
            if self.world.now_s() >= self.load.for_s {
                return self;
            }
            self.poll().await;
            self.edit(id).await;
            id += 1;
        }
    }

    /// Learns the newest position if the last request for it was long ago.
    async fn poll(&mut self) {
        let now_s = self.world.now_s();
        if now_s - self.seen.1 > POLL_S * self.random.f64() {
            let process = self.world.take_process();
            let head = process.head(log(), Some(self.seen.0)).await.unwrap();
            self.world.idle.lock().unwrap().push(process);
            self.seen = (head.head, now_s);
        }
    }

    async fn edit(&mut self, id: u64) {
        let begun = Instant::now();
        let edit = CellEdit {
            row: self.random.u32(..1_000),
            column: 0,
            value: Some(Value::Text(format!("{} {id}", self.number))),
            formula: None,
            format: None,
        };
        let operation = Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: vec![edit] });
        let mutations = vec![NewMutation { id, base: self.seen.0, operation }];
        let client = ClientKey([self.number; 8]);
        let request =
            Request::new(log(), client, None, FIRST_INCARNATION, id - 1, mutations).unwrap();
        loop {
            let process = self.world.take_process();
            let result = process.append(request.clone()).await;
            self.world.idle.lock().unwrap().push(process);
            match result {
                Ok(appended) => {
                    self.seen = (appended.tail, self.world.now_s());
                    break;
                }
                Err(LogError::Refused(Refusal::Contention)) => {
                    self.refusals += 1;
                    sleep(Duration::from_secs(1)).await;
                }
                Err(error) => panic!("{error}"),
            }
        }
        self.latencies_ms.push(u64::try_from(begun.elapsed().as_millis()).unwrap());
    }
}

impl Outcome {
    pub(super) fn latency_ms(&self, percent: usize) -> u64 {
        self.latencies_ms[(self.latencies_ms.len() - 1) * percent / 100]
    }

    /// Write units for each edit. A refused put costs as much as an accepted one.
    pub(super) fn writes_per_edit(&self) -> f64 {
        to_f64(self.puts) / to_f64(self.edits)
    }
}

fn to_f64(number: u64) -> f64 {
    f64::from(u32::try_from(number).unwrap())
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { edits, reads, refusals, processes, for_s, .. } = self;
        write!(
            formatter,
            "| {:.0} | {:.2} | {:.2} | {} | {} | {} | {refusals} | {processes} |",
            to_f64(*edits) / for_s,
            self.writes_per_edit(),
            to_f64(*reads) / to_f64(*edits),
            self.latency_ms(50),
            self.latency_ms(99),
            self.latency_ms(100),
        )
    }
}
