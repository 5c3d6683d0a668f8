//! Unit tests of the worker's decisions.

use super::*;
use cellar_base::identity::LogId;
use cellar_base::limits::{
    ABANDONED_S, BROKEN_WAIT_S, EARLIER_WAIT_S, FAILED_WAIT_S, HAND_OVER_MS, LEASE_S,
    MAX_PROGRESS_BYTES,
};

const NOW_S: u64 = 1_795_246_133;
const NOW: ClockReading = ClockReading { now_ms: NOW_S * 1_000 };
const DEADLINE_MS: u64 = NOW.now_ms + 300_000;

fn at(num: u32) -> Position {
    Position::new(3, num).unwrap()
}

fn job(num: u32) -> SnapshotJob {
    SnapshotJob { log: LogId::from_uuid(uuid::Uuid::from_bytes([7; 16])), position: at(num) }
}

/// Returns a record that was last written this many seconds ago.
fn record(num: u32, silent_s: u64) -> PendingSnapshot {
    PendingSnapshot {
        job: job(num),
        created_s: NOW_S - 10_000,
        modified_s: NOW_S - silent_s,
        active: true,
        increment: 5,
        progress: vec![9],
        rebuild: None,
    }
}

fn segment(last_snapshot: Option<u32>) -> SnapshotEvent {
    let log = job(0).log;
    SnapshotEvent::Segment(Some(Segment {
        log,
        num: 3,
        created_s: 0,
        last_snapshot,
        offloaded: None,
        lineage: None,
    }))
}

/// Passes a sequence of events to a worker and returns the last action.
#[track_caller]
fn run(events: impl IntoIterator<Item = SnapshotEvent>) -> (Worker, SnapshotAction) {
    let (mut worker, mut action) = Worker::begin(job(8), DEADLINE_MS);
    assert_eq!(action, SnapshotAction::FindFirst);
    for event in events {
        assert!(!matches!(action, SnapshotAction::Finish(_)), "{action:?} before {event:?}");
        (worker, action) = worker.step(event, NOW);
    }
    (worker, action)
}

fn action(events: impl IntoIterator<Item = SnapshotEvent>) -> SnapshotAction {
    run(events).1
}

fn wait(wait_s: u64) -> SnapshotAction {
    SnapshotAction::Finish(SnapshotOutcome::Wait { wait_s: u32::try_from(wait_s).unwrap() })
}

fn failed(wait_s: u32) -> SnapshotAction {
    SnapshotAction::Finish(SnapshotOutcome::Failed { wait_s })
}

/// Returns the events until the first unit of work, for a record that the worker claims.
fn building() -> Vec<SnapshotEvent> {
    let first = SnapshotEvent::Found(Some(record(8, LEASE_S)));
    vec![first, SnapshotEvent::Written, segment(Some(7))]
}

fn after_building(event: SnapshotEvent) -> SnapshotAction {
    action(building().into_iter().chain([event]))
}

#[track_caller]
fn replaced(action: SnapshotAction) -> PendingSnapshot {
    let SnapshotAction::Replace { record, increment } = action else { panic!("{action:?}") };
    assert_eq!(increment, Some(record.increment - 1));
    assert_eq!((record.job, record.created_s), (job(8), NOW_S - 10_000));
    assert_eq!(record.modified_s, NOW_S);
    record
}

#[test]
fn an_earlier_pending_snapshot_is_waited_for_and_woken_if_abandoned() {
    for (silent_s, active) in [(0, true), (ABANDONED_S - 1, true), (ABANDONED_S - 1, false)] {
        let earlier = PendingSnapshot { active, ..record(7, silent_s) };
        assert_eq!(action([SnapshotEvent::Found(Some(earlier))]), wait(u64::from(EARLIER_WAIT_S)));
    }
    let abandoned = || SnapshotEvent::Found(Some(record(7, ABANDONED_S)));
    assert_eq!(action([abandoned()]), SnapshotAction::Enqueue(at(7)));
    assert_eq!(action([abandoned(), SnapshotEvent::Done]), wait(u64::from(EARLIER_WAIT_S)));
    let unsent = SnapshotEvent::Failed { temporary: true };
    assert_eq!(action([abandoned(), unsent]), failed(FAILED_WAIT_S));
}

