//! Tests of the push state machine with an in-memory log.

use super::*;
use cellar_base::identity::{ClientKey, ClientName, SubjectKey};
use cellar_base::position::Position;
use cellar_log::append::{Appended, MutationResult, NewMutation};
use cellar_log::testing::support::{INCARNATION, at, edits_entry, log, set_text};
use cellar_log::testing::world::World;
use cellar_sheet::operation::{Operation, Rejection, RejectionReason, Undo};

fn name() -> ClientName {
    ClientName::new("group", "client").unwrap()
}

fn key() -> ClientKey {
    name().key(&SubjectKey::new("issuer", "alice"))
}

/// An in-memory log that initially contains three entries from other clients. It counts the
/// lookups.
struct Cloud {
    world: World,
    look_ups: u32,
    /// Whether lookups report that the client is unknown.
    forgets: bool,
}

impl Cloud {
    fn new() -> Self {
        Self { world: World::new(3), look_ups: 0, forgets: false }
    }

    /// Appends an entry from another client and returns its position.
    fn others_edit(&mut self) -> Position {
        let last = self.world.entries.values().next_back().unwrap();
        let next = last.next_position().unwrap();
        self.world.add(edits_entry(next, 2, u64::from(next.entry_number())));
        next
    }

    fn look_up(&mut self) -> LookedUp {
        self.look_ups += 1;
        let own = |entry: &cellar_log::entry::Entry| {
            entry.mutation_ids().filter(|(client, ..)| *client == key()).map(|(_, _, last)| last)
        };
        let last_id = self.world.entries.values().filter_map(|entry| own(entry)).max();
        let head = self.world.entries.values().next_back().unwrap();
        let (head, incarnation) = (head.position, head.header.incarnation);
        LookedUp { last_id: last_id.filter(|_| !self.forgets), head, incarnation }
    }

    fn push(&mut self, known: u64, run: Run) -> PushOutcome {
        self.try_push(known, run).unwrap()
    }

    fn try_push(&mut self, known: u64, run: Run) -> Option<PushOutcome> {
        let (rules, author) = (PushRules::default(), Some("alice".to_owned()));
        let (mut push, mut action) =
            RunPush::begin(log(), (key(), name()), author, known, run, rules);
        loop {
            let event = match action {
                PushAction::Append(request) => {
                    let known = self.world.entries_from(request.lowest_base());
                    PushEvent::from_append_result(self.world.append(request, &known)).unwrap()
                }
                PushAction::LookUp => PushEvent::LookedUp(self.look_up()),
                PushAction::GiveUp => return None,
                PushAction::Finish(outcome) => return Some(outcome),
            };
            (push, action) = push.step(event);
        }
    }

    /// Returns the client's mutations in the log: their ids and reasons for rejection.
    fn ids(&self) -> Vec<(u64, Option<RejectionReason>)> {
        let edits = self.world.entries.values().filter_map(|entry| entry.edits());
        let own = edits.filter(|edits| edits.client == key());
        own.flat_map(|edits| {
            assert_eq!(edits.name, Some(name()));
            let reason =
                |mutation: &cellar_log::entry::Mutation| mutation.rejection().map(|r| r.reason);
            (edits.first_id..).zip(edits.mutations.iter().map(reason))
        })
        .collect()
    }
}

fn edits(ids: &[u64], base: Position) -> Run {
    based(&ids.iter().map(|id| (*id, base)).collect::<Vec<_>>(), INCARNATION)
}

fn based(mutations: &[(u64, Position)], incarnation: u32) -> Run {
    let new = |(id, base): &(u64, Position)| NewMutation {
        id: *id,
        base: *base,
        operation: set_text(0, format!("m{id}")),
    };
    Run::Edits { client: 0, incarnation, mutations: mutations.iter().map(new).collect() }
}

fn nothing(id: u64) -> Run {
    let rejection = Rejection::new(RejectionReason::Invalid, "no arguments");
    Run::Invalid { client: 0, id, rejection }
}

