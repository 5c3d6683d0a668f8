//! A merge is undone in one step.

use cellar_base::limits::MAX_MERGED_ENTRIES_PER_REQUEST;
use cellar_sheet::operation::{RejectionReason, Revert, Undo};

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

fn set_pair(row: u32, texts: [Option<&str>; 2]) -> Operation {
    let cells = [0, 1].into_iter().zip(texts).filter_map(|(column, text)| {
        let value = Value::Text(text?.to_owned());
        Some(CellEdit { row, column, value: Some(value), formula: None, format: None })
    });
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: cells.collect() })
}

async fn cells(world: &World) -> Vec<(u32, u32, String)> {
    let read = world.logs().cells(log(), &everything(None)).await.unwrap();
    read.cells.iter().map(|placed| (placed.row, placed.column, placed.cell.text())).collect()
}

#[tokio::test]
async fn a_merge_is_brought_back_after_other_edits_were_reverted_and_restored() {
    for extra in 0..3 {
        let mut world = World::new().await;
        world.edit(log(), "alice", set_pair(1, [Some("b"), Some("b2")])).await;
        let start = world.head(log()).await;
        world.edit(log(), "alice", insert(1, 3)).await;
        world.fork = world.forked("second").await;
        let fork = world.fork;
        world.edit(fork, "bob", set_pair(1, [Some("fA"), Some("fB")])).await;
        world.edit(fork, "bob", delete(4, 1)).await;
        world.edit(log(), "alice", set_pair(1, [None, Some("sB")])).await;
        world.edit(log(), "alice", insert(1, 1)).await;
        world.edit(log(), "alice", delete(3, 1)).await;
        let merged = world.merge().await;
        assert_eq!(merged.edits[0].conflicts.count, 1);
        let with_merge = cells(&world).await;
        let last = merged.edits.last().unwrap().merged_as.unwrap();
        let undone = world.edit(log(), "alice", undo(last)).await;
        let revert = Operation::Revert(Revert::whole(start));
        let mut reversal = world.edit(log(), "alice", revert).await;
        for _ in 0..=2 * extra {
            reversal = world.edit(log(), "alice", undo(reversal)).await;
        }
        world.edit(log(), "alice", undo(undone)).await;
        assert_eq!(cells(&world).await, with_merge, "{extra}");
    }
}

/// Sets the formula of D1.
fn set_formula(text: &str) -> Operation {
    let (value, formula) = (Some(Value::Empty), Some(text.to_owned()));
    let edit = CellEdit { row: 0, column: 3, value, formula, format: None };
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: vec![edit] })
}

async fn formula(world: &World) -> Option<String> {
    let read = world.logs().cells(log(), &everything(None)).await.unwrap();
    let found = read.cells.into_iter().find(|cell| (cell.row, cell.column) == (0, 3));
    found.and_then(|found| found.cell.formula)
}

#[tokio::test]
async fn references_lost_in_several_parts_of_a_merge_are_restored() {
    const FORMULA: &str = "=SUM(A1:A3)+A3+A2";
    let mut world = World::new().await;
    let fork = world.fork;
    world.edit(log(), "alice", set_formula(FORMULA)).await;
    world.edit(fork, "bob", delete(2, 1)).await;
    let count = u32::try_from(MAX_MERGED_ENTRIES_PER_REQUEST).unwrap();
    for row in 10..9 + count {
        world.edit(fork, "bob", set(row, "bob's")).await;
    }
    world.edit(fork, "bob", delete(1, 1)).await;
    let merged = world.logs().merge(&world.request()).await.unwrap();
    assert_eq!(merged.remaining, 1);
    world.edit(log(), "alice", set(999, "during")).await;
    let rest = world.logs().merge(&world.request()).await.unwrap();
    assert_eq!(formula(&world).await.as_deref(), Some("=SUM(A1:A1)+#REF!+#REF!"));
    world.edit(log(), "alice", undo(rest.edits[0].merged_as.unwrap())).await;
    assert_eq!(formula(&world).await.as_deref(), Some(FORMULA));
    let read = world.logs().cells(log(), &everything(None)).await.unwrap();
    let column: Vec<(u32, String)> = read
        .cells
        .iter()
        .filter(|cell| cell.column == 0)
        .map(|placed| (placed.row, placed.cell.text()))
        .collect();
    assert_eq!(column, shown(&[(0, "a"), (1, "b"), (2, "c"), (1000, "during")]));
}
