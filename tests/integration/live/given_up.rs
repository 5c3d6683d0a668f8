//! Syncs that are cancelled, as when a user types while the API does not reply.

use std::time::Duration;

use cellar::live::LiveSheet;
use tokio::time::timeout;

use super::{World, insert, set, shown};

const EDITS: u32 = 60;

/// Makes edits in separate rows and inserts rows above them, with syncs that are cancelled at
/// random times. Returns the number of cancelled syncs.
async fn edit_and_give_up(live: &mut LiveSheet, name: &str, seed: u64) -> usize {
    let mut given_up = 0;
    let mut random = fastrand::Rng::with_seed(seed);
    for number in 0..EDITS {
        let operation = match random.u8(..4) {
            0 => insert(0),
            _ => set(random.u32(100..100_000), &format!("{name}{number}")),
        };
        live.edit(operation).unwrap();
        for _ in 0..random.u8(..3) {
            // A sync takes some milliseconds.
            let patience = Duration::from_micros(random.u64(..9_000));
            given_up += usize::from(timeout(patience, live.sync()).await.is_err());
        }
        let _ = timeout(Duration::from_micros(random.u64(..500)), shown(live)).await;
    }
    given_up
}

#[tokio::test(flavor = "multi_thread")]
async fn a_round_that_is_given_up_at_any_moment_loses_and_doubles_nothing() {
    let world = World::start().await;
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let mut bob = world.open("bob", folders[0].path()).await.unwrap();
    let mut eve = world.open("eve", folders[1].path()).await.unwrap();
    let given_up =
        tokio::join!(edit_and_give_up(&mut bob, "b", 1), edit_and_give_up(&mut eve, "e", 2));
    assert!(given_up.0 > 5 && given_up.1 > 5, "{given_up:?}");
    for live in [&mut bob, &mut eve] {
        while live.pending().count() > 0 {
            live.sync().await.unwrap();
        }
    }
    bob.sync().await.unwrap();
    let load = world.cloud.client("alice").spreadsheet(world.created.id).load(None).await.unwrap();
    let mut ids: Vec<(Option<String>, u64)> = load
        .entries
        .iter()
        .flat_map(|entry| entry.mutations.iter().map(|its| (entry.author.clone(), its.id)))
        .collect();
    ids.sort();
    let of = |name: &str| (1..=u64::from(EDITS)).map(|id| (Some(name.to_owned()), id)).collect();
    let expected: [Vec<_>; 2] = [of("bob"), of("eve")];
    assert_eq!(ids, expected.concat(), "each once");
    let cells = world.cells().await;
    assert!(cells.len() > 60, "{} cells", cells.len());
    assert_eq!(shown(&mut bob).await, cells);
    assert_eq!(shown(&mut eve).await, cells);
}