fn ok(ids: &[u64]) -> Vec<(u64, Option<RejectionReason>)> {
    ids.iter().map(|id| (*id, None)).collect()
}

#[test]
fn a_repeated_push_appends_once_and_known_ids_need_no_lookup() {
    let mut cloud = Cloud::new();
    let first = cloud.push(0, edits(&[1, 2], at(0, 2)));
    assert_eq!((first.last_id, first.results.len(), cloud.look_ups), (2, 2, 0));
    for known in [0, 1, 2] {
        let again = cloud.push(known, edits(&[1, 2], at(0, 2)));
        assert_eq!((again.last_id, again.gap, again.unknown_client), (2, None, false));
        assert!(again.results.iter().all(|result| result.duplicate));
    }
    // The base is later than the committed mutation. A scan of the entries after the base does not
    // find the mutation, but the process has cached its id.
    let head = cloud.others_edit();
    assert_eq!(cloud.push(2, edits(&[3], head)).last_id, 3);
    assert_eq!((cloud.ids(), cloud.look_ups), (ok(&[1, 2, 3]), 0));
}

#[test]
fn a_gap_is_reported_only_after_a_lookup() {
    let mut cloud = Cloud::new();
    cloud.push(0, edits(&[1], at(0, 2)));
    let head = cloud.others_edit();
    assert_eq!(cloud.push(0, edits(&[2], head)).last_id, 2);
    assert_eq!((cloud.ids(), cloud.look_ups), (ok(&[1, 2]), 1));
    let gap = cloud.push(0, edits(&[4, 5], head));
    assert_eq!((gap.gap, gap.unknown_client, gap.results.len()), (Some(3), false, 0));
    assert_eq!(cloud.ids(), ok(&[1, 2]));
}

#[test]
fn a_forgotten_client_is_unknown_unless_its_ids_start_at_1() {
    let mut cloud = Cloud::new();
    cloud.push(0, edits(&[1], at(0, 2)));
    cloud.forgets = true;
    let head = cloud.others_edit();
    let lost = cloud.push(0, edits(&[2], head));
    assert!(lost.unknown_client && lost.results.is_empty());
    let unknown = Cloud::new().push(0, edits(&[7], at(0, 2)));
    assert!(unknown.unknown_client);
    assert!(Cloud::new().push(0, nothing(2)).unknown_client);
}

#[test]
fn an_invalid_mutation_is_rejected_once_and_uses_its_id() {
    let mut cloud = Cloud::new();
    let rejected = cloud.push(0, nothing(1));
    assert_eq!(rejected.results[0].rejection.as_ref().unwrap().detail, "no arguments");
    for _ in 0..2 {
        let again = cloud.push(0, nothing(1));
        assert!(again.results[0].duplicate);
    }
    cloud.push(0, edits(&[2], at(0, 2)));
    assert_eq!(cloud.ids(), [(1, Some(RejectionReason::Invalid)), (2, None)]);
}

#[test]
fn a_missing_base_rejects_only_mutations_with_this_base() {
    let mut cloud = Cloud::new();
    let (good, bad) = (at(0, 2), at(7, 7));
    let outcome = cloud.push(0, based(&[(1, good), (2, bad), (3, bad), (4, good)], INCARNATION));
    assert_eq!((outcome.last_id, outcome.results.len()), (4, 4));
    let gone = Some(RejectionReason::BaseGone);
    assert_eq!(cloud.ids(), [(1, None), (2, gone), (3, gone), (4, None)]);
    // The push is retried by a process that has cached no mutation ids.
    let again = cloud.push(0, based(&[(1, good), (2, bad), (3, bad), (4, good)], INCARNATION));
    assert!(again.results.iter().all(|result| result.duplicate));
    assert_eq!(cloud.ids().len(), 4);
}

