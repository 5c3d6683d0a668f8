//! Appends of edits that are merged from a fork.

use std::sync::Arc;

use super::*;
use crate::entry::{Edits, Entry, Merged, Mutation, decode_edits, encode_edits_body};
use crate::records::entry::{decode, encode};
use cellar_base::identity::LogId;
use cellar_base::limits::MAX_TRANSFORM_CHANGES;
use cellar_sheet::operation::{InsertBefore, SetFormat, SheetId, Spans};

fn origin(number: u32, author: &str) -> Arc<MergedOrigin> {
    let merged = Merged {
        fork: LogId::from_uuid(uuid::Uuid::from_bytes([7; 16])),
        position: at(1, number),
        created_s: 1_700_000_000 + u64::from(number),
        by: Some("x".repeat(cellar_base::limits::MAX_AUTHOR_BYTES)),
        through: at(1, 99),
        after: at(0, 2),
    };
    Arc::new(MergedOrigin { author: Some(author.to_owned()), merged })
}

fn insert(before: u32) -> Operation {
    Operation::InsertRows(InsertBefore { sheet: SheetId::FIRST, before, count: 1 })
}

fn merge(first_id: u64, mutations: &[(Operation, &Arc<MergedOrigin>)]) -> Request {
    let merged = |(operation, origin): &(Operation, &Arc<MergedOrigin>)| MergedMutation {
        operation: operation.clone(),
        origin: Arc::clone(origin),
    };
    let mutations = mutations.iter().map(merged).collect();
    Request::of_merge(log(), client(1), INCARNATION, (first_id, at(0, 0)), mutations).unwrap()
}

fn text(row: u32) -> Operation {
    set_text(row, "x".to_owned())
}

#[test]
fn each_origin_becomes_an_entry_with_its_author() {
    let (bob, carol) = (origin(1, "bob"), origin(2, "carol"));
    let mut world = World::new(1);
    world.add(edits_of(
        at(0, 1),
        2,
        vec![Mutation { base: at(0, 0), authored: insert(0), committed: None }],
    ));
    let mutations = [(insert(3), &bob), (text(3), &bob), (text(3), &carol)];
    let appended = world.append(merge(1, &mutations), &[]).unwrap();
    assert_eq!(appended.results.len(), 3);
    let puts: Vec<&Entry> = world.puts.iter().map(AsRef::as_ref).collect();
    let authors: Vec<_> = puts.iter().map(|entry| entry.author.as_deref()).collect();
    assert_eq!(authors, [Some("bob"), Some("carol")]);
    let origins: Vec<_> = puts.iter().filter_map(|entry| entry.merged()).collect();
    assert_eq!(origins, [&bob.merged, &carol.merged]);
    assert_eq!(puts[0].created_s, 0, "the time of the put");
    // The second edit of Carol is made after Bob's insertion, and both after the source's.
    let committed = |index: usize| puts[index].edits().unwrap().mutations.last().unwrap().clone();
    assert_eq!(committed(0).committed_operations(), [text(4)]);
    assert_eq!(committed(1).committed_operations(), [text(4)]);
    for put in &puts {
        assert_eq!(decode(&encode(put).unwrap()).unwrap(), **put);
    }
    // A repetition appends only what is missing.
    let again = world.append(merge(1, &mutations), &[]).unwrap();
    assert!(again.results.iter().all(|result| result.duplicate) && world.puts.len() == 2);
    world.append(merge(4, &[(text(9), &carol)]), &[]).unwrap();
    assert_eq!(world.mutation_ids_of(1), [1, 2, 3, 4]);
}

/// The log of a fork may have number formats that are not accepted from users.
#[test]
fn a_merge_keeps_unknown_number_formats() {
    let format = Operation::SetFormat(SetFormat {
        sheet: SheetId::FIRST,
        rows: Spans::one(0, 1),
        columns: Spans::one(0, 1),
        format: "nonsense".to_owned(),
    });
    let mut world = World::new(1);
    world.append(merge(1, &[(format.clone(), &origin(1, "bob"))]), &[]).unwrap();
    let put = world.puts.last().unwrap();
    assert_eq!(put.edits().unwrap().mutations[0].committed_operations(), [format]);
}

#[test]
fn a_merge_that_cannot_be_transformed_appends_nothing() {
    let bob = origin(1, "bob");
    for (more, is_refused) in [(0, false), (1, true)] {
        let mut world = World::new(1);
        let inserts = vec![insert(9); MAX_TRANSFORM_CHANGES - 100 + more];
        let authored = Operation::Undo(cellar_sheet::operation::Undo { position: at(0, 0) });
        let mutation = Mutation { base: at(0, 0), authored, committed: Some(inserts) };
        world.add(edits_of(at(0, 1), 2, vec![mutation]));
        let others = vec![insert(9); 100];
        let authored = Operation::Undo(cellar_sheet::operation::Undo { position: at(0, 0) });
        let mutation = Mutation { base: at(0, 1), authored, committed: Some(others) };
        world.add(edits_of(at(0, 2), 2, vec![mutation]));
        let result = world.append(merge(1, &[(text(3), &bob)]), &[]);
        if is_refused {
            assert_eq!(result, Err(Refusal::MergeTooDistant));
            assert!(world.puts.is_empty());
        } else {
            assert_eq!(result.unwrap().results[0].rejection, None);
        }
    }
}

#[test]
fn a_body_with_an_origin_fits_and_round_trips() {
    let (base, merged) = (at(0, 1), origin(3, "bob").merged.clone());
    let mutations = vec![Mutation { base, authored: text(1), committed: None }];
    let bare = Edits { client: client(1), name: None, merged: None, first_id: 1, mutations };
    let edits = Edits { merged: Some(merged), ..bare.clone() };
    let position = at(0, 2);
    let (version, body) = encode_edits_body(position, &edits).unwrap();
    assert_eq!(version, 3);
    assert_eq!(decode_edits(3, position, client(1), 1, &body), Ok(edits));
    let (_, bare_body) = encode_edits_body(position, &bare).unwrap();
    assert!(body.len() <= bare_body.len() + Merged::MAX_BYTES);
    assert!(decode_edits(3, position, client(1), 1, &bare_body).is_err());
}

#[test]
fn an_empty_merge_is_invalid() {
    let request = Request::of_merge(log(), client(1), INCARNATION, (1, at(0, 0)), Vec::new());
    assert_eq!(request, Err(InvalidRequest::NoMutations));
}
