//! Tests of the append machine on a log in memory with scripted faults.

mod edges;
mod effect;
mod formulas;
mod imports;
mod merge;
mod model;
mod transform;

use super::*;
use crate::entry::Content;
use crate::testing::support::*;
use crate::testing::world::{Fault, World};
use cellar_base::limits::{
    CACHED_ENTRY_AGE_S, MAX_APPEND_AGE_S, MAX_ENTRY_BODY_BYTES, MAX_MUTATION_ID,
    MAX_MUTATIONS_PER_REQUEST, MAX_PUT_ATTEMPTS, MAX_READ_ATTEMPTS, MAX_TEXT_BYTES,
};
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{CellEdit, Operation, RejectionReason, SetCells, SheetId};

const INPUTS: Inputs = Inputs { now_s: 0, random: 0 };

fn positions(appended: &Appended) -> Vec<(u64, String, bool)> {
    let text = |result: &MutationResult| result.position.map(|p| p.to_string()).unwrap_or_default();
    appended.results.iter().map(|r| (r.id, text(r), r.duplicate)).collect()
}

#[test]
fn a_warm_append_is_one_put_and_no_read() {
    let mut world = World::new(3);
    let known = world.all_entries();
    let appended = world.append(request(1, 0, &[1, 2], at(0, 1)), &known[1..]).unwrap();
    assert_eq!(positions(&appended), [(1, "0.3".into(), false), (2, "0.3".into(), false)]);
    assert_eq!((world.puts.len(), world.reads.len()), (1, 0));
    assert_eq!(appended.missing, known[2..]);
    assert_eq!(appended.tail, at(0, 3));
    assert!(appended.header.segment_bytes > 0);
}

#[test]
fn a_cold_append_reads_forward_from_its_base_inclusive() {
    let mut world = World::new(4);
    world.append(request(1, 0, &[1], at(0, 2)), &[]).unwrap();
    assert_eq!(world.reads, [(at(0, 2), ReadConsistency::Eventual)]);
    assert_eq!(world.puts[0].position, at(0, 4));
}

#[test]
fn a_lost_reply_does_not_duplicate_the_edit() {
    for fault in [Fault::ReplyLost, Fault::Lost] {
        let mut world = World::new(1);
        world.faults.push_back(fault);
        let appended = world.append(request(1, 0, &[1], Position::FIRST), &[]).unwrap();
        assert_eq!(positions(&appended), [(1, "0.1".into(), false)]);
        assert_eq!(world.mutation_ids_of(1), [1]);
        assert!(world.puts.iter().all(|put| *put == world.puts[0]), "a retry puts the same entry");
    }
}

#[test]
fn a_failure_after_an_unknown_outcome_stays_unknown() {
    for lost in [Fault::ReplyLost, Fault::Lost] {
        let mut world = World::new(1);
        world.faults.extend([lost, Fault::Failed]);
        let result = world.append(request(1, 0, &[1], Position::FIRST), &[]);
        assert_eq!(result, Err(Refusal::OutcomeUnknown));
    }
}

#[test]
fn the_same_entry_by_another_process_is_a_duplicate() {
    let mut world = World::new(1);
    let mut other = World::new(1);
    // Both processes put equal entries at the same time; only one put succeeds.
    other.append(request(1, 0, &[1], Position::FIRST), &[]).unwrap();
    world.faults.push_back(Fault::LosesTo(Arc::clone(&other.puts[0])));
    let appended = world.append(request(1, 0, &[1], Position::FIRST), &[]).unwrap();
    assert_eq!(world.puts[0], other.puts[0]);
    assert_eq!(positions(&appended), [(1, "0.1".into(), true)]);
    assert_eq!(world.mutation_ids_of(1), [1]);
}

#[test]
fn a_header_counts_the_bytes_of_the_bodies() {
    let mut world = World::new(1);
    let appended = world.append(request(1, 0, &[1, 2], Position::FIRST), &[]).unwrap();
    let Content::Edits(edits) = &world.puts[0].content else { panic!() };
    let (_, body) = crate::entry::encode_edits(world.puts[0].position, &edits.mutations).unwrap();
    assert_eq!(appended.header.segment_bytes, body.len() as u64);
}

