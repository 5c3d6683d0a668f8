//! A merge is undone in one step.

use cellar_base::limits::MAX_MERGED_ENTRIES_PER_REQUEST;
use cellar_sheet::operation::{RejectionReason, Undo};

use super::*;

fn undo(position: Position) -> Operation {
    Operation::Undo(Undo { position })
}

async fn merged_world() -> (World, Position) {
    let mut world = World::new().await;
    let fork = world.fork;
    world.edit(fork, "bob", set(0, "bob's")).await;
    world.edit(fork, "carol", insert(1, 1)).await;
    world.edit(fork, "carol", set(1, "carol's")).await;
    let merged = world.merge().await;
    let last = merged.edits.last().unwrap().merged_as.unwrap();
    (world, last)
}

const BEFORE: [(u32, &str); 3] = [(0, "a"), (1, "b"), (2, "c")];
const MERGED: [(u32, &str); 4] = [(0, "bob's"), (1, "carol's"), (2, "b"), (3, "c")];

#[tokio::test]
async fn an_undo_of_any_entry_undoes_the_merge_and_can_be_undone() {
    for back in 0..3 {
        let (mut world, last) = merged_world().await;
        assert_eq!(world.column(log()).await, shown(&MERGED));
        let entry = at(0, last.entry_number() - back);
        let undone = world.edit(log(), "alice", undo(entry)).await;
        assert_eq!(world.column(log()).await, shown(&BEFORE), "{back}");
        world.edit(log(), "alice", undo(undone)).await;
        assert_eq!(world.column(log()).await, shown(&MERGED), "{back}");
        // It is not merged again.
        assert!(world.logs().merge(&world.request()).await.unwrap().edits.is_empty());
    }
}

#[tokio::test]
async fn an_undone_merge_is_not_undone_again_by_another_of_its_entries() {
    let (mut world, last) = merged_world().await;
    world.edit(log(), "alice", undo(last)).await;
    let base = world.head(log()).await;
    let operation = undo(at(0, last.entry_number() - 1));
    let mutations = vec![NewMutation { id: 1, base, operation }];
    let client = ClientKey([77; 8]);
    let request = Request::new(log(), client, None, FIRST_INCARNATION, 0, mutations).unwrap();
    let refused = world.logs().append(request).await.unwrap();
    let rejection = refused.results[0].rejection.clone().unwrap();
    assert_eq!(rejection.reason, RejectionReason::NothingToUndo);
}

#[tokio::test]
async fn edits_of_others_during_and_after_the_merge_stay() {
    let mut world = World::new().await;
    let fork = world.fork;
    let count = u32::try_from(MAX_MERGED_ENTRIES_PER_REQUEST).unwrap() + 1;
    for row in 0..count {
        world.edit(fork, "bob", set(row, "bob's")).await;
    }
    let merged = world.logs().merge(&world.request()).await.unwrap();
    assert_eq!(merged.remaining, 1);
    world.edit(log(), "alice", set(1, "alice's")).await;
    world.edit(log(), "alice", set(999, "during")).await;
    // The fork grows, but the rest belongs to the same merge.
    world.edit(fork, "bob", set(500, "later")).await;
    let rest = world.logs().merge(&world.request()).await.unwrap();
    assert_eq!((rest.edits.len(), rest.remaining), (2, 0));
    world.edit(log(), "alice", set(998, "after")).await;
    let last = rest.edits[0].merged_as.unwrap();
    world.edit(log(), "alice", undo(last)).await;
    let expected =
        [(0, "a"), (1, "alice's"), (2, "c"), (500, "later"), (998, "after"), (999, "during")];
    assert_eq!(world.column(log()).await, shown(&expected));
}
