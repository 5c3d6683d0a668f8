//! The decision table, row by row.

use super::*;
use cellar_base::identity::LogId;
use cellar_base::limits::{
    ABANDONED_S, BROKEN_WAIT_S, EARLIER_WAIT_S, FAILED_WAIT_S, HAND_OVER_MS, LEASE_S,
    MAX_CHECKPOINT_BYTES,
};

const NOW_S: u64 = 1_795_246_133;
const NOW: Inputs = Inputs { now_ms: NOW_S * 1_000 };
const DEADLINE_MS: u64 = NOW.now_ms + 300_000;

fn at(num: u32) -> Position {
    Position::new(3, num).unwrap()
}

fn job(num: u32) -> SnapshotJob {
    SnapshotJob { log: LogId::from_uuid(uuid::Uuid::from_bytes([7; 16])), position: at(num) }
}

/// A record of a worker that was last heard of so many seconds ago.
fn record(num: u32, silent_s: u64) -> PendingSnapshot {
    PendingSnapshot {
        job: job(num),
        created_s: NOW_S - 10_000,
        modified_s: NOW_S - silent_s,
        active: true,
        increment: 5,
        checkpoint: vec![9],
        rebuild: None,
    }
}

fn segment(last_snapshot: Option<u32>) -> Event {
    let log = job(0).log;
    Event::Segment(Some(Segment {
        log,
        num: 3,
        created_s: 0,
        last_snapshot,
        offloaded: None,
        lineage: None,
    }))
}

/// Takes events one after the other; gives the last action.
#[track_caller]
fn run(events: impl IntoIterator<Item = Event>) -> (Worker, Action) {
    let (mut worker, mut action) = Worker::begin(job(8), DEADLINE_MS);
    assert_eq!(action, Action::FindFirst);
    for event in events {
        assert!(!matches!(action, Action::Finish(_)), "{action:?} before {event:?}");
        (worker, action) = worker.step(event, NOW);
    }
    (worker, action)
}

fn action(events: impl IntoIterator<Item = Event>) -> Action {
    run(events).1
}

fn wait(wait_s: u64) -> Action {
    Action::Finish(Outcome::Wait { wait_s: u32::try_from(wait_s).unwrap() })
}

fn failed(wait_s: u32) -> Action {
    Action::Finish(Outcome::Failed { wait_s })
}

/// The events up to the first piece of work on a record that is claimed.
fn building() -> Vec<Event> {
    let first = Event::Found(Some(record(8, LEASE_S)));
    vec![first, Event::Written, segment(Some(7))]
}

fn after_building(event: Event) -> Action {
    action(building().into_iter().chain([event]))
}

#[track_caller]
fn replaced(action: Action) -> PendingSnapshot {
    let Action::Replace { record, increment } = action else { panic!("{action:?}") };
    assert_eq!(increment, Some(record.increment - 1));
    assert_eq!((record.job, record.created_s), (job(8), NOW_S - 10_000));
    assert_eq!(record.modified_s, NOW_S);
    record
}

#[test]
fn an_earlier_pending_snapshot_is_waited_for_and_woken_when_nobody_touches_it() {
    for (silent_s, active) in [(0, true), (ABANDONED_S - 1, true), (ABANDONED_S - 1, false)] {
        let earlier = PendingSnapshot { active, ..record(7, silent_s) };
        assert_eq!(action([Event::Found(Some(earlier))]), wait(u64::from(EARLIER_WAIT_S)));
    }
    let abandoned = || Event::Found(Some(record(7, ABANDONED_S)));
    assert_eq!(action([abandoned()]), Action::Enqueue(at(7)));
    assert_eq!(action([abandoned(), Event::Done]), wait(u64::from(EARLIER_WAIT_S)));
    let unsent = Event::Failed { temporary: true };
    assert_eq!(action([abandoned(), unsent]), failed(FAILED_WAIT_S));
}

#[test]
fn the_own_record_is_claimed_when_it_is_free_or_its_worker_is_silent() {
    for (silent_s, active) in [(LEASE_S, true), (LEASE_S + 1, true), (0, false)] {
        let own = PendingSnapshot { active, ..record(8, silent_s) };
        let claimed = replaced(action([Event::Found(Some(own))]));
        assert_eq!((claimed.increment, claimed.active), (6, true));
        assert_eq!(claimed.checkpoint, [9], "it goes on where the other was");
    }
    assert_eq!(action([Event::Found(Some(record(8, 0)))]), wait(LEASE_S));
    assert_eq!(action([Event::Found(Some(record(8, LEASE_S - 1)))]), wait(1));
    // A clock that is wrong by a little is believed, by more it is no sign of life.
    let future = |s| PendingSnapshot { modified_s: NOW_S + s, ..record(8, 0) };
    assert_eq!(action([Event::Found(Some(future(10)))]), wait(LEASE_S - 10));
    replaced(action([Event::Found(Some(future(LEASE_S)))]));
}

