//! The event source between the queue and the snapshot workers: one message per invocation, several
//! concurrent invocations.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cellar_engine::ports::{Clock as _, Jobs as _, Received};
use cellar_engine::snapshots::{LevelsBuilder, SnapshotPorts, Snapshots};
use cellar_snapshot::pending_snapshot::SnapshotOutcome;
use cellar_snapshot::snapshot_job::SnapshotJob;

use super::{PollDelay, Shared};
use crate::fleet::logs_of;
use crate::process::Process;
use crate::random::Rate;
use crate::rare::RareEvent;

/// Visibility timeout of a received message, in seconds.
const VISIBILITY_S: u32 = 6 * 15 * 60;
/// How often the deletion of a finished message fails, while faults are active.
const NOT_DELETED: Rate = Rate(500);

/// A process of the worker function, with its caches.
struct Worker {
    process: Process,
    snapshots: Snapshots,
}

impl Worker {
    fn new(shared: &Shared) -> Self {
        let process = shared.process("worker");
        let port = Arc::new(process.clone());
        let builder = LevelsBuilder::new(Arc::new(logs_of(&process)), Arc::clone(&port) as _);
        let ports = SnapshotPorts {
            entries: Arc::clone(&port) as _,
            segments: Arc::clone(&port) as _,
            pending: Arc::clone(&port) as _,
            jobs: Arc::clone(&port) as _,
            clock: Arc::clone(&port) as _,
            random: port as _,
        };
        Self { snapshots: Snapshots::new(ports, Arc::new(builder)), process }
    }
}

/// Polls the queue forever.
pub(super) async fn run(shared: Arc<Shared>) {
    let idle: Arc<Mutex<Vec<Worker>>> = Arc::default();
    let mut looks = PollDelay::new();
    loop {
        shared.wait_until_available().await;
        while shared.in_flight.load(Ordering::SeqCst) < shared.workers {
            let received = shared.world.queue.receive(1, VISIBILITY_S).await;
            let Some(message) = received.unwrap_or_default().pop() else { break };
            looks.reset();
            if shared.random.happens(shared.world.plan().given_twice) {
                shared.world.count(RareEvent::MessageToTwo);
                begin(&shared, &idle, message.clone());
            }
            begin(&shared, &idle, message);
        }
        looks.wait(&shared.world).await;
    }
}

/// Invokes an idle worker, or a new one.
fn begin(shared: &Arc<Shared>, idle: &Arc<Mutex<Vec<Worker>>>, message: Received) {
    shared.in_flight.fetch_add(1, Ordering::SeqCst);
    let (shared, idle) = (Arc::clone(shared), Arc::clone(idle));
    drop(tokio::spawn(async move {
        let free = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let worker = free.filter(|worker| !worker.process.is_dead());
        let worker = worker.unwrap_or_else(|| Worker::new(&shared));
        if call(&shared, &worker, message).await {
            idle.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
        }
        shared.in_flight.fetch_sub(1, Ordering::SeqCst);
    }));
}

/// Invokes a worker; returns whether it can be invoked again.
async fn call(shared: &Shared, worker: &Worker, message: Received) -> bool {
    let (world, process) = (&shared.world, &worker.process);
    let Ok(job) = SnapshotJob::decode(&message.body) else {
        world.report_violation(format_args!("a message is no job: {}", message.body));
        return true;
    };
    let receipt = message.receipt.clone();
    let deadline_ms = process.to_process_time_ms(world.time.now_ms() + shared.function_ms);
    let snapshots = worker.snapshots.clone();
    let handles = async move { snapshots.handle(job, &receipt, deadline_ms).await };
    let called = process.run(handles);
    let Ok(ended) = tokio::time::timeout(Duration::from_millis(shared.function_ms), called).await
    else {
        world.count(RareEvent::FunctionTimedOut);
        // A frozen worker may wake up after its invocation has timed out.
        if shared.random.draw_below(2) == 0 {
            process.die();
        }
        return false;
    };
    let Ok(outcome) = ended else { return false };
    process.event(format_args!("{} {outcome:?}", job.position));
    count(shared, outcome);
    let is_done = matches!(outcome, SnapshotOutcome::Done | SnapshotOutcome::Drop);
    let is_quiet = world.plan() == world.plan().without_faults();
    if is_done && (is_quiet || !shared.random.happens(NOT_DELETED)) {
        let deleted = world.queue.delete(&message.receipt).await;
        if let Err(error) = deleted {
            world.report_violation(format_args!("the queue does not know its receipt: {error}"));
        }
    }
    true
}

fn count(shared: &Shared, outcome: SnapshotOutcome) {
    shared.world.count(match outcome {
        SnapshotOutcome::Done => RareEvent::SnapshotMade,
        SnapshotOutcome::Drop => RareEvent::MessageAfterDone,
        SnapshotOutcome::Wait { .. } => RareEvent::MessageWaited,
        SnapshotOutcome::HandOver => RareEvent::MessageHandedOver,
        SnapshotOutcome::Failed { .. } => RareEvent::MessageFailed,
    });
}
