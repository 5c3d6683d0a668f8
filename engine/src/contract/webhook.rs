//! The contract of how far the webhook has come.
#![allow(clippy::panic, reason = "a promise that is broken fails the test that calls this")]

use cellar_catalog::feed::{Checkpoint, FeedId};
use cellar_catalog::webhook::WebhookProgress;

use crate::ports::{PortError, WebhookProgresses};

fn progress(feed: u8, next: u64) -> WebhookProgress {
    let next = Checkpoint::new(next).unwrap_or_else(|error| panic!("{error}"));
    WebhookProgress { feed: FeedId([feed; 8]), next }
}

fn ok<T>(result: Result<T, PortError>) -> T {
    result.unwrap_or_else(|error| panic!("{error}"))
}

/// Checks the record against everything that the engine relies on. There must be none yet.
pub async fn webhook<T: WebhookProgresses>(progresses: &T) {
    let [first, second, other] = [progress(1, 1), progress(1, 2), progress(2, 1_000_000)];
    assert_eq!(ok(progresses.progress().await), None);
    assert!(!ok(progresses.advance(Some(first), second).await), "nothing is there");
    assert!(ok(progresses.advance(None, first).await));
    assert!(!ok(progresses.advance(None, second).await), "something is there");
    assert_eq!(ok(progresses.progress().await), Some(first));
    assert!(ok(progresses.advance(Some(first), second).await));
    assert!(!ok(progresses.advance(Some(first), other).await), "somebody was faster");
    // Of the same place in another feed.
    assert!(!ok(progresses.advance(Some(progress(2, 2)), other).await));
    assert_eq!(ok(progresses.progress().await), Some(second));
    assert!(ok(progresses.advance(Some(second), other).await));
    assert_eq!(ok(progresses.progress().await), Some(other));
}
