//! Measures the latency and the bytes of an edit until another client shows it. This is a
//! measurement, not a test.

use std::time::Instant;

use cellar_catalog::access::Role;
use cellar_tests::edits::append_one;

use super::{World, set, shown};

const EDITS: u32 = 50;

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Measures the time from an edit until another client, which is poked, shows it.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "it only prints figures: --nocapture"]
async fn of_one_edit() {
    let world = World::start().await;
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let mut bob = world.open("bob", folders[0].path()).await.unwrap();
    let mut eve = world.open("eve", folders[1].path()).await.unwrap();
    let token = world.cloud.token("eve", Role::Viewer);
    let mut pokes = cellar::Client::new(&world.cloud.url, Some(&token))
        .unwrap()
        .spreadsheet(world.created.id)
        .pokes();
    let (mut kept, mut sent, mut seen) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..EDITS {
        let begun = Instant::now();
        let milliseconds = |begun: Instant| begun.elapsed().as_secs_f64() * 1_000.0;
        bob.edit(set(number, "figure")).unwrap();
        kept.push(milliseconds(begun));
        let eves = async {
            pokes.wait_beyond(eve.position()).await;
            eve.sync().await.unwrap();
            let cells = shown(&mut eve).await;
            assert_eq!(cells.len(), number as usize + 1);
            milliseconds(begun)
        };
        let bobs = async {
            bob.sync().await.unwrap();
            milliseconds(begun)
        };
        let (of_bob, of_eve) = tokio::join!(bobs, eves);
        sent.push(of_bob);
        seen.push(of_eve);
    }
    let client = world.cloud.client("alice");
    let head = client.spreadsheet(world.created.id).head().await.unwrap();
    let request = append_one(world.created, "alice", 1, head.head, set(0, "figure"));
    let reply = client.spreadsheet(world.created.id).append(&request).await.unwrap();
    let update = client.spreadsheet(world.created.id).entries_page(head.head).await.unwrap();
    let bytes = |json: serde_json::Result<Vec<u8>>| json.unwrap().len();
    eprintln!(
        "medians of {EDITS}: on disk and shown {:.1} ms, in the log {:.1} ms, seen by another {:.1} ms; \
         bytes of JSON: append {} and {}, update {}",
        median(kept),
        median(sent),
        median(seen),
        bytes(serde_json::to_vec(&request)),
        bytes(serde_json::to_vec(&reply)),
        bytes(serde_json::to_vec(&update)),
    );
}
