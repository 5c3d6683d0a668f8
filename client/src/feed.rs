//! Follows the feed of everything that was appended.
//!
//! Delivery is at least once: what was handled is delivered again if the process ended before its checkpoint
//! was kept. The events of a stream come in their order and without a gap, whatever happened before.
//! [`subscribe`] asks for the next page only when everything of the last one was handled, so that a slow
//! handler slows the reading down and nothing piles up.
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

use crate::client::random;
use crate::files::{FileError, read_json, write_json};
use crate::{Client, ClientError, FeedQuery};

/// How far a subscriber has come.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeedProgress {
    /// Which feed it reads; none before the first answer that named one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feed: Option<String>,
    /// The checkpoint behind what was handled last; none before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// Where a subscriber keeps how far it has come.
pub trait Checkpoints: Send {
    /// How far it had come; the default if it begins.
    ///
    /// # Errors
    /// [`FileError`] if that cannot be read.
    fn load(&mut self) -> Result<FeedProgress, FileError>;

    /// Keeps how far it has come, durably when this returns.
    ///
    /// # Errors
    /// [`FileError`] if that cannot be written.
    fn store(&mut self, progress: &FeedProgress) -> Result<(), FileError>;
}

/// In a file, which is written whole or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileCheckpoints {
    path: PathBuf,
}

impl FileCheckpoints {
    /// In this file.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }
}

impl Checkpoints for FileCheckpoints {
    fn load(&mut self) -> Result<FeedProgress, FileError> {
        let advice = "it is no checkpoint of a feed: remove it to begin anew";
        Ok(read_json(&self.path, advice)?.unwrap_or_default())
    }

    fn store(&mut self, progress: &FeedProgress) -> Result<(), FileError> {
        write_json(&self.path, progress)
    }
}

/// In memory: a process that begins again begins where this did.
impl Checkpoints for FeedProgress {
    fn load(&mut self) -> Result<FeedProgress, FileError> {
        Ok(self.clone())
    }

    fn store(&mut self, progress: &FeedProgress) -> Result<(), FileError> {
        self.clone_from(progress);
        Ok(())
    }
}

/// What is read, and until when.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Subscription {
    /// Whether to tell what the events say.
    pub events: bool,
    /// At most so many items in one request.
    pub limit: Option<u32>,
    /// Whether to end at the end of the feed; otherwise it goes on as the feed does.
    pub until_end: bool,
}

/// An item that is delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivery<'a> {
    /// The item.
    pub item: &'a FeedItemView,
    /// How long ago it was indexed, milliseconds, by the clocks of the server and of this machine.
    pub lag_ms: u64,
}

/// Whoever handles what is delivered.
pub trait Subscriber: Send {
    /// Why something could not be handled.
    type Error: Send;

    /// Handles an item. Once this returns without an error, its checkpoint is kept; it may come again if the
    /// process ends before that.
    ///
    /// # Errors
    /// Whatever keeps it from being handled: the subscription ends, and the item comes again with the next.
    fn handle(
        &mut self,
        delivery: Delivery<'_>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;
}

/// Why a subscription ended before its end.
#[derive(Debug, thiserror::Error)]
pub enum SubscribeError<E> {
    /// The feed is another one: it was built anew, or the stack was restored. What was read before says
    /// nothing of it: begin with a checkpoint of nothing.
    #[error("the feed is another one than the checkpoint is of: begin it anew")]
    FeedChanged,
    /// The API cannot be asked, or refuses.
    #[error(transparent)]
    Client(ClientError),
    /// The checkpoint cannot be kept.
    #[error(transparent)]
    Checkpoint(#[from] FileError),
    /// The subscriber failed: the item will be delivered again.
    #[error("what was delivered could not be handled: {0}")]
    Handler(E),
}

impl<E> From<ClientError> for SubscribeError<E> {
    fn from(error: ClientError) -> Self {
        match error.problem_kind() {
            Some(ProblemKind::FeedGenerationChanged) => Self::FeedChanged,
            _ => Self::Client(error),
        }
    }
}

/// Delivers the feed from where its checkpoint is, until its end or without one. While nobody answers, it
/// waits and asks again, unless it is to end. Dropping it ends it between two steps.
///
/// # Errors
/// [`SubscribeError`]; the checkpoint is behind what was handled.
pub async fn subscribe<S: Subscriber>(
    client: &Client,
    subscription: Subscription,
    checkpoints: &mut impl Checkpoints,
    subscriber: &mut S,
) -> Result<FeedProgress, SubscribeError<S::Error>> {
    let mut progress = checkpoints.load()?;
    let mut polling = Polling::default();
    loop {
        let query = FeedQuery {
            after: progress.next,
            feed: progress.feed.clone(),
            limit: subscription.limit,
            events: subscription.events,
        };
        let event = match client.feed(&query).await {
            Ok(page) => {
                let end = page.at_end;
                deliver(page, &mut progress, checkpoints, subscriber).await?;
                match end {
                    true if subscription.until_end => return Ok(progress),
                    true => PollEvent::Quiet,
                    false => {
                        polling = polling.step(PollEvent::Active, 0).0;
                        continue;
                    }
                }
            }
            Err(error) if error.is_offline() && !subscription.until_end => PollEvent::Failed,
            Err(error) => return Err(error.into()),
        };
        let delay_ms;
        (polling, delay_ms) = polling.step(event, random());
        tokio::time::sleep(Duration::from_millis(delay_ms)).await;
    }
}

/// Hands out a page, item by item, and keeps how far it has come.
async fn deliver<S: Subscriber>(
    page: FeedReply,
    progress: &mut FeedProgress,
    checkpoints: &mut impl Checkpoints,
    subscriber: &mut S,
) -> Result<(), SubscribeError<S::Error>> {
    for item in &page.items {
        let lag_ms = now_ms().saturating_sub(item.indexed_ms);
        let handled = subscriber.handle(Delivery { item, lag_ms }).await;
        handled.map_err(SubscribeError::Handler)?;
        advance(progress, page.generation.as_deref(), item.checkpoint, checkpoints)?;
    }
    // Behind the items there may be the end of a partition.
    Ok(advance(progress, page.generation.as_deref(), page.checkpoint, checkpoints)?)
}

fn advance(
    progress: &mut FeedProgress,
    feed: Option<&str>,
    next: u64,
    checkpoints: &mut impl Checkpoints,
) -> Result<(), FileError> {
    // As long as there is no feed, there is nothing to go on from.
    let Some(feed) = feed else { return Ok(()) };
    let now = FeedProgress { feed: Some(feed.to_owned()), next: Some(next) };
    if *progress != now {
        checkpoints.store(&now)?;
        *progress = now;
    }
    Ok(())
}

fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}
