//! Contract tests for the stored webhook progress.

use cellar_catalog::feed::{Checkpoint, FeedId};
use cellar_catalog::webhook::WebhookProgress;

use crate::ports::{PortError, WebhookProgresses};

fn progress(feed: u8, next: u64) -> WebhookProgress {
    let next = Checkpoint::new(next).unwrap_or_else(|error| panic!("{error}"));
    WebhookProgress { feed: FeedId([feed; 8]), next }
}

fn expect_ok<T>(result: Result<T, PortError>) -> T {
    result.unwrap_or_else(|error| panic!("{error}"))
}

/// Checks a store of the webhook's progress. The store must be empty.
pub async fn webhook<T: WebhookProgresses>(progresses: &T) {
    let [first, second, other] = [progress(1, 1), progress(1, 2), progress(2, 1_000_000)];
    assert_eq!(expect_ok(progresses.progress().await), None);
    assert!(!expect_ok(progresses.advance(Some(first), second).await), "no progress is stored");
    assert!(expect_ok(progresses.advance(None, first).await));
    assert!(!expect_ok(progresses.advance(None, second).await), "a progress is stored");
    assert_eq!(expect_ok(progresses.progress().await), Some(first));
    assert!(expect_ok(progresses.advance(Some(first), second).await));
    assert!(!expect_ok(progresses.advance(Some(first), other).await), "the progress has changed");
    // A checkpoint of another feed does not match the stored progress, even if its number is the
    // same.
    assert!(!expect_ok(progresses.advance(Some(progress(2, 2)), other).await));
    assert_eq!(expect_ok(progresses.progress().await), Some(second));
    assert!(expect_ok(progresses.advance(Some(second), other).await));
    assert_eq!(expect_ok(progresses.progress().await), Some(other));
}