#[test]
fn a_repeated_request_finds_its_own_entry() {
    let mut world = World::new(1);
    let first = world.append(request(1, 0, &[1, 2], Position::FIRST), &[]).unwrap();
    world.add(edits_entry(at(0, 2), 2, 1));
    let again = world.append(request(1, 0, &[1, 2], Position::FIRST), &[]).unwrap();
    assert_eq!(positions(&first), [(1, "0.1".into(), false), (2, "0.1".into(), false)]);
    assert_eq!(positions(&again), [(1, "0.1".into(), true), (2, "0.1".into(), true)]);
    assert_eq!(world.mutation_ids_of(1), [1, 2]);
}

#[test]
fn a_larger_retry_appends_only_the_remaining_mutations() {
    let mut world = World::new(1);
    world.append(request(1, 0, &[1, 2], Position::FIRST), &[]).unwrap();
    let appended = world.append(request(1, 0, &[1, 2, 3], Position::FIRST), &[]).unwrap();
    let expected = [(1, "0.1".into(), true), (2, "0.1".into(), true), (3, "0.2".into(), false)];
    assert_eq!(positions(&appended), expected);
    assert_eq!(world.mutation_ids_of(1), [1, 2, 3]);
}

#[test]
fn a_stale_tail_hides_no_duplicate_because_the_put_is_refused() {
    let mut world = World::new(1);
    world.append(request(1, 0, &[1], Position::FIRST), &[]).unwrap();
    world.hidden_from = Some(at(0, 1));
    let again = world.append(request(1, 0, &[1], Position::FIRST), &[]).unwrap();
    assert_eq!(positions(&again), [(1, "0.1".into(), true)]);
    assert_eq!(world.mutation_ids_of(1), [1]);
}

#[test]
fn a_refused_put_continues_after_the_winner_without_a_read() {
    let mut world = World::new(2);
    world.faults.push_back(Fault::LosesTo(edits_entry(at(0, 2), 3, 1)));
    let known = world.all_entries();
    let appended = world.append(request(1, 0, &[1], at(0, 1)), &known[1..]).unwrap();
    assert_eq!(positions(&appended), [(1, "0.3".into(), false)]);
    assert!(world.reads.is_empty());
    assert_eq!(appended.missing.len(), 1);
}

#[test]
fn two_consecutive_losses_cause_one_read() {
    let mut world = World::new(1);
    world.faults.push_back(Fault::LosesTo(edits_entry(at(0, 1), 3, 1)));
    world.faults.push_back(Fault::LosesTo(edits_entry(at(0, 2), 3, 2)));
    let known = world.all_entries();
    let appended = world.append(request(1, 0, &[1], Position::FIRST), &known).unwrap();
    assert_eq!(positions(&appended), [(1, "0.3".into(), false)]);
    assert_eq!(world.reads, [(at(0, 3), ReadConsistency::Eventual)]);
}

#[test]
fn an_append_continues_after_an_end_segment() {
    for known in [0, 2] {
        let mut world = World::new(2);
        world.faults.push_back(Fault::LosesTo(end_entry(at(0, 2))));
        let known = world.all_entries()[..known].to_vec();
        if known.is_empty() {
            world.faults.clear();
            world.add(end_entry(at(0, 2)));
        }
        world.add(snapshot_entry(at(1, 0)));
        world.hidden_from = Some(at(1, 0));
        let appended = world.append(request(1, 0, &[1], Position::FIRST), &known).unwrap();
        assert_eq!(positions(&appended), [(1, "1.1".into(), false)]);
        assert_eq!(world.mutation_ids_of(1), [1]);
    }
}

#[test]
fn an_end_segment_without_a_next_segment_is_corruption() {
    let mut world = World::new(2);
    world.add(end_entry(at(0, 2)));
    let result = world.append(request(1, 0, &[1], Position::FIRST), &[]);
    assert_eq!(result, Err(Refusal::Corrupt { at: at(1, 0) }));
    assert!(world.puts.is_empty());
}

