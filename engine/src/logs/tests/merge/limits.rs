//! Limits of a merge.

use cellar_base::limits::{
    MAX_LISTED_CONFLICTS, MAX_MERGE_BYTES, MAX_MERGED_ENTRIES, MAX_MERGED_ENTRIES_PER_REQUEST,
};

use super::*;

/// Appends edits of cell A1 to the fork, each with a text of `text_bytes` bytes.
async fn edit_fork(world: &World, count: usize, text_bytes: usize) {
    let service = world.logs();
    let client = ClientKey([9; 8]);
    for id in 1..=u64::try_from(count).unwrap() {
        let operation = set(0, &"x".repeat(text_bytes));
        let base = at(1, u32::try_from(id).unwrap() - 1);
        let mutations = vec![NewMutation { id, base, operation }];
        let request = Request::new(world.fork, client, None, FIRST_INCARNATION, id - 1, mutations);
        service.append(request.unwrap()).await.unwrap();
    }
}

#[tokio::test]
async fn one_request_merges_a_number_of_edits() {
    for (more, remaining) in [(0, 0), (1, 1)] {
        let world = World::new().await;
        edit_fork(&world, MAX_MERGED_ENTRIES_PER_REQUEST + more, 1).await;
        let merged = world.logs().merge(&world.request()).await.unwrap();
        assert_eq!(merged.edits.len(), MAX_MERGED_ENTRIES_PER_REQUEST);
        assert_eq!(merged.remaining, remaining);
        let rest = world.logs().merge(&world.request()).await.unwrap();
        assert_eq!((rest.edits.len(), rest.remaining), (more, 0));
    }
}

#[tokio::test]
async fn the_number_of_edits_of_one_merge_is_limited() {
    let world = World::new().await;
    edit_fork(&world, MAX_MERGED_ENTRIES, 1).await;
    let preview = world.logs().preview_merge(&world.request()).await.unwrap();
    assert_eq!(preview.edits.len(), MAX_MERGED_ENTRIES);
    let world = World::new().await;
    edit_fork(&world, MAX_MERGED_ENTRIES + 1, 1).await;
    let refused = world.logs().merge(&world.request()).await;
    assert_eq!(refused, Err(LogError::Merge(MergeFault::TooManyEdits)));
}

#[tokio::test]
async fn the_size_of_the_edits_is_limited() {
    const COUNT: usize = 600;
    let weight = set(0, "").weight_bytes();
    let text_bytes = MAX_MERGE_BYTES / COUNT - weight;
    let rest = MAX_MERGE_BYTES % COUNT;
    // The last edit makes the size exact.
    for (more, is_refused) in [(0, false), (1, true)] {
        let world = World::new().await;
        edit_fork(&world, COUNT - 1, text_bytes).await;
        let base = world.head(world.fork).await;
        let operation = set(1, &"x".repeat(text_bytes + rest + more));
        let mutations = vec![NewMutation { id: 1, base, operation }];
        let client = ClientKey([8; 8]);
        let request = Request::new(world.fork, client, None, FIRST_INCARNATION, 0, mutations);
        world.logs().append(request.unwrap()).await.unwrap();
        let preview = world.logs().preview_merge(&world.request()).await;
        let fault = preview.err();
        let expected = LogError::Merge(MergeFault::ForkTooLarge);
        assert_eq!(fault, is_refused.then_some(expected));
    }
}

#[tokio::test]
async fn the_listed_conflicts_of_an_edit_are_limited() {
    let rows = |count: usize, text: &str| {
        let cells = (0..u32::try_from(count).unwrap()).map(|row| {
            let Operation::SetCells(set) = set(row, text) else { panic!("cells") };
            set.cells.into_iter().next().unwrap()
        });
        Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: cells.collect() })
    };
    for more in [0, 1] {
        let mut world = World::new().await;
        let (fork, count) = (world.fork, MAX_LISTED_CONFLICTS + more);
        world.edit(fork, "bob", rows(count, "bob's")).await;
        world.edit(log(), "alice", rows(count, "alice's")).await;
        let merged = world.merge().await;
        let conflicts = &merged.edits[0].conflicts;
        assert_eq!(conflicts.cells.len(), MAX_LISTED_CONFLICTS);
        assert_eq!(conflicts.count, count as u64);
    }
}