#[test]
fn the_own_record_is_claimed_if_it_is_free_or_its_lease_expired() {
    for (silent_s, active) in [(LEASE_S, true), (LEASE_S + 1, true), (0, false)] {
        let own = PendingSnapshot { active, ..record(8, silent_s) };
        let claimed = replaced(action([SnapshotEvent::Found(Some(own))]));
        assert_eq!((claimed.increment, claimed.active), (6, true));
        assert_eq!(claimed.progress, [9], "it resumes from the stored progress");
    }
    assert_eq!(action([SnapshotEvent::Found(Some(record(8, 0)))]), wait(LEASE_S));
    assert_eq!(action([SnapshotEvent::Found(Some(record(8, LEASE_S - 1)))]), wait(1));
    // A small clock skew is tolerated; with a large skew, the record expires.
    let future = |s| PendingSnapshot { modified_s: NOW_S + s, ..record(8, 0) };
    assert_eq!(action([SnapshotEvent::Found(Some(future(10)))]), wait(LEASE_S - 10));
    replaced(action([SnapshotEvent::Found(Some(future(LEASE_S)))]));
}

/// The worker deletes a record that another one may have left, wakes the next snapshot, and drops the
/// message.
fn dropped_after_deletion(begun: &[SnapshotEvent]) {
    let after = |events: &[SnapshotEvent]| action([begun, events].concat());
    assert_eq!(after(&[]), SnapshotAction::Delete { run: None });
    assert_eq!(after(&[SnapshotEvent::Done]), SnapshotAction::FindNext);
    let last = [SnapshotEvent::Done, SnapshotEvent::Found(None)];
    assert_eq!(after(&last), SnapshotAction::Finish(SnapshotOutcome::Drop));
}

#[test]
fn without_a_record_a_finished_snapshot_is_dropped_and_an_unfinished_one_is_started() {
    let none = || SnapshotEvent::Found(None);
    assert_eq!(
        action([none()]),
        SnapshotAction::ReadSegment { consistency: ReadConsistency::Eventual }
    );
    for finished in [8, 9] {
        dropped_after_deletion(&[none(), segment(Some(finished))]);
    }
    for unfinished in [segment(None), segment(Some(7)), SnapshotEvent::Segment(None)] {
        let SnapshotAction::Create(own) = action([none(), unfinished.clone()]) else { panic!() };
        assert_eq!((own.increment, own.active, own.modified_s), (1, true, NOW_S));
        assert_eq!(own.progress, [0; 0]);
        let look_up = SnapshotAction::ReadSegment { consistency: ReadConsistency::Strong };
        assert_eq!(action([none(), unfinished, SnapshotEvent::Written]), look_up);
    }
}

#[test]
fn a_worker_that_loses_its_claim_waits_and_deletes_nothing() {
    for lost in [SnapshotEvent::Refused, SnapshotEvent::Unknown] {
        assert_eq!(
            action([SnapshotEvent::Found(None), segment(None), lost.clone()]),
            wait(LEASE_S)
        );
        let stale = SnapshotEvent::Found(Some(record(8, LEASE_S)));
        assert_eq!(action([stale, lost.clone()]), wait(LEASE_S));
        let progress = SnapshotEvent::Progress(vec![10]);
        let events = building().into_iter().chain([progress, lost.clone()]);
        assert_eq!(action(events), wait(LEASE_S));
        let events = building().into_iter().chain([SnapshotEvent::EarlierSnapshot(at(7)), lost]);
        assert_eq!(action(events), wait(LEASE_S));
    }
}

