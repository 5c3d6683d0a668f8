//! Property tests of several clients with pending mutations, compared with the intent of each
//! mutation.
//!
//! Each client sees the log up to its own base, followed by its own mutations that it has not seen
//! in the log. Its base can rise while mutations are pending.

#![allow(clippy::cast_possible_truncation, reason = "the numbers of tests are small")]

use proptest::collection::vec;
use proptest::prelude::*;

use super::super::*;
use crate::testing::support::*;
use crate::testing::world::World;
use cellar_sheet::cell::Value;
use cellar_sheet::operation::random::any_operation;
use cellar_sheet::operation::{
    CellEdit, DeleteSpans, InsertBefore, Operation, SetCells, SheetId, Spans,
};
use cellar_sheet::oracle::intent::{Intent, redirect_to_existing_sheet};
use cellar_sheet::oracle::{PlainWorkbook, Tag};

/// A step of the test.
#[derive(Debug, Clone)]
enum Step {
    /// A client edits the state that it sees.
    Write(usize, Operation),
    /// A client writes an invalid operation.
    WriteInvalid(usize),
    /// A client writes an undo that was resolved on the state a number of entries ago, with these
    /// operations.
    Undo(usize, usize, Vec<Operation>),
    /// A client sends a number of its mutations, with or without cached entries.
    Send(usize, usize, bool),
    /// A client sees the log, except a number of the newest entries.
    See(usize, u32),
}

/// Returns inserts, deletes and edits of the first rows, so that rows of different authors are
/// interleaved.
fn any_row_operation() -> impl Strategy<Value = Operation> {
    let sheet = SheetId::FIRST;
    let text = |row: u32| CellEdit {
        row,
        column: 0,
        value: Some(Value::Text(format!("{row}"))),
        formula: None,
        format: None,
    };
    prop_oneof![
        2 => (0..5_u32)
            .prop_map(move |before| Operation::InsertRows(InsertBefore { sheet, before, count: 1 })),
        1 => (0..5_u32).prop_map(move |row| {
            Operation::DeleteRows(DeleteSpans { sheet, spans: Spans::one(row, 1) })
        }),
        2 => proptest::collection::btree_set(0..6_u32, 2..5).prop_map(move |rows| {
            Operation::SetCells(SetCells { sheet, cells: rows.into_iter().map(text).collect() })
        }),
    ]
}

fn any_step(what: BoxedStrategy<Operation>) -> impl Strategy<Value = Step> {
    let client = 0..2_usize;
    prop_oneof![
        6 => (client.clone(), what).prop_map(|(who, what)| Step::Write(who, what)),
        1 => client.clone().prop_map(Step::WriteInvalid),
        1 => (client.clone(), 0..3_usize, vec(any_operation(), 1..3))
            .prop_map(|(who, ago, parts)| Step::Undo(who, ago, parts)),
        4 => (client.clone(), 1..4_usize, any::<bool>())
            .prop_map(|(who, count, warm)| Step::Send(who, count, warm)),
        3 => (client, 0..3_u32).prop_map(|(who, behind)| Step::See(who, behind)),
    ]
}

/// A mutation of a client and its intent.
struct Intended {
    mutation: NewMutation,
    /// Resolution operations, if the mutation is an undo.
    resolved: Option<Resolution>,
    tag: Tag,
    intents: Vec<Intent>,
    /// Position of the entry, once the mutation is committed.
    position: Option<Position>,
}

#[derive(Default)]
struct Client {
    base: u32,
    sent: usize,
    mutations: Vec<Intended>,
}

/// Pairs each operation of a mutation with a tag. The tag increases after each operation that
/// creates rows, columns or sheets.
fn tagged(first: Tag, parts: &[Operation]) -> impl Iterator<Item = (Tag, &Operation)> {
    parts.iter().scan(first, |next, part| {
        let tag = *next;
        let makes = matches!(
            part,
            Operation::InsertRows(_)
                | Operation::InsertColumns(_)
                | Operation::AddSheet(_)
                | Operation::ImportSheet(_)
        );
        *next += u32::from(makes);
        Some((tag, part))
    })
}

