//! Follows the change feed of all spreadsheets in a stack.
//!
//! Delivery is at least once: an item is redelivered if the process ends before saving its
//! checkpoint. Events of one stream are delivered in order and without gaps. [`subscribe`] requests
//! the next page only after all items of the previous page were handled, so a slow handler never
//! builds up a backlog in memory.
//!
//! ```no_run
//! # async fn example() -> Result<(), cellar::feed::SubscribeError<std::io::Error>> {
//! use cellar::feed::{Delivery, FileCheckpoints, Subscriber, Subscription, subscribe};
//!
//! struct Printer;
//!
//! impl Subscriber for Printer {
//!     type Error = std::io::Error;
//!
//!     async fn handle(&mut self, delivery: Delivery<'_>) -> Result<(), std::io::Error> {
//!         for span in &delivery.item.spans {
//!             println!("{} from {}: {:?}", span.stream, span.first, span.kinds);
//!         }
//!         Ok(())
//!     }
//! }
//!
//! let client = cellar::Client::new("http://127.0.0.1:8080", None)?;
//! let mut checkpoints = FileCheckpoints::at("feed.json");
//! subscribe(&client, Subscription::default(), &mut checkpoints, &mut Printer).await?;
//! # Ok(())
//! # }
//! ```

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cellar_api::polling::{PollEvent, Polling};
use cellar_api::{wire::FeedItemView, wire::FeedReply, wire::ProblemKind};
use serde::{Deserialize, Serialize};

use crate::client::{FeedCursor, check_advances, random};
use crate::files::{FileError, StateFile, read_json, write_json};
use crate::{Client, ClientError, FeedQuery};

/// How far a subscriber has read the change feed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeedProgress {
    /// Feed generation to which the checkpoint belongs. `None` before the first page is read.
    #[serde(default, rename = "feed", skip_serializing_if = "Option::is_none")]
    pub generation: Option<String>,
    /// Checkpoint of the last handled item. `None` before the first page is read.
    #[serde(default, rename = "next", skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<u64>,
}

/// Persists a subscriber's progress.
pub trait Checkpoints: Send {
    /// Loads the saved progress, or returns the default progress if none is saved.
    ///
    /// # Errors
    ///
    /// Returns a [`FileError`] if the progress cannot be read.
    fn load(&mut self) -> Result<FeedProgress, FileError>;

    /// Saves the progress durably.
    ///
    /// # Errors
    ///
    /// Returns a [`FileError`] if the progress cannot be written.
    fn store(&mut self, progress: &FeedProgress) -> Result<(), FileError>;
}

/// A file in which a subscriber's progress is saved. It is written atomically.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileCheckpoints {
    path: PathBuf,
}

impl FileCheckpoints {
    /// Creates checkpoints that are saved in the file at `path`. The file may be missing.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }
}

impl Checkpoints for FileCheckpoints {
    fn load(&mut self) -> Result<FeedProgress, FileError> {
        Ok(read_json(&self.path, StateFile::FeedCheckpoint)?.unwrap_or_default())
    }

    fn store(&mut self, progress: &FeedProgress) -> Result<(), FileError> {
        write_json(&self.path, progress)
    }
}

/// Keeps the progress in memory only.
impl Checkpoints for FeedProgress {
    fn load(&mut self) -> Result<FeedProgress, FileError> {
        Ok(self.clone())
    }

    fn store(&mut self, progress: &FeedProgress) -> Result<(), FileError> {
        self.clone_from(progress);
        Ok(())
    }
}

/// Options of [`subscribe`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Subscription {
    /// Whether to include event payloads.
    pub payloads: bool,
    /// Maximum number of items per request.
    pub limit: Option<u32>,
    /// Whether to stop at the end of the feed instead of waiting for new items.
    pub until_end: bool,
}

impl Subscription {
    /// Includes event payloads.
    #[must_use]
    pub fn with_payloads(self) -> Self {
        Self { payloads: true, ..self }
    }

    /// Limits the number of items per request.
    #[must_use]
    pub fn with_limit(self, limit: u32) -> Self {
        Self { limit: Some(limit), ..self }
    }

    /// Stops at the end of the feed instead of waiting for new items.
    #[must_use]
    pub fn until_end(self) -> Self {
        Self { until_end: true, ..self }
    }

    fn query_after(&self, progress: &FeedProgress) -> FeedQuery {
        FeedQuery {
            after: progress.checkpoint,
            generation: progress.generation.clone(),
            limit: self.limit,
            payloads: self.payloads,
        }
    }
}