#[test]
fn a_finished_snapshot_is_not_built_again() {
    let claimed = [SnapshotEvent::Found(Some(record(8, LEASE_S))), SnapshotEvent::Written];
    let created = [SnapshotEvent::Found(None), segment(Some(7)), SnapshotEvent::Written];
    for begun in [claimed.to_vec(), created.to_vec()] {
        dropped_after_deletion(&[begun, vec![segment(Some(8))]].concat());
    }
}

#[test]
fn a_missing_segment_record_releases_the_claim_as_broken() {
    let nowhere = [
        SnapshotEvent::Found(None),
        SnapshotEvent::Segment(None),
        SnapshotEvent::Written,
        SnapshotEvent::Segment(None),
    ];
    let SnapshotAction::Replace { record, increment: Some(1) } = action(nowhere.clone()) else {
        panic!()
    };
    assert!(!record.active);
    assert_eq!(action(nowhere.into_iter().chain([SnapshotEvent::Written])), failed(BROKEN_WAIT_S));
}

#[test]
fn progress_is_stored_before_the_next_piece() {
    assert_eq!(action(building()), SnapshotAction::Build { progress: vec![9] });
    let (worker, written) = run(building().into_iter().chain([SnapshotEvent::Progress(vec![10])]));
    let first = replaced(written);
    assert_eq!((first.increment, first.active, first.progress), (7, true, vec![10]));
    let (worker, next) = worker.step(SnapshotEvent::Written, NOW);
    assert_eq!(next, SnapshotAction::Build { progress: vec![10] });
    let (_, written) = worker.step(SnapshotEvent::Progress(vec![11]), NOW);
    assert_eq!(replaced(written).increment, 8);
}

#[test]
fn progress_is_bounded_and_must_change() {
    let longest = after_building(SnapshotEvent::Progress(vec![0; MAX_PROGRESS_BYTES]));
    assert!(replaced(longest).active);
    for bad in [vec![0; MAX_PROGRESS_BYTES + 1], vec![9]] {
        let given_up = building().into_iter().chain([SnapshotEvent::Progress(bad)]);
        let released = replaced(action(given_up.clone()));
        assert_eq!((released.active, released.progress), (false, vec![9]));
        assert_eq!(action(given_up.chain([SnapshotEvent::Written])), failed(BROKEN_WAIT_S));
    }
}

#[test]
fn an_earlier_snapshot_is_woken_and_waited_for() {
    let found = || building().into_iter().chain([SnapshotEvent::EarlierSnapshot(at(7))]);
    let released = replaced(action(found()));
    assert_eq!((released.active, released.progress), (false, vec![9]));
    assert_eq!(action(found().chain([SnapshotEvent::Written])), SnapshotAction::Enqueue(at(7)));
    let waits = action(found().chain([SnapshotEvent::Written, SnapshotEvent::Done]));
    assert_eq!(waits, wait(u64::from(EARLIER_WAIT_S)));
    // The reported snapshot is not earlier, which indicates a bug in the builder.
    let nonsense = building()
        .into_iter()
        .chain([SnapshotEvent::EarlierSnapshot(at(8)), SnapshotEvent::Written]);
    assert_eq!(action(nonsense), failed(BROKEN_WAIT_S));
}

#[test]
fn a_builder_failure_releases_the_record() {
    for (temporary, wait_s) in [(true, FAILED_WAIT_S), (false, BROKEN_WAIT_S)] {
        let events = || building().into_iter().chain([SnapshotEvent::Failed { temporary }]);
        assert!(!replaced(action(events())).active);
        assert_eq!(action(events().chain([SnapshotEvent::Written])), failed(wait_s));
    }
}