#[test]
fn without_a_record_a_finished_snapshot_is_dropped_and_another_is_begun() {
    let none = || Event::Found(None);
    assert_eq!(action([none()]), Action::ReadSegment { consistent: false });
    for finished in [8, 9] {
        let dropped = Action::Finish(Outcome::Drop);
        assert_eq!(action([none(), segment(Some(finished))]), dropped);
    }
    for unfinished in [segment(None), segment(Some(7)), Event::Segment(None)] {
        let Action::Create(own) = action([none(), unfinished.clone()]) else { panic!() };
        assert_eq!((own.increment, own.active, own.modified_s), (1, true, NOW_S));
        assert_eq!(own.checkpoint, [0; 0]);
        let look_up = Action::ReadSegment { consistent: true };
        assert_eq!(action([none(), unfinished, Event::Written]), look_up);
    }
}

#[test]
fn who_loses_waits_and_deletes_nothing() {
    for lost in [Event::Refused, Event::Unknown] {
        assert_eq!(action([Event::Found(None), segment(None), lost.clone()]), wait(LEASE_S));
        let stale = Event::Found(Some(record(8, LEASE_S)));
        assert_eq!(action([stale, lost.clone()]), wait(LEASE_S));
        let checkpoint = Event::Checkpoint(vec![10]);
        let events = building().into_iter().chain([checkpoint, lost.clone()]);
        assert_eq!(action(events), wait(LEASE_S));
        let events = building().into_iter().chain([Event::EarlierSnapshot(at(7)), lost]);
        assert_eq!(action(events), wait(LEASE_S));
    }
}

#[test]
fn what_turns_out_to_be_finished_is_not_made_again() {
    let claimed = [Event::Found(Some(record(8, LEASE_S))), Event::Written];
    let created = [Event::Found(None), segment(Some(7)), Event::Written];
    for begun in [claimed.to_vec(), created.to_vec()] {
        let done = || begun.iter().cloned().chain([segment(Some(8))]);
        assert_eq!(action(done()), Action::Delete { run: None });
        assert_eq!(action(done().chain([Event::Done])), Action::FindNext);
        let last = done().chain([Event::Done, Event::Found(None)]);
        assert_eq!(action(last), Action::Finish(Outcome::Drop));
    }
}

#[test]
fn a_log_without_the_segment_is_given_back_as_broken() {
    let nowhere = [Event::Found(None), Event::Segment(None), Event::Written, Event::Segment(None)];
    let Action::Replace { record, increment: Some(1) } = action(nowhere.clone()) else { panic!() };
    assert!(!record.active);
    assert_eq!(action(nowhere.into_iter().chain([Event::Written])), failed(BROKEN_WAIT_S));
}

#[test]
fn each_checkpoint_is_written_before_the_work_goes_on() {
    assert_eq!(action(building()), Action::Build { checkpoint: vec![9] });
    let (worker, written) = run(building().into_iter().chain([Event::Checkpoint(vec![10])]));
    let first = replaced(written);
    assert_eq!((first.increment, first.active, first.checkpoint), (7, true, vec![10]));
    let (worker, next) = worker.step(Event::Written, NOW);
    assert_eq!(next, Action::Build { checkpoint: vec![10] });
    let (_, written) = worker.step(Event::Checkpoint(vec![11]), NOW);
    assert_eq!(replaced(written).increment, 8);
}

#[test]
fn a_checkpoint_ends_at_its_limit_and_moves() {
    let longest = after_building(Event::Checkpoint(vec![0; MAX_CHECKPOINT_BYTES]));
    assert!(replaced(longest).active);
    for bad in [vec![0; MAX_CHECKPOINT_BYTES + 1], vec![9]] {
        let given_up = building().into_iter().chain([Event::Checkpoint(bad)]);
        let released = replaced(action(given_up.clone()));
        assert_eq!((released.active, released.checkpoint), (false, vec![9]));
        assert_eq!(action(given_up.chain([Event::Written])), failed(BROKEN_WAIT_S));
    }
}

#[test]
fn an_earlier_snapshot_is_sent_for_and_waited_for() {
    let found = || building().into_iter().chain([Event::EarlierSnapshot(at(7))]);
    let released = replaced(action(found()));
    assert_eq!((released.active, released.checkpoint), (false, vec![9]));
    assert_eq!(action(found().chain([Event::Written])), Action::Enqueue(at(7)));
    let waits = action(found().chain([Event::Written, Event::Done]));
    assert_eq!(waits, wait(u64::from(EARLIER_WAIT_S)));
    // One that is not earlier is nonsense.
    let nonsense = building().into_iter().chain([Event::EarlierSnapshot(at(8)), Event::Written]);
    assert_eq!(action(nonsense), failed(BROKEN_WAIT_S));
}