#[test]
fn a_gap_is_reported_only_after_a_consistent_read() {
    let mut world = World::new(5);
    world.entries.remove(&at(0, 3));
    let result = world.append(request(1, 0, &[1], Position::FIRST), &[]);
    assert_eq!(result, Err(Refusal::Corrupt { at: at(0, 3) }));
    assert!(world.puts.is_empty(), "no entry is put into a gap");
}

#[test]
fn a_base_that_is_not_visible_is_read_again_consistently() {
    let mut world = World::new(3);
    world.hidden_from = Some(at(0, 1));
    let appended = world.append(request(1, 0, &[1], at(0, 2)), &[]).unwrap();
    assert_eq!(positions(&appended), [(1, "0.3".into(), false)]);
    assert_eq!(
        world.reads,
        [(at(0, 2), ReadConsistency::Eventual), (at(0, 2), ReadConsistency::Strong)]
    );
}

#[test]
fn a_base_that_does_not_exist_is_refused() {
    for base in [at(0, 3), at(1, 0)] {
        let mut world = World::new(3);
        let result = world.append(request(1, 0, &[1], base), &[]);
        assert_eq!(result, Err(Refusal::UnknownBase { base }));
        assert!(world.puts.is_empty());
    }
}

#[test]
fn every_base_must_exist_not_only_the_lowest() {
    let mut world = World::new(3);
    let mutations = [(1, at(0, 1)), (2, at(0, 9))].map(|(id, base)| NewMutation {
        id,
        base,
        operation: set_text(0, "x".into()),
    });
    let request = Request::new(log(), client(1), None, INCARNATION, 0, mutations.into()).unwrap();
    assert_eq!(world.append(request, &[]), Err(Refusal::UnknownBase { base: at(0, 9) }));
    assert!(world.puts.is_empty());
}

#[test]
fn a_gap_in_mutation_ids_is_refused_only_after_a_consistent_read() {
    let mut world = World::new(1);
    let result = world.append(request(1, 0, &[4], Position::FIRST), &[]);
    assert_eq!(result, Err(Refusal::Gap { expected: 1, got: 4 }));
    assert_eq!(world.mutation_ids_of(1), [0; 0]);
    world.append(request(1, 0, &[1, 2, 3], Position::FIRST), &[]).unwrap();
    world.hidden_from = Some(at(0, 1));
    let appended = world.append(request(1, 0, &[4], Position::FIRST), &[]).unwrap();
    assert_eq!(positions(&appended), [(4, "0.2".into(), false)]);
}

#[test]
fn acknowledged_mutations_are_not_appended_again() {
    let mut world = World::new(3);
    let appended = world.append(request(1, 5, &[4, 5, 6], at(0, 2)), &[]).unwrap();
    let expected = [(4, String::new(), true), (5, String::new(), true), (6, "0.3".into(), false)];
    assert_eq!(positions(&appended), expected);
    assert_eq!(world.mutation_ids_of(1), [6]);
}

#[test]
fn refuses_a_client_of_another_incarnation() {
    let mut world = World::new(2);
    let mutations = vec![NewMutation { id: 1, base: at(0, 1), operation: set_text(0, "x".into()) }];
    let request = Request::new(log(), client(1), None, INCARNATION + 1, 0, mutations).unwrap();
    assert_eq!(world.append(request, &[]), Err(Refusal::IncarnationChanged));
    assert!(world.puts.is_empty());
}

#[test]
fn attempts_are_bounded() {
    let mut unknown = World::new(1);
    unknown.faults.extend((0..MAX_PUT_ATTEMPTS).map(|_| Fault::Lost));
    let result = unknown.append(request(1, 0, &[1], Position::FIRST), &[]);
    assert_eq!(result, Err(Refusal::OutcomeUnknown));
    assert_eq!(unknown.puts.len(), MAX_PUT_ATTEMPTS as usize);

    let mut lost = World::new(1);
    let winners = (1..=MAX_PUT_ATTEMPTS).map(|num| edits_entry(at(0, num), 3, u64::from(num)));
    lost.faults.extend(winners.map(Fault::LosesTo));
    let result = lost.append(request(1, 0, &[1], Position::FIRST), &[]);
    assert_eq!(result, Err(Refusal::Contention));
    assert_eq!(lost.puts.len(), MAX_PUT_ATTEMPTS as usize);

    for (failures, read) in [(MAX_READ_ATTEMPTS - 1, true), (MAX_READ_ATTEMPTS, false)] {
        let mut world = World::new(1);
        world.failing_reads = failures;
        let result = world.append(request(1, 0, &[1], Position::FIRST), &[]);
        assert_eq!(result.is_ok(), read);
    }

    let mut failed = World::new(1);
    failed.faults.push_back(Fault::Failed);
    let result = failed.append(request(1, 0, &[1], Position::FIRST), &[]);
    assert_eq!(result, Err(Refusal::Store));
}

