//! The event source that connects the queue to the snapshot workers. Each invocation receives one
//! message, and several invocations run concurrently.

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
/// Probability that the deletion of a finished message fails, while faults are active.
const NOT_DELETED: Rate = Rate(500);

/// A process of the worker function, including its caches.
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
pub(super) async fn run_queue_source(shared: Arc<Shared>) {
    let idle_workers: Arc<Mutex<Vec<Worker>>> = Arc::default();
    let mut poll_delay = PollDelay::new();
    loop {
        shared.wait_until_available().await;
        while shared.in_flight.load(Ordering::SeqCst) < shared.workers {
            let received = shared.world.queue.receive(1, VISIBILITY_S).await;
            let Some(message) = received.unwrap_or_default().pop() else { break };
            poll_delay.reset();
            if shared.random.happens(shared.world.plan().given_twice) {
                shared.world.count(RareEvent::MessageToTwo);
                begin_invocation(&shared, &idle_workers, message.clone());
            }
            begin_invocation(&shared, &idle_workers, message);
        }
        poll_delay.wait(&shared.world).await;
    }
}

/// Invokes an idle worker or, if there is none, a new one.
fn begin_invocation(
    shared: &Arc<Shared>,
    idle_workers: &Arc<Mutex<Vec<Worker>>>,
    message: Received,
) {
    shared.in_flight.fetch_add(1, Ordering::SeqCst);
    let shared = Arc::clone(shared);
    let idle_workers = Arc::clone(idle_workers);
    drop(tokio::spawn(async move {
        let idle_worker = idle_workers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let worker = match idle_worker {
            Some(idle_worker) if !idle_worker.process.is_dead() => idle_worker,
            _ => Worker::new(&shared),
        };
        let is_reusable = invoke_worker(&shared, &worker, message).await;
        if is_reusable {
            idle_workers.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
        }
        shared.in_flight.fetch_sub(1, Ordering::SeqCst);
    }));
}

/// Invokes a worker. Returns whether the worker can be invoked again.
async fn invoke_worker(shared: &Shared, worker: &Worker, message: Received) -> bool {
    let world = &shared.world;
    let process = &worker.process;
    let Ok(job) = SnapshotJob::decode(&message.body) else {
        world.report_violation(format_args!("a message is no job: {}", message.body));
        return true;
    };
    let receipt = message.receipt.clone();
    let deadline_ms = process.to_process_time_ms(world.time.now_ms() + shared.function_ms);
    let snapshots = worker.snapshots.clone();
    let handle_job = async move { snapshots.handle(job, &receipt, deadline_ms).await };
    let invocation = process.run(handle_job);
    let timeout = Duration::from_millis(shared.function_ms);
    let Ok(invocation_result) = tokio::time::timeout(timeout, invocation).await else {
        world.count(RareEvent::FunctionTimedOut);
        // A frozen worker may resume after its invocation has timed out.
        if shared.random.draw_below(2) == 0 {
            process.die();
        }
        return false;
    };
    let Ok(outcome) = invocation_result else { return false };
    process.event(format_args!("{} {outcome:?}", job.position));
    count_outcome(shared, outcome);
    let is_done = matches!(outcome, SnapshotOutcome::Done | SnapshotOutcome::Drop);
    let has_no_faults = world.plan() == world.plan().without_faults();
    if is_done
        && (has_no_faults || !shared.random.happens(NOT_DELETED))
        && let Err(error) = world.queue.delete(&message.receipt).await
    {
        world.report_violation(format_args!("the queue does not know its receipt: {error}"));
    }
    true
}

fn count_outcome(shared: &Shared, outcome: SnapshotOutcome) {
    let rare_event = match outcome {
        SnapshotOutcome::Done => RareEvent::SnapshotMade,
        SnapshotOutcome::Drop => RareEvent::MessageAfterDone,
        SnapshotOutcome::Wait { .. } => RareEvent::MessageWaited,
        SnapshotOutcome::HandOver => RareEvent::MessageHandedOver,
        SnapshotOutcome::Failed { .. } | SnapshotOutcome::Unexpected { .. } => {
            RareEvent::MessageFailed
        }
    };
    shared.world.count(rare_event);
}
