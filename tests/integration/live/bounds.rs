//! Limits of pending edits: their number and their size, each at the limit and one above.

use cellar::live::LiveError;
use cellar_base::limits::{MAX_LIVE_PENDING, MAX_LIVE_PENDING_BYTES};

use super::{World, set};

#[tokio::test(flavor = "multi_thread")]
async fn as_many_edits_wait_as_may_and_not_one_more() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let mut live = world.open("bob", folder.path()).await.unwrap();
    world.proxy.set_offline(true);
    for row in 0..u32::try_from(MAX_LIVE_PENDING).unwrap() {
        live.edit(set(row, "x")).unwrap();
    }
    let error = live.edit(set(0, "one more")).unwrap_err();
    assert!(matches!(error, LiveError::TooManyPending { edits: MAX_LIVE_PENDING, .. }), "{error}");
    assert_eq!(live.pending().count(), MAX_LIVE_PENDING);
    drop(live);
    world.proxy.set_offline(false);
    let mut live = world.open("bob", folder.path()).await.unwrap();
    assert_eq!(
        live.sync().await.unwrap().settled.len(),
        MAX_LIVE_PENDING,
        "one sync sends all edits"
    );
    live.edit(set(0, "one more")).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn edits_that_wait_have_as_many_bytes_as_may_be_and_not_one_more() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let mut live = world.open("bob", folder.path()).await.unwrap();
    world.proxy.set_offline(true);
    // Long texts that compress well, so that they fit in requests.
    let longest = 60_000;
    let left = loop {
        match live.edit(set(0, &"x".repeat(longest))) {
            Ok(_) => {}
            Err(LiveError::TooManyPending { bytes, .. }) => {
                break longest - (bytes - MAX_LIVE_PENDING_BYTES);
            }
            Err(error) => panic!("{error}"),
        }
    };
    let error = live.edit(set(0, &"x".repeat(left + 1))).unwrap_err();
    let over = MAX_LIVE_PENDING_BYTES + 1;
    assert!(matches!(error, LiveError::TooManyPending { bytes, .. } if bytes == over), "{error}");
    live.edit(set(0, &"x".repeat(left))).unwrap();
    // The journal can be read again.
    drop(live);
    let live = world.open("bob", folder.path()).await.unwrap();
    assert!(live.pending().count() > 30);
}
