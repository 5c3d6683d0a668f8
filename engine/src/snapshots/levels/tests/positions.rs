//! Loads any position from the snapshot before it.

use cellar_base::limits::MAX_REPLY_BYTES;

use super::*;

#[tokio::test]
async fn any_position_is_loaded_from_the_snapshot_before_it() {
    let mut world = World::new().await;
    let mut snapshots = Vec::new();
    for round in 0..3 {
        world.append(block(round, 3, 10)).await;
        if round < 2 {
            let job = world.mark().await;
            snapshots.push((job.position, world.build(job, false).await));
        }
        world.append(block(round + 7, 2, 10)).await;
    }
    let newest = world.tail;
    for number in 0..=newest.entry_number() {
        let at = Position::new(0, number).unwrap();
        let loaded = world.logs().load_at(log(), at).await.unwrap();
        let snapshot = snapshots.iter().rev().find(|(position, _)| *position <= at);
        let first = snapshot.map_or(0, |(position, _)| position.entry_number());
        let positions = loaded.entries.iter().map(|entry| entry.position.entry_number());
        assert_eq!(Vec::from_iter(positions), Vec::from_iter(first..=number), "{at}");
        assert_eq!(loaded.root.as_ref(), snapshot.map(|(_, root)| root));
        assert_eq!((loaded.head, loaded.next), (at, None));
    }
    for beyond in [newest.next_in_segment().unwrap(), Position::LAST] {
        let refused = world.logs().load_at(log(), beyond).await;
        assert_eq!(refused, Err(LogError::NoSuchPosition { at: beyond, newest }));
    }
    let unknown = LogId::derive(&SubjectKey::new("tests", "bob"), "none").unwrap();
    let refused = world.logs().load_at(unknown, Position::FIRST).await;
    assert!(matches!(refused, Err(LogError::NotFound)), "{refused:?}");
}

#[tokio::test]
async fn entries_up_to_a_position_are_loaded_up_to_the_size_of_a_reply() {
    let mut world = World::new().await;
    let text = Value::Text("x".repeat(60_000));
    let cell =
        |row| CellEdit { row, column: 0, value: Some(text.clone()), formula: None, format: None };
    let set = |row| SetCells { sheet: SheetId::FIRST, cells: vec![cell(row)] };
    let (mut bytes, mut row) = (0, 0);
    while bytes <= MAX_REPLY_BYTES {
        row += 1;
        world.append(Operation::SetCells(set(row))).await;
        let entry = world.tables.get(log(), world.tail).await.unwrap().unwrap();
        bytes += entry.weight_bytes();
    }
    let loaded = world.logs().load_at(log(), world.tail).await.unwrap();
    let last = loaded.entries.last().unwrap().position;
    assert!(loaded.next == Some(last) && last < world.tail, "{:?}", loaded.next);
    let again = world.logs().load_at(log(), last).await.unwrap();
    assert_eq!((again.next, again.entries.len()), (None, loaded.entries.len()));
}