#[test]
fn an_append_that_is_too_old_puts_no_entry() {
    let at_s = |now_s| Inputs { now_s, random: 0 };
    let known = World::new(1).all_entries();
    let begin = || Append::begin(request(1, 0, &[1], Position::FIRST), &known, at_s(1)).0;
    for (age_s, puts) in [(MAX_APPEND_AGE_S, true), (MAX_APPEND_AGE_S + 1, false)] {
        let late = at_s(1 + age_s);
        let (unknown, action) = begin().step(AppendEvent::PutUnknown, late);
        assert!(matches!(action, AppendAction::Wait { .. }));
        let (_, action) = unknown.step(AppendEvent::Waited, late);
        let refused = AppendAction::Finish(Err(Refusal::OutcomeUnknown));
        assert_eq!((matches!(action, AppendAction::Put { .. }), action == refused), (puts, !puts));

        let winner = edits_entry(at(0, 1), 2, 1);
        let (_, action) = begin().step(AppendEvent::PutRefused { winner }, late);
        let refused = AppendAction::Finish(Err(Refusal::Contention));
        assert_eq!((matches!(action, AppendAction::Put { .. }), action == refused), (puts, !puts));
    }
}

#[test]
fn an_append_does_not_follow_cached_entries_that_are_too_old() {
    let known = World::new(2).all_entries();
    assert_eq!(known[1].created_s, 0);
    for (age_s, is_put) in [(CACHED_ENTRY_AGE_S - 1, true), (CACHED_ENTRY_AGE_S, false)] {
        let inputs = Inputs { now_s: age_s, random: 0 };
        let (_, action) = Append::begin(request(1, 0, &[1], Position::FIRST), &known, inputs);
        let (from, consistency) = (Position::FIRST, ReadConsistency::Eventual);
        assert_eq!(action == AppendAction::Read { from, consistency }, !is_put, "{age_s} s");
        assert_eq!(matches!(action, AppendAction::Put { .. }), is_put, "{age_s} s");
    }
}

/// Returns an append that has found neither its base nor a later entry, and therefore checks
/// whether the segment was trimmed. `failures` reads have failed before.
fn append_checking_trim(failures: u32) -> Append {
    let mut append = Append::begin(request(1, 0, &[1], at(0, 1)), &[], INPUTS).0;
    for _ in 0..failures {
        append = append.step(AppendEvent::ReadFailed { temporary: true }, INPUTS).0;
        append = append.step(AppendEvent::Waited, INPUTS).0;
    }
    append = append.step(AppendEvent::Page { entries: vec![], has_more: false }, INPUTS).0;
    let (append, action) =
        append.step(AppendEvent::Page { entries: vec![], has_more: false }, INPUTS);
    assert_eq!(action, AppendAction::Read { from: at(0, 0), consistency: ReadConsistency::Strong });
    append
}

fn trimmed_page() -> AppendEvent {
    let content = Content::Snapshot { root: None, trimmed_s: Some(1) };
    let first = Entry { content, ..Entry::clone(&snapshot_entry(at(0, 0))) };
    AppendEvent::Page { entries: vec![Arc::new(first)], has_more: false }
}