/// Returns the action after a unit of work that took `took_ms` and ended `left_ms` before the
/// deadline.
fn near_the_end(took_ms: u64, left_ms: u64) -> (Worker, PendingSnapshot) {
    let now_ms = DEADLINE_MS - left_ms;
    let [first, claimed, unfinished] = building().try_into().unwrap();
    let (worker, _) = run([first, claimed]);
    let (worker, _) = worker.step(unfinished, ClockReading { now_ms: now_ms - took_ms });
    let (worker, action) = worker.step(SnapshotEvent::Progress(vec![10]), ClockReading { now_ms });
    let SnapshotAction::Replace { record, increment: Some(6) } = action else {
        panic!("{action:?}")
    };
    (worker, record)
}

#[test]
fn near_the_end_of_the_function_the_work_is_handed_over() {
    let long_ms = HAND_OVER_MS;
    for (took_ms, left_ms, goes_on) in [
        (1, HAND_OVER_MS + 1, true),
        (1, HAND_OVER_MS, false),
        // Here, twice the interval between progress writes exceeds the minimum reserve.
        (long_ms, 2 * long_ms + 1, true),
        (long_ms, 2 * long_ms, false),
    ] {
        let (worker, record) = near_the_end(took_ms, left_ms);
        assert_eq!((record.active, record.progress), (goes_on, vec![10]), "{took_ms} {left_ms}");
        let (_, action) = worker.step(SnapshotEvent::Written, NOW);
        let hands_over = action == SnapshotAction::Finish(SnapshotOutcome::HandOver);
        assert_eq!(hands_over, !goes_on);
    }
    let (worker, _) = near_the_end(1, HAND_OVER_MS);
    let unknown = worker.clone().step(SnapshotEvent::Unknown, NOW).1;
    assert_eq!(unknown, SnapshotAction::Finish(SnapshotOutcome::HandOver));
    assert_eq!(worker.step(SnapshotEvent::Refused, NOW).1, wait(LEASE_S));
}

#[test]
fn the_final_steps_are_in_order() {
    let built = SnapshotEvent::Built { root: "sheets/a/roots/b".to_owned() };
    let (mut worker, mut action) = run(building().into_iter().chain([built]));
    let next = SnapshotEvent::Found(Some(record(9, 0)));
    for (expected, event) in [
        (SnapshotAction::SetRoot { root: "sheets/a/roots/b".to_owned() }, SnapshotEvent::Done),
        (SnapshotAction::RaiseLast, SnapshotEvent::Done),
        (SnapshotAction::Delete { run: None }, SnapshotEvent::Done),
        (SnapshotAction::FindNext, next),
        (SnapshotAction::Enqueue(at(9)), SnapshotEvent::Done),
    ] {
        assert_eq!(action, expected);
        (worker, action) = worker.step(event, NOW);
    }
    assert_eq!(action, SnapshotAction::Finish(SnapshotOutcome::Done));
}

#[test]
fn a_failed_final_step_is_retried_except_waking_the_next_snapshot() {
    let built = || building().into_iter().chain([SnapshotEvent::Built { root: String::new() }]);
    let unreachable = SnapshotEvent::Failed { temporary: true };
    for done in 0..3 {
        let events = built().chain(vec![SnapshotEvent::Done; done]).chain([unreachable.clone()]);
        assert_eq!(action(events), failed(FAILED_WAIT_S), "{done}");
    }
    let all = built().chain(vec![SnapshotEvent::Done; 3]).chain([unreachable]);
    assert_eq!(action(all), SnapshotAction::Finish(SnapshotOutcome::Done));
}

#[test]
fn a_store_failure_is_retried_later() {
    let broken = |temporary| SnapshotEvent::Failed { temporary };
    for (temporary, wait_s) in [(true, FAILED_WAIT_S), (false, BROKEN_WAIT_S)] {
        assert_eq!(action([broken(temporary)]), failed(wait_s));
        assert_eq!(action([SnapshotEvent::Found(None), broken(temporary)]), failed(wait_s));
        let claim = [SnapshotEvent::Found(Some(record(8, LEASE_S))), broken(temporary)];
        assert_eq!(action(claim.clone()), failed(wait_s));
        let look_up = [claim[0].clone(), SnapshotEvent::Written, broken(temporary)];
        assert_eq!(action(look_up), failed(wait_s));
    }
}