/// A feed item delivered to a subscriber.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Delivery<'a> {
    /// The feed item.
    pub item: &'a FeedItemView,
    /// Time since the item was added to the feed, in milliseconds. The value is accurate only if
    /// the clocks of the server and this machine are synchronized.
    pub lag_ms: u64,
}

/// Processes delivered feed items.
pub trait Subscriber: Send {
    /// Error returned by [`Subscriber::handle`].
    type Error: Send;

    /// Handles an item. When this method has returned `Ok`, the item's checkpoint is saved. If the
    /// process ends before that, the item is delivered again.
    ///
    /// # Errors
    ///
    /// Any error ends the subscription. The next subscription delivers the item again.
    fn handle(
        &mut self,
        delivery: Delivery<'_>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;
}

/// Error that ends a subscription.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SubscribeError<E> {
    /// The checkpoint belongs to an earlier generation of the feed, because the feed was rebuilt or
    /// the stack was restored. The subscriber must read the feed from its beginning.
    #[error(
        "the checkpoint belongs to an earlier generation of the feed; read the feed from its beginning"
    )]
    GenerationChanged,
    /// A request failed.
    #[error(transparent)]
    Client(ClientError),
    /// The progress cannot be loaded or saved.
    #[error(transparent)]
    Checkpoint(#[from] FileError),
    /// The subscriber failed to handle an item. The next subscription delivers the item again.
    #[error("the subscriber failed to handle an item: {0}")]
    Handler(E),
}

impl<E> From<ClientError> for SubscribeError<E> {
    fn from(error: ClientError) -> Self {
        match error.problem_kind() {
            Some(ProblemKind::FeedGenerationChanged) => Self::GenerationChanged,
            _ => Self::Client(error),
        }
    }
}

/// Delivers the feed items that follow the saved checkpoint. Returns at the end of the feed if
/// [`Subscription::until_end`] is set. Otherwise, waits for new items until the future is dropped,
/// and retries requests while the server is unreachable.
///
/// # Errors
///
/// Returns a [`SubscribeError`] if the subscription fails. All items up to the saved checkpoint
/// have been handled.
pub async fn subscribe<S: Subscriber>(
    client: &Client,
    subscription: Subscription,
    checkpoints: &mut impl Checkpoints,
    subscriber: &mut S,
) -> Result<FeedProgress, SubscribeError<S::Error>> {
    let mut progress = checkpoints.load()?;
    let mut polling = Polling::default();
    loop {
        let query = subscription.query_after(&progress);
        let poll_event = match client.feed_page(&query).await {
            Ok(page) => {
                check_advances(&page, FeedCursor::of_query(&query).as_ref(), client.url())?;
                let is_at_end = page.at_end;
                deliver_page(page, &mut progress, checkpoints, subscriber).await?;
                if !is_at_end {
                    // The next page is requested immediately, so the delay is not used.
                    (polling, _) = polling.step(PollEvent::Active, 0);
                    continue;
                }
                if subscription.until_end {
                    return Ok(progress);
                }
                PollEvent::Quiet
            }
            Err(error) if error.is_offline() && !subscription.until_end => PollEvent::Failed,
            Err(error) => return Err(error.into()),
        };
        let (next_polling, delay_ms) = polling.step(poll_event, random());
        polling = next_polling;
        tokio::time::sleep(Duration::from_millis(delay_ms)).await;
    }
}

/// The progress is saved after each item.
async fn deliver_page<S: Subscriber>(
    page: FeedReply,
    progress: &mut FeedProgress,
    checkpoints: &mut impl Checkpoints,
    subscriber: &mut S,
) -> Result<(), SubscribeError<S::Error>> {
    let generation = page.generation.as_deref();
    for item in &page.items {
        let lag_ms = now_ms().saturating_sub(item.indexed_ms);
        let handled = subscriber.handle(Delivery { item, lag_ms }).await;
        handled.map_err(SubscribeError::Handler)?;
        store_progress(progress, generation, item.checkpoint, checkpoints)?;
    }
    // Save the page's checkpoint as well. It is after the last item if the page reaches the end of
    // a feed partition.
    Ok(store_progress(progress, generation, page.checkpoint, checkpoints)?)
}

/// Saves a checkpoint if it has changed. No-op if the feed is empty, because an empty feed has no
/// generation.
fn store_progress(
    progress: &mut FeedProgress,
    generation: Option<&str>,
    checkpoint: u64,
    checkpoints: &mut impl Checkpoints,
) -> Result<(), FileError> {
    let Some(generation) = generation else { return Ok(()) };
    let new_progress =
        FeedProgress { generation: Some(generation.to_owned()), checkpoint: Some(checkpoint) };
    if *progress != new_progress {
        checkpoints.store(&new_progress)?;
        *progress = new_progress;
    }
    Ok(())
}

fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}
