//! Tests that the server commits the results that a rebase predicts.

#![allow(clippy::cast_possible_truncation, reason = "the numbers of tests are small")]

mod cases;

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use cellar_base::limits::MAX_ENTRY_BODY_BYTES;
use cellar_log::append::Request;
use cellar_log::entry::{Content, Entry, Mutation};
use cellar_log::testing::support::{INCARNATION, at, client, log, set_text};
use cellar_log::testing::world::World;
use cellar_sheet::operation::random::any_operation;
use cellar_sheet::operation::{InsertBefore, RejectionReason, Revert, SheetId, Undo};
use cellar_sheet::workbook::Workbook;

/// A step of a client.
#[derive(Debug, Clone)]
enum ClientStep {
    /// The client makes an edit based on its current position.
    Write(usize, Operation),
    /// The client makes an edit that is always invalid.
    WriteInvalid(usize),
    /// The client sends some of its edits. The second field is the number of edits.
    Send(usize, usize),
    /// The client's base advances, but some of the newest entries remain unseen. The second field
    /// is their number.
    See(usize, u32),
}

fn any_step() -> impl Strategy<Value = ClientStep> {
    let client = 0..3_usize;
    let known = |operation: &Operation| !operation.is_resolved_on_append();
    let write = any_operation().prop_filter("the server resolves the operation", known);
    prop_oneof![
        8 => (client.clone(), write).prop_map(|(who, what)| ClientStep::Write(who, what)),
        1 => client.clone().prop_map(ClientStep::WriteInvalid),
        3 => (client.clone(), 1..4_usize).prop_map(|(who, count)| ClientStep::Send(who, count)),
        3 => (client, 0..3_u32).prop_map(|(who, behind)| ClientStep::See(who, behind)),
    ]
}

/// A client that has sent its first `sent` mutations.
#[derive(Default)]
struct Writer {
    base: u32,
    sent: usize,
    mutations: Vec<PendingMutation>,
}

impl Writer {
    fn pending(&self) -> &[PendingMutation] {
        &self.mutations[self.sent..]
    }

    fn write(&mut self, operation: Operation) {
        let (id, base) = (self.mutations.len() as u64 + 1, at(0, self.base));
        self.mutations.push(PendingMutation { id, base, operation, object_bytes: None });
    }
}

fn request(who: usize, pending: &[PendingMutation]) -> Request {
    let mutations = pending.iter().map(|mutation| NewMutation {
        id: mutation.id,
        base: mutation.base,
        operation: mutation.operation.clone(),
    });
    let before = pending[0].id - 1;
    Request::new(log(), client(who as u8), None, INCARNATION, before, mutations.collect()).unwrap()
}

fn copy(world: &World) -> World {
    let mut copy = World::new(1);
    world.all_entries().into_iter().for_each(|entry| copy.add(entry));
    copy
}

fn views(world: &World) -> Vec<EntryView> {
    world.entries.values().map(|entry| EntryView::from(entry.as_ref())).collect()
}

/// Returns the entries after index `first` in the form in which a client receives them.
fn known(entries: &[EntryView], first: usize) -> Known<'_> {
    Known { after: entries[first].position, entries: &entries[first + 1..], state: None }
}

/// Returns the workbook metadata at the end of the log.
fn state(entries: &[EntryView]) -> WorkbookMetadata {
    let mut workbook = Workbook::default();
    let mutations = entries.iter().flat_map(|entry| &entry.mutations);
    mutations
        .for_each(|mutation| workbook.apply_operations(mutation.committed_operations()).unwrap());
    workbook.metadata()
}

/// Returns the committed results of a client's mutations, starting with the mutation `first_id`.
fn committed(world: &World, who: usize, first_id: u64) -> Vec<Outlook> {
    let edits = world.entries.values().filter_map(|entry| entry.edits());
    let own = edits.filter(|edits| edits.client == client(who as u8));
    let mutations = own.flat_map(|edits| (edits.first_id..).zip(&edits.mutations));
    let outlook = |mutation: &Mutation| match mutation.rejection() {
        Some(rejection) => Outlook::Rejected(rejection.clone()),
        None => Outlook::Committed(mutation.committed_operations().to_vec()),
    };
    mutations.filter(|(id, _)| *id >= first_id).map(|(_, mutation)| outlook(mutation)).collect()
}