#[test]
fn failed_reads_of_all_kinds_are_counted_together() {
    let failed = AppendEvent::ReadFailed { temporary: true };
    let give_up = AppendAction::Finish(Err(Refusal::Store));
    let (_, action) = append_checking_trim(MAX_READ_ATTEMPTS - 1).step(failed.clone(), INPUTS);
    assert_eq!(action, give_up);
    let (append, action) = append_checking_trim(MAX_READ_ATTEMPTS - 2).step(failed.clone(), INPUTS);
    assert_eq!(action, AppendAction::Read { from: at(0, 0), consistency: ReadConsistency::Strong });
    let (append, action) = append.step(trimmed_page(), INPUTS);
    assert_eq!(action, AppendAction::FindNewestSegment);
    assert_eq!(append.step(failed.clone(), INPUTS).1, give_up);
    let append = append_checking_trim(0).step(trimmed_page(), INPUTS).0;
    assert_eq!(append.step(failed, INPUTS).1, AppendAction::FindNewestSegment);
}

#[test]
fn waits_until_the_newest_segment_is_visible() {
    let nothing = || AppendEvent::Page { entries: vec![], has_more: false };
    let found = append_checking_trim(0).step(trimmed_page(), INPUTS).0;
    let (mut append, mut action) = found.step(AppendEvent::NewestSegment(Some(1)), INPUTS);
    for _ in 0..MAX_READ_ATTEMPTS {
        assert_eq!(
            action,
            AppendAction::Read { from: at(1, 0), consistency: ReadConsistency::Strong }
        );
        let entries = vec![snapshot_entry(at(1, 0))];
        let seen = append.clone().step(AppendEvent::Page { entries, has_more: false }, INPUTS);
        assert!(matches!(seen.1, AppendAction::Put { .. }));
        append = append.step(nothing(), INPUTS).0;
        (append, action) = append.step(AppendEvent::Waited, INPUTS);
    }
    let corrupt = AppendAction::Finish(Err(Refusal::Corrupt { at: at(1, 0) }));
    assert_eq!(append.step(nothing(), INPUTS).1, corrupt);
}

#[test]
fn mutations_that_do_not_fit_one_entry_are_put_in_several() {
    let mut world = World::new(1);
    let mutations = (1..=12).map(|id| NewMutation {
        id,
        base: Position::FIRST,
        operation: set_text(0, "x".repeat(MAX_TEXT_BYTES)),
    });
    let request =
        Request::new(log(), client(1), None, INCARNATION, 0, mutations.collect()).unwrap();
    let appended = world.append(request, &[]).unwrap();
    assert_eq!(world.mutation_ids_of(1), (1..=12).collect::<Vec<_>>());
    assert_eq!(appended.tail, at(0, 3));
    for put in &world.puts {
        let Content::Edits(edits) = &put.content else { panic!("{put:?}") };
        let (_, body) = crate::entry::encode_edits(put.position, &edits.mutations).unwrap();
        assert!(body.len() <= MAX_ENTRY_BODY_BYTES);
    }
}

#[test]
fn limits_a_mutation_to_the_size_of_an_entry() {
    let request = |last_bytes: usize| {
        let texts = [MAX_TEXT_BYTES, MAX_TEXT_BYTES, MAX_TEXT_BYTES, MAX_TEXT_BYTES, last_bytes];
        let edits = (0..).zip(texts).map(|(row, bytes)| CellEdit {
            row,
            column: 0,
            value: Some(Value::Text("x".repeat(bytes))),
            formula: None,
            format: None,
        });
        let set = SetCells { sheet: SheetId::FIRST, cells: edits.collect() };
        let operation = Operation::SetCells(set);
        let mutations = vec![NewMutation { id: 1, base: Position::FIRST, operation }];
        Request::new(log(), client(1), None, INCARNATION, 0, mutations)
    };
    let outcome = |last_bytes| {
        let mut world = World::new(1);
        let appended = world.append(request(last_bytes).unwrap(), &[]).unwrap();
        assert_eq!(world.mutation_ids_of(1), [1], "a rejected mutation keeps its id");
        (appended.results[0].rejection.clone(), world)
    };
    let (rejection, _) = outcome(MAX_TEXT_BYTES);
    let rejection = rejection.expect("the mutation must not fit");
    assert_eq!(rejection.reason, RejectionReason::TooLarge);
    let mut words = rejection.detail.split(' ');
    let bytes: usize = words.find_map(|word| word.parse().ok()).unwrap();
    let excess = bytes + 5 - MAX_ENTRY_BODY_BYTES;
    assert_eq!(outcome(MAX_TEXT_BYTES - excess + 1).0.unwrap().reason, RejectionReason::TooLarge);
    let (rejection, world) = outcome(MAX_TEXT_BYTES - excess);
    assert_eq!(rejection, None);
    let item = crate::records::entry::encode(&world.puts[0]).unwrap();
    assert!(cellar_base::record::item_bytes(&item) < 400 * 1024, "DynamoDB would refuse it");
}

