//! Lambda between a shard of the stream and the relay: batches in their order, split where they fail, and
//! given up when they are too old or failed too often.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use cellar_core::records::Attribute;
use cellar_core::records::entry::SNAPSHOT;
use cellar_core::relay::INSERT;
use cellar_core::schema::{EXTERNAL, TYPE};
use cellar_engine::ports::Clock as _;
use cellar_engine::relay::{Change, Relay};

use super::{Idle, Shared};
use crate::process::Process;
use crate::rare::Rare;
use crate::stream::Record;

/// Records of one batch.
const BATCH: usize = 100;
/// How often a batch that fails is tried again.
const RETRIES: u32 = 10;
/// Age at which a record is given up, milliseconds.
const RECORD_AGE_MS: u64 = 12 * 60 * 60 * 1_000;
/// How long the relay may take, milliseconds.
const TIMEOUT_MS: u64 = 60_000;
/// Longest wait before a batch is tried again, milliseconds.
const RETRY_MAX_MS: u64 = 30_000;

/// Reads one shard for ever.
pub(super) async fn run(shared: Arc<Shared>, shard: usize) {
    let (mut relay, mut idle) = (shared.process("relay"), Idle::new());
    loop {
        shared.available().await;
        let Some(read_to) = shared.read_to.get(shard) else { return };
        let (after, now_ms) = (read_to.load(Ordering::SeqCst), shared.world.time.now_ms());
        let (records, forgotten) = shared.world.stream.read(shard, after, BATCH, now_ms);
        (0..forgotten).for_each(|_| shared.lost(Rare::RecordExpired));
        let Some(last) = records.last().map(|last| last.number) else {
            idle.wait(&shared.world).await;
            continue;
        };
        idle.busy();
        let wanted: Vec<Record> = records.into_iter().filter(passes).collect();
        if !wanted.is_empty() {
            all(&shared, &mut relay, wanted.clone()).await;
            if shared.random.happens(shared.world.plan().repeated) {
                shared.world.count(Rare::BatchRepeated);
                all(&shared, &mut relay, wanted).await;
            }
        }
        read_to.store(last, Ordering::SeqCst);
    }
}

/// The template's filters.
fn passes(record: &Record) -> bool {
    let is_snapshot = match record.image.get(TYPE) {
        Some(Attribute::Text(letter)) => letter == SNAPSHOT,
        _ => false,
    };
    record.name == INSERT && (is_snapshot || record.image.contains_key(EXTERNAL))
}

async fn all(shared: &Shared, relay: &mut Process, records: Vec<Record>) {
    let mut batches = VecDeque::from([(records, 0_u32)]);
    while let Some((mut records, calls)) = batches.pop_front() {
        shared.available().await;
        expire(shared, &mut records);
        if records.is_empty() {
            continue;
        }
        let failed_at = call(shared, relay, &records).await;
        let rest = records.split_off(failed_at.min(records.len()));
        match (records.is_empty(), rest.is_empty()) {
            (_, true) => {}
            // Progress: what is left was not tried yet.
            (false, false) => batches.push_front((rest, 0)),
            (true, false) if rest.len() > 1 => {
                shared.world.count(Rare::BatchSplit);
                let (one, other) = rest.split_at(rest.len() / 2);
                batches.push_front((other.to_vec(), 0));
                batches.push_front((one.to_vec(), 0));
            }
            (true, false) if calls >= RETRIES => shared.lost(Rare::DeadLetter),
            (true, false) => {
                let wait_ms = (1_000_u64 << calls).min(RETRY_MAX_MS);
                shared.world.sleep_ms(wait_ms).await;
                batches.push_front((rest, calls + 1));
            }
        }
    }
}

fn expire(shared: &Shared, records: &mut Vec<Record>) {
    let now_ms = shared.world.time.now_ms();
    let is_old = |record: &Record| now_ms > record.created_ms + RECORD_AGE_MS;
    let old = records.iter().take_while(|record| is_old(record)).count();
    records.drain(..old);
    (0..old).for_each(|_| shared.lost(Rare::RecordExpired));
}

/// Calls the relay; gives how many records are done.
async fn call(shared: &Shared, relay: &mut Process, records: &[Record]) -> usize {
    if relay.is_dead() {
        *relay = shared.process("relay");
    }
    let changes: Vec<Change> = records.iter().map(change).collect();
    let port = Arc::new(relay.clone());
    let work = Relay::new(Arc::clone(&port) as _, port);
    let called = relay.run(async move { work.batch(&changes).await });
    match tokio::time::timeout(Duration::from_millis(TIMEOUT_MS), called).await {
        Ok(Ok(None)) => records.len(),
        Ok(Ok(Some(number))) => {
            let failed = records.iter().position(|record| record.number.to_string() == number);
            failed.unwrap_or(0)
        }
        Ok(Err(_)) => 0,
        Err(_) => {
            shared.world.count(Rare::FunctionTimedOut);
            relay.die();
            0
        }
    }
}

fn change(record: &Record) -> Change {
    Change {
        sequence_number: record.number.to_string(),
        name: record.name.to_owned(),
        image: record.image.clone(),
    }
}