/// Checks that the worker reports the event as one that the phase cannot take.
#[track_caller]
fn assert_unexpected(action: &SnapshotAction, expected_phase: &str, expected_event: &str) {
    let SnapshotAction::Finish(SnapshotOutcome::Unexpected { fault, wait_s }) = action else {
        panic!("{action:?}")
    };
    assert_eq!((fault.phase, fault.event), (expected_phase, expected_event));
    assert_eq!(*wait_s, BROKEN_WAIT_S);
}

#[test]
fn an_event_that_does_not_fit_the_phase_is_no_store_failure() {
    assert_unexpected(&action([SnapshotEvent::Done]), "FindingFirstRecord", "Done");
    let claimed = [SnapshotEvent::Found(Some(record(8, LEASE_S)))];
    let progress = SnapshotEvent::Progress(vec![1]);
    assert_unexpected(&action(claimed.into_iter().chain([progress])), "Claiming", "Progress");
    assert_unexpected(&after_building(SnapshotEvent::Written), "Building", "Written");
    let built = SnapshotEvent::Built { root: String::new() };
    let replacing = building_anew(None).into_iter().chain([built.clone(), SnapshotEvent::Written]);
    assert_unexpected(&action(replacing), "ReplacingRoot", "Written");
    for (steps, event, phase) in [
        (0, SnapshotEvent::EntryGone, "SetRoot"),
        (1, SnapshotEvent::Written, "RaiseLast"),
        (2, SnapshotEvent::Found(None), "DeleteRecord"),
        (3, SnapshotEvent::Done, "FindNext"),
    ] {
        let events = building().into_iter().chain([built.clone()]);
        let event_name = event.name();
        let events = events.chain(vec![SnapshotEvent::Done; steps]).chain([event]);
        assert_unexpected(&action(events), phase, event_name);
    }
    let (finished, _) = run([SnapshotEvent::Done]);
    let (_, action) = finished.step(SnapshotEvent::Failed { temporary: true }, NOW);
    assert_unexpected(&action, "Finished", "Failed");
}

const RUN: u64 = NOW.now_ms - 1;

/// Returns the record of a rebuild that replaces the given root.
fn anew(replaces: Option<&str>, silent_s: u64) -> PendingSnapshot {
    let rebuild = Some(Rebuild { run: RUN, replaces: replaces.map(str::to_owned) });
    PendingSnapshot { rebuild, active: false, increment: RUN, ..record(8, silent_s) }
}

/// Returns the events of a rebuild until the first unit of work.
fn building_anew(replaces: Option<&str>) -> Vec<SnapshotEvent> {
    vec![SnapshotEvent::Found(Some(anew(replaces, 0))), SnapshotEvent::Written]
}

#[test]
fn a_rebuild_is_not_dropped_as_finished() {
    let claimed = replaced(action([SnapshotEvent::Found(Some(anew(Some("old"), 0)))]));
    assert_eq!((claimed.increment, claimed.active), (RUN + 1, true));
    assert_eq!(
        claimed.rebuild,
        anew(Some("old"), 0).rebuild,
        "the record still requests the rebuild"
    );
    // A rebuild starts from a finished snapshot, so the worker does not check for completion.
    assert_eq!(action(building_anew(Some("old"))), SnapshotAction::Build { progress: vec![9] });
    let progress =
        building_anew(Some("old")).into_iter().chain([SnapshotEvent::Progress(vec![10])]);
    assert_eq!(replaced(action(progress)).rebuild, anew(Some("old"), 0).rebuild);
    let failed = building_anew(None).into_iter().chain([SnapshotEvent::Failed { temporary: true }]);
    assert_eq!(replaced(action(failed)).rebuild, anew(None, 0).rebuild);
    // Like any other work, a rebuild waits until earlier snapshots are finished.
    let earlier = PendingSnapshot { rebuild: anew(None, 0).rebuild, ..record(7, 0) };
    assert_eq!(action([SnapshotEvent::Found(Some(earlier))]), wait(u64::from(EARLIER_WAIT_S)));
    let alive = PendingSnapshot { active: true, ..anew(None, 0) };
    assert_eq!(action([SnapshotEvent::Found(Some(alive))]), wait(LEASE_S));
}