#[test]
fn a_builder_that_fails_gives_the_record_back() {
    for (temporary, wait_s) in [(true, FAILED_WAIT_S), (false, BROKEN_WAIT_S)] {
        let events = || building().into_iter().chain([Event::Failed { temporary }]);
        assert!(!replaced(action(events())).active);
        assert_eq!(action(events().chain([Event::Written])), failed(wait_s));
    }
}

/// The action at a checkpoint that comes `took_ms` after its work was begun, so long before the end.
fn near_the_end(took_ms: u64, left_ms: u64) -> (Worker, PendingSnapshot) {
    let now_ms = DEADLINE_MS - left_ms;
    let [first, claimed, unfinished] = building().try_into().unwrap();
    let (worker, _) = run([first, claimed]);
    let (worker, _) = worker.step(unfinished, Inputs { now_ms: now_ms - took_ms });
    let (worker, action) = worker.step(Event::Checkpoint(vec![10]), Inputs { now_ms });
    let Action::Replace { record, increment: Some(6) } = action else { panic!("{action:?}") };
    (worker, record)
}

#[test]
fn near_the_end_of_the_function_the_work_is_handed_over() {
    let long_ms = HAND_OVER_MS;
    for (took_ms, left_ms, goes_on) in [
        (1, HAND_OVER_MS + 1, true),
        (1, HAND_OVER_MS, false),
        // Two checkpoint times are more than the least reserve here.
        (long_ms, 2 * long_ms + 1, true),
        (long_ms, 2 * long_ms, false),
    ] {
        let (worker, record) = near_the_end(took_ms, left_ms);
        assert_eq!((record.active, record.checkpoint), (goes_on, vec![10]), "{took_ms} {left_ms}");
        let (_, action) = worker.step(Event::Written, NOW);
        let hands_over = action == Action::Finish(Outcome::HandOver);
        assert_eq!(hands_over, !goes_on);
    }
    let (worker, _) = near_the_end(1, HAND_OVER_MS);
    let unknown = worker.clone().step(Event::Unknown, NOW).1;
    assert_eq!(unknown, Action::Finish(Outcome::HandOver));
    assert_eq!(worker.step(Event::Refused, NOW).1, wait(LEASE_S));
}

#[test]
fn the_last_steps_come_in_their_order() {
    let built = Event::Built { root: "sheets/a/roots/b".to_owned() };
    let (mut worker, mut action) = run(building().into_iter().chain([built]));
    let next = Event::Found(Some(record(9, 0)));
    for (expected, event) in [
        (Action::SetRoot { root: "sheets/a/roots/b".to_owned() }, Event::Done),
        (Action::RaiseLast, Event::Done),
        (Action::Delete { run: None }, Event::Done),
        (Action::FindNext, next),
        (Action::Enqueue(at(9)), Event::Done),
    ] {
        assert_eq!(action, expected);
        (worker, action) = worker.step(event, NOW);
    }
    assert_eq!(action, Action::Finish(Outcome::Done));
}

#[test]
fn a_last_step_that_fails_is_done_again_but_for_waking_the_next() {
    let built = || building().into_iter().chain([Event::Built { root: String::new() }]);
    let unreachable = Event::Failed { temporary: true };
    for done in 0..3 {
        let events = built().chain(vec![Event::Done; done]).chain([unreachable.clone()]);
        assert_eq!(action(events), failed(FAILED_WAIT_S), "{done}");
    }
    let all = built().chain(vec![Event::Done; 3]).chain([unreachable]);
    assert_eq!(action(all), Action::Finish(Outcome::Done));
}

#[test]
fn a_store_that_fails_is_tried_again_later() {
    let broken = |temporary| Event::Failed { temporary };
    for (temporary, wait_s) in [(true, FAILED_WAIT_S), (false, BROKEN_WAIT_S)] {
        assert_eq!(action([broken(temporary)]), failed(wait_s));
        assert_eq!(action([Event::Found(None), broken(temporary)]), failed(wait_s));
        let claim = [Event::Found(Some(record(8, LEASE_S))), broken(temporary)];
        assert_eq!(action(claim.clone()), failed(wait_s));
        let look_up = [claim[0].clone(), Event::Written, broken(temporary)];
        assert_eq!(action(look_up), failed(wait_s));
    }
    assert_eq!(action([Event::Done]), failed(BROKEN_WAIT_S), "what does not answer ends it");
}

const RUN: u64 = NOW.now_ms - 1;

/// A record that makes anew what has this root.
fn anew(replaces: Option<&str>, silent_s: u64) -> PendingSnapshot {
    let rebuild = Some(Rebuild { run: RUN, replaces: replaces.map(str::to_owned) });
    PendingSnapshot { rebuild, active: false, increment: RUN, ..record(8, silent_s) }
}

