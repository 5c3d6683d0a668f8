//! The alarms: few, because the eleventh costs money every month (design `5-quality.md` §5).

use super::events::Events;
use crate::constructs::{Alarm, Function, Metric};
use crate::stack::{Handle, Stack, SynthesisError};

/// Records are relayed within seconds; after this many milliseconds something stands still.
const ITERATOR_AGE_MS_MAX: u32 = 10 * 60 * 1_000;
/// A job may wait for earlier snapshots of its log; after this many seconds they do not get done.
const JOB_AGE_S_MAX: u32 = 6 * 60 * 60;

/// Adds all of them.
pub(super) fn add(
    stack: &mut Stack,
    api: &Handle<Function>,
    snapshot: &Handle<Function>,
    events: &Events,
) -> Result<(), SynthesisError> {
    let functions = of_functions(api, &events.relay, snapshot);
    for (id, alarm) in functions.into_iter().chain(of_queues(events)) {
        stack.add(&format!("{id}Alarm"), alarm)?;
    }
    Ok(())
}

type Named = (&'static str, Alarm);

fn of_functions(
    api: &Handle<Function>,
    relay: &Handle<Function>,
    snapshot: &Handle<Function>,
) -> Vec<Named> {
    vec![
        ("ApiErrors", Alarm::on_function("Requests fail.", Metric::Errors, api, 0, 1)),
        ("ApiThrottles", Alarm::on_function("Requests are refused.", Metric::Throttles, api, 0, 3)),
        ("RelayErrors", Alarm::on_function("The relay fails.", Metric::Errors, relay, 0, 1)),
        (
            "RelayThrottles",
            Alarm::on_function("The relay is not called.", Metric::Throttles, relay, 0, 3),
        ),
        (
            "RelayIteratorAge",
            Alarm::on_function(
                "The relay lags: snapshots and uploads wait.",
                Metric::IteratorAge,
                relay,
                ITERATOR_AGE_MS_MAX,
                1,
            ),
        ),
        ("SnapshotErrors", Alarm::on_function("Snapshots fail.", Metric::Errors, snapshot, 0, 1)),
        (
            "SnapshotThrottles",
            Alarm::on_function(
                "The worker on snapshots is not called.",
                Metric::Throttles,
                snapshot,
                0,
                3,
            ),
        ),
    ]
}

fn of_queues(events: &Events) -> Vec<Named> {
    let Events { relay_dead_letters, snapshots, snapshot_dead_letters, .. } = events;
    vec![
        (
            "RelayDeadLetterCount",
            Alarm::on_queue(
                "Entries were not relayed: read the letters, mend the cause, reprocess.",
                Metric::Messages,
                relay_dead_letters,
                0,
                1,
            ),
        ),
        (
            "SnapshotQueueAge",
            Alarm::on_queue(
                "Snapshots are not made.",
                Metric::OldestMessage,
                snapshots,
                JOB_AGE_S_MAX,
                1,
            ),
        ),
        (
            "SnapshotDeadLetterCount",
            Alarm::on_queue(
                "Snapshots were given up: read the letters, mend the cause, reprocess.",
                Metric::Messages,
                snapshot_dead_letters,
                0,
                1,
            ),
        ),
    ]
}