/// Compares each client's predicted results with the committed results. The comparison is repeated
/// with different numbers of loaded entries.
fn compare(world: &World, writers: &[Writer; 3]) -> Result<(), TestCaseError> {
    for (who, writer) in writers.iter().enumerate() {
        let pending = writer.pending();
        if pending.is_empty() {
            continue;
        }
        let mut sent = copy(world);
        sent.append(request(who, pending), &[]).unwrap();
        let expected = committed(&sent, who, pending[0].id);
        let (entries, own) = (views(world), OwnEntries::new(Some(client(who as u8))));
        let lowest = pending.iter().map(|mutation| mutation.base).min().unwrap();
        let state = state(&entries);
        let known = |first| Known { state: Some(&state), ..known(&entries, first) };
        for (first, entry) in entries.iter().enumerate() {
            match Rebase::begin(known(first), &own, pending) {
                Ok((_, shown)) => prop_assert_eq!(&shown, &expected, "{} from {}", who, first),
                Err(EntriesNeeded { after }) => {
                    prop_assert!(after <= lowest && after < entry.position);
                }
            }
        }
        // The results are the same if the edits are added one at a time.
        let (mut rebase, mut shown) = Rebase::begin(known(0), &own, &pending[..1]).unwrap();
        let later = pending.iter().skip(1).take_while(|mutation| mutation.base >= lowest);
        shown.extend(later.map(|mutation| rebase.add_pending(mutation)));
        prop_assert_eq!(shown, expected);
    }
    Ok(())
}