struct Model {
    world: World,
    /// State after each entry.
    states: Vec<PlainWorkbook>,
    clients: [Client; 2],
    tags: Tag,
}

impl Model {
    fn new() -> Self {
        let clients = Default::default();
        Self { world: World::new(1), states: vec![PlainWorkbook::new()], clients, tags: 1_000 }
    }

    /// Returns the state that a client sees: the log up to its base, followed by its own pending
    /// mutations.
    fn view(&self, who: usize) -> PlainWorkbook {
        let client = &self.clients[who];
        let mut view = self.states[client.base as usize].clone();
        let seen = |intended: &&Intended| {
            intended.position.is_some_and(|at| at.entry_number() <= client.base)
        };
        for intended in client.mutations.iter().filter(|intended| !seen(intended)) {
            // The client does not know the resolved operations of its undo.
            if !intended.mutation.operation.is_resolved_on_append() {
                intended.intents.iter().for_each(|intent| intent.apply(&mut view));
            }
        }
        view
    }

    fn add(&mut self, who: usize, operation: Operation, resolved: Option<Resolution>) {
        self.tags += 10;
        let tag = self.tags;
        let intents = match &resolved {
            None => vec![Intent::of(&self.view(who), &operation, tag)],
            Some(resolved) => self.intents(resolved, tag),
        };
        let client = &mut self.clients[who];
        let id = client.mutations.len() as u64 + 1;
        let mutation = NewMutation { id, base: at(0, client.base), operation };
        client.mutations.push(Intended { mutation, resolved, tag, intents, position: None });
    }

    /// Returns the intents of the operations of an undo.
    fn intents(&self, resolved: &Resolution, tag: Tag) -> Vec<Intent> {
        let mut state = self.states[resolved.state_position.entry_number() as usize].clone();
        let parts = tagged(tag, &resolved.operations).map(|(tag, part)| {
            let intent = Intent::of(&state, part, tag);
            state.apply(part, tag);
            intent
        });
        parts.collect()
    }

    /// Returns a resolution with operations that are valid on the state at an entry.
    fn resolve(&self, num: u32, parts: Vec<Operation>) -> Resolution {
        let mut state = self.states[num as usize].clone();
        let operations = parts.into_iter().map(|part| {
            let part = redirect_to_existing_sheet(&state, part);
            state.apply(&part, 1);
            part
        });
        Resolution::new(at(0, num), operations.collect())
    }

    fn head(&self) -> u32 {
        self.states.len() as u32 - 1
    }

    fn step(&mut self, step: Step) -> Result<(), TestCaseError> {
        match step {
            Step::Write(who, operation) => {
                let operation = redirect_to_existing_sheet(&self.view(who), operation);
                if !(operation.is_resolved_on_append()
                    || matches!(operation, Operation::Rejected(_)))
                {
                    self.add(who, operation, None);
                }
            }
            Step::WriteInvalid(who) => {
                let rows = cellar_sheet::operation::InsertBefore {
                    sheet: cellar_sheet::operation::SheetId::FIRST,
                    before: 0,
                    count: 0,
                };
                self.add(who, Operation::InsertRows(rows), None);
            }
            Step::Undo(who, ago, parts) => {
                let resolved = self.resolve(self.head().saturating_sub(ago as u32), parts);
                let undo =
                    Operation::Undo(cellar_sheet::operation::Undo { position: Position::FIRST });
                self.add(who, undo, Some(resolved));
            }
            Step::See(who, behind) => {
                let head = self.head();
                let client = &mut self.clients[who];
                client.base = client.base.max(head.saturating_sub(behind));
            }
            Step::Send(who, count, warm) => return self.send(who, count, warm),
        }
        Ok(())
    }