#[test]
fn rejects_invalid_requests() {
    let make = |ids: &[u64]| {
        let operation = set_text(0, "x".into());
        let mutations = ids.iter().map(|id| NewMutation {
            id: *id,
            base: Position::FIRST,
            operation: operation.clone(),
        });
        Request::new(log(), client(1), None, INCARNATION, 0, mutations.collect())
    };
    assert_eq!(make(&[]), Err(InvalidRequest::NoMutations));
    assert_eq!(make(&[0]), Err(InvalidRequest::IdsNotConsecutive { before: 0, id: 0 }));
    assert_eq!(make(&[1, 3]), Err(InvalidRequest::IdsNotConsecutive { before: 1, id: 3 }));
    assert_eq!(make(&[2, 2]), Err(InvalidRequest::IdsNotConsecutive { before: 2, id: 2 }));
    assert!(make(&[MAX_MUTATION_ID]).is_ok());
    let id = MAX_MUTATION_ID + 1;
    assert_eq!(make(&[id]), Err(InvalidRequest::IdTooLarge { id }));
    let acknowledging = |ack| {
        let operation = set_text(0, "x".into());
        let mutations = vec![NewMutation { id: 1, base: Position::FIRST, operation }];
        Request::new(log(), client(1), None, INCARNATION, ack, mutations)
    };
    assert!(acknowledging(MAX_MUTATION_ID).is_ok());
    assert!(acknowledging(MAX_MUTATION_ID + 1).is_err());
    let many: Vec<u64> = (1..=MAX_MUTATIONS_PER_REQUEST as u64).collect();
    assert!(make(&many).is_ok());
    let more: Vec<u64> = (1..=MAX_MUTATIONS_PER_REQUEST as u64 + 1).collect();
    assert!(matches!(make(&more), Err(InvalidRequest::TooManyMutations { .. })));
}

#[test]
fn an_unexpected_event_ends_the_append() {
    let inputs = Inputs { now_s: 0, random: 0 };
    let (append, action) = Append::begin(request(1, 0, &[1], Position::FIRST), &[], inputs);
    assert!(matches!(action, AppendAction::Read { .. }));
    let (finished, action) = append.step(AppendEvent::PutAccepted, inputs);
    assert_unexpected(&action, "Reading", "PutAccepted");
    // Also a failed read is no store failure if nothing was read.
    let failed = AppendEvent::ReadFailed { temporary: true };
    assert_unexpected(&finished.clone().step(failed.clone(), inputs).1, "Finished", "ReadFailed");
    assert_unexpected(&finished.step(AppendEvent::Waited, inputs).1, "Finished", "Waited");
    let known = World::new(1).all_entries();
    let putting = || Append::begin(request(1, 0, &[1], Position::FIRST), &known, inputs).0;
    assert_unexpected(&putting().step(failed, inputs).1, "Putting", "ReadFailed");
    let elsewhere = AppendEvent::PutRefused { winner: edits_entry(at(0, 7), 2, 1) };
    assert_unexpected(&putting().step(elsewhere, inputs).1, "Putting", "PutRefused");
}

#[track_caller]
fn assert_unexpected(action: &AppendAction, phase: &str, event: &str) {
    let AppendAction::Finish(Err(refusal @ Refusal::Unexpected(fault))) = action else {
        panic!("{action:?}")
    };
    assert_eq!((fault.phase, fault.event), (phase, event));
    let text = refusal.to_string();
    assert!(text.contains("bug in Cellar") && text.contains("append to a log"), "{text}");
}