fn take(step: ClientStep, world: &mut World, writers: &mut [Writer; 3]) {
    match step {
        ClientStep::Write(who, operation) => writers[who].write(operation),
        ClientStep::WriteInvalid(who) => {
            let insert = InsertBefore { sheet: SheetId::FIRST, before: 0, count: 0 };
            writers[who].write(Operation::InsertRows(insert));
        }
        ClientStep::See(who, behind) => {
            let head = world.entries.len() as u32 - 1;
            writers[who].base = writers[who].base.max(head.saturating_sub(behind));
        }
        ClientStep::Send(who, count) => {
            let pending = writers[who].pending();
            let count = count.min(pending.len());
            if count > 0 {
                world.append(request(who, &pending[..count]), &[]).unwrap();
                writers[who].sent += count;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn expected_results_equal_committed_results(steps in vec(any_step(), 4..28)) {
        let mut world = World::new(1);
        let mut writers: [Writer; 3] = Default::default();
        for step in steps {
            take(step, &mut world, &mut writers);
            compare(&world, &writers)?;
        }
    }
}

fn insert(before: u32) -> Operation {
    Operation::InsertRows(InsertBefore { sheet: SheetId::FIRST, before, count: 1 })
}

fn pending(id: u64, base: u32, operation: Operation) -> PendingMutation {
    PendingMutation { id, base: at(0, base), operation, object_bytes: None }
}

/// Returns a log in which another client has inserted a row at the top three times.
fn others() -> World {
    let mut world = World::new(1);
    for id in 1..=3 {
        world.append(request(2, &[pending(id, 0, insert(0))]), &[]).unwrap();
    }
    world
}

#[test]
fn reports_the_position_after_which_entries_are_needed() {
    let world = others();
    let (entries, own) = (views(&world), OwnEntries::new(Some(client(1))));
    let mine = [pending(1, 1, set_text(4, "x".into()))];
    let shown = |first| Rebase::begin(known(&entries, first), &own, &mine).map(|(_, shown)| shown);
    let moved = vec![Outlook::Committed(vec![set_text(6, "x".into())])];
    assert_eq!((shown(0), shown(1)), (Ok(moved.clone()), Ok(moved)));
    assert_eq!(shown(2), Err(EntriesNeeded { after: at(0, 1) }));
}

#[test]
fn undos_and_reverts_have_unknown_results() {
    let entries = views(&others());
    let undo = Operation::Undo(Undo { position: at(0, 1) });
    let revert = Operation::Revert(Revert::whole(at(0, 1)));
    for resolved in [undo, revert] {
        let mine = [pending(1, 3, resolved), pending(2, 3, set_text(0, "x".into()))];
        let (_, shown) = Rebase::begin(known(&entries, 0), &OwnEntries::default(), &mine).unwrap();
        let set = Outlook::Committed(vec![set_text(0, "x".into())]);
        assert_eq!(shown, [Outlook::Unknown, set]);
    }
    assert_eq!(Outlook::Unknown.operations(), []);
}

#[test]
fn large_edits_are_rejected_unless_sent_as_a_large_entry() {
    let entries = views(&others());
    let long: Vec<_> = (0..MAX_ENTRY_BODY_BYTES / 1_000)
        .map(|row| match set_text(row as u32, "x".repeat(1_024)) {
            Operation::SetCells(set) => set.cells[0].clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    let set = cellar_sheet::operation::SetCells { sheet: SheetId::FIRST, cells: long };
    let inline = pending(1, 0, Operation::SetCells(set));
    let object = PendingMutation { object_bytes: Some(9), ..inline.clone() };
    let own = OwnEntries::default();
    let (_, shown) =
        Rebase::begin(known(&entries, 0), &own, std::slice::from_ref(&inline)).unwrap();
    let Outlook::Rejected(rejection) = &shown[0] else { panic!("{shown:?}") };
    assert_eq!(rejection.reason, RejectionReason::TooLarge);
    let (_, shown) = Rebase::begin(known(&entries, 0), &own, &[object]).unwrap();
    let Operation::SetCells(moved) = &shown[0].operations()[0] else { panic!("{shown:?}") };
    assert_eq!(moved.cells[0].row, 3);
}

#[test]
fn only_own_entries_acknowledge_mutations() {
    let mut world = others();
    let invalid =
        Operation::InsertRows(InsertBefore { sheet: SheetId::FIRST, before: 0, count: 0 });
    let mine = [pending(1, 0, insert(1)), pending(2, 0, invalid), pending(3, 0, insert(4))];
    world.append(request(1, &mine), &[]).unwrap();
    let entries = views(&world);
    let own = OwnEntries::new(Some(client(1)));
    assert!(!own.contains(&entries[1]) && own.contains(&entries[4]));
    let found: Vec<Acknowledged> = acknowledged(&entries[4], 1).collect();
    assert_eq!(found.iter().map(|found| found.id).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(found[0].rejection.as_ref().map(|r| r.reason), Some(RejectionReason::Invalid));
    assert_eq!((found[0].committed.clone(), found[1].rejection.clone()), (None, None));
    assert_eq!(found[1].committed, Some(vec![insert(7)]));
    assert_eq!(acknowledged(&entries[0], 0).count(), 0);
    // Without a client key, the client recognizes its entries by the positions in responses.
    let mut by_answer = OwnEntries::new(None);
    assert!(!by_answer.contains(&entries[4]));
    by_answer.add_position(at(0, 4));
    assert!(by_answer.contains(&entries[4]) && !by_answer.contains(&entries[3]));
}

#[test]
fn a_large_entry_acknowledges_all_of_its_ids() {
    let map = SpaceMap::default();
    let external = ExternalEdits {
        client: client(1),
        first_id: 4,
        count: 2,
        base: at(0, 0),
        object: "uploads/a".into(),
        bytes: 9,
        sha256: [1; 32],
        map,
    };
    let first = World::new(1).all_entries().remove(0);
    let entry = Entry { content: Content::External(external), ..Entry::clone(&first) };
    let view = EntryView::from(Arc::new(entry).as_ref());
    let ids = |last_id| acknowledged(&view, last_id).map(|found| found.id).collect::<Vec<_>>();
    assert_eq!((ids(0), ids(4), ids(5)), (vec![4, 5], vec![5], vec![]));
    assert_eq!(view.client_key, Some(client(1)));
}