#[test]
fn committed_mutations_are_not_rejected_after_a_restore() {
    let mut cloud = Cloud::new();
    cloud.push(0, edits(&[1], at(0, 2)));
    let outcome = cloud.push(0, based(&[(1, at(0, 2)), (2, at(0, 2))], INCARNATION + 1));
    assert!(outcome.results[0].duplicate && outcome.results[0].rejection.is_none());
    assert_eq!(cloud.ids(), [(1, None), (2, Some(RejectionReason::BaseGone))]);
}

#[test]
fn appends_an_undo() {
    let mut cloud = Cloud::new();
    let operation = Operation::Undo(Undo { position: at(0, 1) });
    let mutations = vec![NewMutation { id: 1, base: at(0, 2), operation }];
    let outcome = cloud.push(0, Run::Edits { client: 0, incarnation: INCARNATION, mutations });
    // The log of this test does not compute undos, so an undo is rejected.
    let reason = outcome.results[0].rejection.as_ref().map(|rejection| rejection.reason);
    assert_eq!(reason, Some(RejectionReason::TooLarge));
}

#[test]
fn limits_the_lookups_of_a_push() {
    let run = edits(&[2], at(0, 2));
    let rules = PushRules::default();
    let (mut push, mut action) = RunPush::begin(log(), (key(), name()), None, 0, run, rules);
    let mut look_ups = 0;
    while action != PushAction::GiveUp {
        let event = match action {
            PushAction::Append(_) => PushEvent::Refused(PushRefusal::Gap { expected: 2 }),
            PushAction::LookUp => {
                look_ups += 1;
                PushEvent::LookedUp(LookedUp {
                    last_id: Some(1),
                    head: at(0, 2),
                    incarnation: INCARNATION,
                })
            }
            other => panic!("{other:?}"),
        };
        (push, action) = push.step(event);
    }
    assert_eq!(look_ups, cellar_base::limits::MAX_PUSH_LOOK_UPS);
}

#[test]
fn known_mutations_are_not_sent_again() {
    let rules = PushRules::default();
    let (_, action) =
        RunPush::begin(log(), (key(), name()), None, 5, edits(&[4, 5], at(0, 1)), rules);
    let PushAction::Finish(outcome) = action else { panic!("{action:?}") };
    let results: Vec<_> = outcome.results.iter().map(|r| (r.id, r.duplicate)).collect();
    assert_eq!((results, outcome.last_id), (vec![(4, true), (5, true)], 5));
}

#[test]
fn missing_entries_of_two_requests_are_returned_once() {
    let appended = |id: u64, missing: std::ops::RangeInclusive<u32>| {
        let missing: Vec<_> = missing.map(|num| edits_entry(at(0, num), 2, 1)).collect();
        let position = Some(at(0, 9));
        let result = MutationResult {
            id,
            position,
            duplicate: false,
            rejection: None,
            committed: None,
            no_effect: false,
            reversal: None,
        };
        let (tail, header) = (at(0, 9), cellar_log::entry::Header::first(INCARNATION));
        let results = vec![result];
        PushEvent::Appended(Appended { results, tail, header, missing, missing_from: None })
    };
    let (gone, rules) = (at(0, 99), PushRules::default());
    let run = based(&[(1, at(0, 1)), (2, gone)], INCARNATION);
    let (mut push, mut action) = RunPush::begin(log(), (key(), name()), None, 0, run, rules);
    let looked_up = LookedUp { last_id: Some(1), head: at(0, 3), incarnation: INCARNATION };
    for event in [
        PushEvent::Refused(PushRefusal::BaseMissing { base: gone }),
        appended(1, 2..=3),
        PushEvent::LookedUp(looked_up),
        appended(2, 3..=4),
    ] {
        assert!(!matches!(action, PushAction::Finish(_)));
        (push, action) = push.step(event);
    }
    drop(push);
    let PushAction::Finish(outcome) = action else { panic!("{action:?}") };
    let missing: Vec<_> = outcome.missing.iter().map(|entry| entry.position).collect();
    assert_eq!(missing, [at(0, 2), at(0, 3), at(0, 4)]);
}