#[test]
fn a_message_of_a_finished_rebuild_is_dropped() {
    // The worker has deleted the record. The snapshot itself remains finished.
    dropped_after_deletion(&[SnapshotEvent::Found(None), segment(Some(8))]);
}

#[test]
fn a_root_is_replaced_where_the_old_one_stands_and_its_record_deleted() {
    for replaces in [Some("sheets/a/roots/old"), None] {
        let built = SnapshotEvent::Built { root: "sheets/a/roots/b".to_owned() };
        let (mut worker, mut action) = run(building_anew(replaces).into_iter().chain([built]));
        let (replaces, root) = (replaces.map(str::to_owned), "sheets/a/roots/b".to_owned());
        for (expected, event) in [
            (SnapshotAction::ReplaceRoot { replaces, root }, SnapshotEvent::Done),
            (SnapshotAction::RaiseLast, SnapshotEvent::Done),
            (SnapshotAction::Delete { run: Some(RUN) }, SnapshotEvent::Done),
            (SnapshotAction::FindNext, SnapshotEvent::Found(Some(record(9, 0)))),
            (SnapshotAction::Enqueue(at(9)), SnapshotEvent::Done),
        ] {
            assert_eq!(action, expected);
            (worker, action) = worker.step(event, NOW);
        }
        assert_eq!(action, SnapshotAction::Finish(SnapshotOutcome::Done));
    }
}

#[test]
fn a_concurrently_trimmed_entry_does_not_block_later_snapshots() {
    let built = SnapshotEvent::Built { root: String::new() };
    let gone = || building_anew(None).into_iter().chain([built.clone(), SnapshotEvent::EntryGone]);
    assert_eq!(
        action(gone()),
        SnapshotAction::Delete { run: Some(RUN) },
        "and L is not raised to it"
    );
    assert_eq!(action(gone().chain([SnapshotEvent::Done])), SnapshotAction::FindNext);
    let unreachable = SnapshotEvent::Failed { temporary: true };
    let events = building_anew(None).into_iter().chain([built.clone(), unreachable]);
    assert_eq!(action(events), failed(FAILED_WAIT_S));
}

#[test]
fn another_root_is_replaced_by_the_worker_that_holds_the_record() {
    let built = SnapshotEvent::Built { root: "new".to_owned() };
    let other = SnapshotEvent::OtherRoot { current_root: "other".to_owned() };
    let met = || building_anew(Some("old")).into_iter().chain([built.clone(), other.clone()]);
    let claimed = replaced(action(met()));
    assert_eq!((claimed.increment, claimed.active), (RUN + 2, true));
    assert_eq!(claimed.rebuild, anew(Some("other"), 0).rebuild);
    let again = action(met().chain([SnapshotEvent::Written]));
    let (replaces, root) = (Some("other".to_owned()), "new".to_owned());
    assert_eq!(again, SnapshotAction::ReplaceRoot { replaces, root });
    let done = action(met().chain([SnapshotEvent::Written, SnapshotEvent::Done]));
    assert_eq!(done, SnapshotAction::RaiseLast);
    for lost in [SnapshotEvent::Refused, SnapshotEvent::Unknown] {
        assert_eq!(
            action(met().chain([lost])),
            wait(LEASE_S),
            "it was frozen, and touches nothing"
        );
    }
}
