//! Tests that the simulated ports satisfy the contract suite, and that only eventually consistent
//! reads may be stale.

use std::sync::Arc;

use cellar_engine::contract::{self, JobsUnderTest};
use cellar_engine::ports::{Clock as _, Entries as _, Jobs, ReadConsistency};
use cellar_engine::system::SystemClock;
use cellar_sim::plan::FaultPlan;
use cellar_sim::process::{Mortality, Process};
use cellar_sim::random::{Rate, SimRandom};
use cellar_sim::world::{World, WorldConfig};

const RECEIVES: u32 = 3;

fn process(plan: FaultPlan) -> Process {
    // The contract suite for buckets compares times with the system clock.
    let start_ms = SystemClock.now_ms();
    let beginning = WorldConfig { start_ms, receives: RECEIVES, ..WorldConfig::with(plan) };
    let world = World::new(SimRandom::of_seed(1), beginning);
    Process::new(&world, "contract", Mortality::Mortal)
}

#[tokio::test(start_paused = true)]
async fn the_tables_keep_the_contract() {
    let process = process(FaultPlan::none());
    contract::tables(&process).await;
    contract::retention(&process).await;
    contract::pending_snapshots(&process).await;
}

#[tokio::test(start_paused = true)]
async fn streams_and_their_index_keep_the_contract() {
    let process = process(FaultPlan::none());
    contract::streams(&process).await;
    contract::feed_table(&process).await;
    contract::lists(&process).await;
    contract::webhook(&process).await;
}

#[tokio::test(start_paused = true)]
async fn the_bucket_keeps_the_contract() {
    let process = process(FaultPlan::none());
    contract::blobs(&process, &[]).await;
    let world = Arc::clone(process.world());
    contract::presigned(&process, &[], async |request| world.blobs.send(&request)).await;
}

/// The simulated queue's dead letters are accessible as a separate port.
#[tokio::test(start_paused = true)]
async fn the_queue_keeps_the_contract() {
    let process = process(FaultPlan::none());
    let dead_letters: &dyn Jobs = process.world().dead_letters.as_ref();
    contract::jobs(&JobsUnderTest {
        queue: &process,
        dead_letters,
        max_receive_count: RECEIVES,
        clock: &process,
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn only_what_may_be_stale_is() {
    use cellar_base::identity::LogId;
    use cellar_base::position::Position;
    use cellar_log::entry::Entry;
    let plan = FaultPlan { stale: Rate(10_000), lag_max_ms: 60_000, ..FaultPlan::none() };
    let process = process(plan);
    let log = LogId::from_uuid(uuid::Uuid::from_u128(9));
    let put = |num| {
        let first = Entry::first(log, None, 0);
        Entry { position: Position::new(0, num).unwrap(), ..first }
    };
    let (mut holes, mut stale) = (0, 0);
    for num in 0..200 {
        process.put(&put(num)).await;
        let consistent = process.page(log, Position::FIRST, ReadConsistency::Strong).await.unwrap();
        assert_eq!(consistent.entries.len(), usize::try_from(num).unwrap() + 1);
        let page = process.page(log, Position::FIRST, ReadConsistency::Eventual).await.unwrap();
        stale += usize::from(page.entries.len() < consistent.entries.len());
        let numbers = page.entries.iter().map(|entry| entry.position.entry_number());
        let end = numbers.clone().max().map_or(0, |last| last + 1);
        holes += usize::from(numbers.count() < usize::try_from(end).unwrap());
    }
    assert!(stale > 100 && holes > 20, "{stale} stale, {holes} with holes");
}