    /// Sends some of a client's mutations, each undo in a request of its own.
    fn send(&mut self, who: usize, count: usize, warm: bool) -> Result<(), TestCaseError> {
        let client = &self.clients[who];
        let end = client.mutations.len().min(client.sent + count);
        let left = &client.mutations[client.sent..end];
        let is_undo = |intended: &Intended| intended.resolved.is_some();
        let alone = left.first().is_some_and(is_undo).then_some(1);
        let count = alone.or_else(|| left.iter().position(is_undo)).unwrap_or(left.len());
        if count == 0 {
            return Ok(());
        }
        match self.append(who, count, warm) {
            Err(Refusal::StaleResolution { .. }) => {
                self.resolve_again(who);
                self.append(who, count, warm)
            }
            done => done,
        }
        .map_err(|fault| TestCaseError::fail(format!("{fault:?}")))?;
        let first_new = self.states.len();
        let new: Vec<_> = self.world.entries.values().skip(first_new).cloned().collect();
        new.iter().try_for_each(|entry| self.check(who, entry))?;
        self.send(who, end - self.clients[who].sent, warm)
    }

    fn append(&mut self, who: usize, count: usize, warm: bool) -> Result<(), Refusal> {
        let client = &self.clients[who];
        let sent = &client.mutations[client.sent..client.sent + count];
        let mutations = sent.iter().map(|intended| intended.mutation.clone()).collect();
        let (key, before) = (crate::testing::support::client(who as u8), client.sent as u64);
        let mut request = Request::new(log(), key, None, INCARNATION, before, mutations).unwrap();
        if let Some(resolved) = sent[0].resolved.clone() {
            request = request.with_resolution(resolved);
        }
        let known = if warm { self.world.entries_from(request.lowest_base()) } else { vec![] };
        self.world.append(request, &known)?;
        self.clients[who].sent += count;
        Ok(())
    }

    /// Resolves the next undo of a client on the current state.
    fn resolve_again(&mut self, who: usize) {
        let next = self.clients[who].sent;
        let intended = &self.clients[who].mutations[next];
        let parts = intended.resolved.clone().unwrap().operations;
        let resolved = self.resolve(self.head(), parts);
        let intents = self.intents(&resolved, intended.tag);
        let intended = &mut self.clients[who].mutations[next];
        (intended.resolved, intended.intents) = (Some(resolved), intents);
    }

    /// Checks that the operations of an entry have the same effect as the intents of its mutations.
    fn check(&mut self, who: usize, entry: &Entry) -> Result<(), TestCaseError> {
        let mut state = self.states.last().unwrap().clone();
        let mut expected = state.clone();
        let stored = crate::records::entry::encode(entry).unwrap();
        prop_assert_eq!(
            &crate::records::entry::decode(&stored).unwrap(),
            entry,
            "the entry round-trips"
        );
        let edits = entry.edits().unwrap();
        for (id, mutation) in (edits.first_id..).zip(&edits.mutations) {
            let intended = &mut self.clients[who].mutations[id as usize - 1];
            intended.position = Some(entry.position);
            intended.intents.iter().for_each(|intent| intent.apply(&mut expected));
            for (tag, operation) in tagged(intended.tag, mutation.committed_operations()) {
                state.apply(operation, tag);
            }
            prop_assert!(
                state == expected,
                "mutation {} of client {who}: wrote {:?}, committed {:?}",
                id,
                intended.mutation,
                mutation
            );
        }
        self.states.push(state);
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn every_edit_has_the_intended_effect(
        steps in vec(any_step(any_operation().boxed()), 4..24),
    ) {
        run(steps)?;
    }

    #[test]
    fn interleaved_rows_are_committed_correctly(
        steps in vec(any_step(any_row_operation().boxed()), 4..24),
    ) {
        run(steps)?;
    }
}

fn run(steps: Vec<Step>) -> Result<(), TestCaseError> {
    let mut model = Model::new();
    for step in steps {
        model.step(step)?;
    }
    (0..2).try_for_each(|who| model.send(who, usize::MAX / 2, true))
}