/// The events up to the first piece of work on it.
fn building_anew(replaces: Option<&str>) -> Vec<Event> {
    vec![Event::Found(Some(anew(replaces, 0))), Event::Written]
}

#[test]
fn what_is_to_be_made_anew_is_not_taken_for_finished() {
    let claimed = replaced(action([Event::Found(Some(anew(Some("old"), 0)))]));
    assert_eq!((claimed.increment, claimed.active), (RUN + 1, true));
    assert_eq!(claimed.rebuild, anew(Some("old"), 0).rebuild, "whoever takes over knows, too");
    // Nobody looks whether it is finished: it is.
    assert_eq!(action(building_anew(Some("old"))), Action::Build { checkpoint: vec![9] });
    let checkpoint = building_anew(Some("old")).into_iter().chain([Event::Checkpoint(vec![10])]);
    assert_eq!(replaced(action(checkpoint)).rebuild, anew(Some("old"), 0).rebuild);
    let failed = building_anew(None).into_iter().chain([Event::Failed { temporary: true }]);
    assert_eq!(replaced(action(failed)).rebuild, anew(None, 0).rebuild);
    // It keeps its turn, like any other.
    let earlier = PendingSnapshot { rebuild: anew(None, 0).rebuild, ..record(7, 0) };
    assert_eq!(action([Event::Found(Some(earlier))]), wait(u64::from(EARLIER_WAIT_S)));
    let alive = PendingSnapshot { active: true, ..anew(None, 0) };
    assert_eq!(action([Event::Found(Some(alive))]), wait(LEASE_S));
}

#[test]
fn a_message_of_what_was_made_anew_is_dropped() {
    // Its record is gone, and the snapshot is finished as it was before.
    let dropped = Action::Finish(Outcome::Drop);
    assert_eq!(action([Event::Found(None), segment(Some(8))]), dropped);
}

#[test]
fn a_root_is_replaced_where_the_old_one_stands_and_its_record_deleted() {
    for replaces in [Some("sheets/a/roots/old"), None] {
        let built = Event::Built { root: "sheets/a/roots/b".to_owned() };
        let (mut worker, mut action) = run(building_anew(replaces).into_iter().chain([built]));
        let (replaces, root) = (replaces.map(str::to_owned), "sheets/a/roots/b".to_owned());
        for (expected, event) in [
            (Action::ReplaceRoot { replaces, root }, Event::Done),
            (Action::RaiseLast, Event::Done),
            (Action::Delete { run: Some(RUN) }, Event::Done),
            (Action::FindNext, Event::Found(Some(record(9, 0)))),
            (Action::Enqueue(at(9)), Event::Done),
        ] {
            assert_eq!(action, expected);
            (worker, action) = worker.step(event, NOW);
        }
        assert_eq!(action, Action::Finish(Outcome::Done));
    }
}

#[test]
fn a_root_whose_entry_was_trimmed_meanwhile_holds_nobody_up() {
    let built = Event::Built { root: String::new() };
    let gone = || building_anew(None).into_iter().chain([built.clone(), Event::EntryGone]);
    assert_eq!(action(gone()), Action::Delete { run: Some(RUN) }, "and L is not raised to it");
    assert_eq!(action(gone().chain([Event::Done])), Action::FindNext);
    let unreachable = Event::Failed { temporary: true };
    let events = building_anew(None).into_iter().chain([built.clone(), unreachable]);
    assert_eq!(action(events), failed(FAILED_WAIT_S));
    // Of a root that was never there it would be nonsense.
    let ordinary = building().into_iter().chain([built.clone(), Event::EntryGone]);
    assert_eq!(action(ordinary), failed(BROKEN_WAIT_S));
}

#[test]
fn another_root_is_replaced_by_who_still_has_the_record() {
    let built = Event::Built { root: "new".to_owned() };
    let other = Event::OtherRoot { stands: "other".to_owned() };
    let met = || building_anew(Some("old")).into_iter().chain([built.clone(), other.clone()]);
    let claimed = replaced(action(met()));
    assert_eq!((claimed.increment, claimed.active), (RUN + 2, true));
    assert_eq!(claimed.rebuild, anew(Some("other"), 0).rebuild);
    let again = action(met().chain([Event::Written]));
    let (replaces, root) = (Some("other".to_owned()), "new".to_owned());
    assert_eq!(again, Action::ReplaceRoot { replaces, root });
    let done = action(met().chain([Event::Written, Event::Done]));
    assert_eq!(done, Action::RaiseLast);
    for lost in [Event::Refused, Event::Unknown] {
        assert_eq!(
            action(met().chain([lost])),
            wait(LEASE_S),
            "it was frozen, and touches nothing"
        );
    }
}
