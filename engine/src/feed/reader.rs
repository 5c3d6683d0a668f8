//! Reads the feed, from a checkpoint on.

use std::sync::Arc;

use cellar_base::limits::{FEED_PARTITIONS_PER_INCARNATION, MAX_FEED_PAGE_ITEMS};
use cellar_catalog::feed::{Checkpoint, Content, Feed, FeedId, Item, Span};

use crate::ports::{Index, PortError};

/// Reads the feed of one stack.
#[derive(Clone)]
pub struct FeedReader {
    index: Arc<dyn Index>,
    tables_incarnation: u32,
}

/// Some of the feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedPage {
    /// Which feed it is; `None` as long as nothing was indexed.
    pub feed: Option<FeedId>,
    /// What was appended, and where the feed has it; places may be left out between them.
    pub items: Vec<FeedItem>,
    /// The place to read from next.
    pub next: Checkpoint,
    /// Whether there was nothing behind it.
    pub is_end: bool,
}

/// An item of the feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedItem {
    /// Where it stands.
    pub at: Checkpoint,
    /// When it was indexed, Unix milliseconds.
    pub time_ms: u64,
    /// What was appended.
    pub spans: Vec<Span>,
}

/// Why the feed cannot be read from there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FeedError {
    /// A checkpoint of another feed.
    #[error(
        "the checkpoint is of another feed, or of before this one was built anew: begin at its start"
    )]
    AnotherFeed,
    /// A checkpoint that the feed has not come to.
    #[error("the checkpoint is after the end of the feed")]
    Beyond,
    /// A place is missing.
    #[error("the feed is damaged at {at}; rebuild it with `synth feed rebuild`")]
    Damaged {
        /// What is missing.
        at: Checkpoint,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] PortError),
}

/// The items of a partition from a place on, without a hole.
struct Run {
    items: Vec<(u64, Item)>,
    /// Whether there is nothing.
    is_end: bool,
}

impl FeedReader {
    /// A reader of the index in tables of this partition.
    #[must_use]
    pub fn new(index: Arc<dyn Index>, tables_incarnation: u32) -> Self {
        Self { index, tables_incarnation }
    }

    /// Some of the feed from a place on, or from its start: at most `limit` items, and no more than
    /// `MAX_FEED_PAGE_ITEMS`. With `feed`, it is an error if that is not the feed that is there.
    ///
    /// One look at the list of partitions, and usually one at the items: half a read unit each if the items are
    /// small.
    ///
    /// # Errors
    /// [`FeedError`].
    pub async fn page(
        &self,
        from: Option<Checkpoint>,
        feed: Option<FeedId>,
        limit: u32,
    ) -> Result<FeedPage, FeedError> {
        let limit = limit.clamp(1, MAX_FEED_PAGE_ITEMS);
        let Some((newest, there)) = self.index.newest_partition(false).await? else {
            return self.nothing(from, feed);
        };
        let (newest, there) = match check(from, feed, newest, there) {
            Ok(()) => (newest, there),
            // What was just begun may not be seen yet.
            Err(_) => {
                let now = self.index.newest_partition(true).await?.unwrap_or((newest, there));
                check(from, feed, now.0, now.1)?;
                now
            }
        };
        let start = Checkpoint::at(there.first_partition, 0).map_err(|_| FeedError::Beyond)?;
        let mut page = FeedPage {
            feed: Some(there.id),
            items: Vec::new(),
            next: from.unwrap_or(start),
            is_end: false,
        };
        while !page.is_end && page.items.is_empty() {
            self.read(&mut page, newest, limit).await?;
        }
        Ok(page)
    }

    /// The first place of a stack in which nothing was indexed yet.
    fn nothing(
        &self,
        from: Option<Checkpoint>,
        feed: Option<FeedId>,
    ) -> Result<FeedPage, FeedError> {
        let first =
            u64::from(self.tables_incarnation).saturating_mul(FEED_PARTITIONS_PER_INCARNATION);
        let start = Checkpoint::at(first, 0).map_err(|_| FeedError::Beyond)?;
        match from {
            _ if feed.is_some() => Err(FeedError::AnotherFeed),
            Some(from) if from < start => Err(FeedError::AnotherFeed),
            Some(from) if from > start => Err(FeedError::Beyond),
            _ => Ok(FeedPage { feed: None, items: Vec::new(), next: start, is_end: true }),
        }
    }

    /// Adds what stands from the page's end on, in one partition.
    async fn read(&self, page: &mut FeedPage, newest: u64, limit: u32) -> Result<(), FeedError> {
        let from = page.next;
        let Run { items, is_end } = self.run(from, newest, limit).await?;
        page.is_end = is_end;
        for (offset, item) in items {
            let at = Checkpoint::at(from.partition(), offset).map_err(|_| FeedError::Beyond)?;
            page.next = at.next().map_err(|_| FeedError::Beyond)?;
            match item.content {
                Content::Spans(spans) => {
                    page.items.push(FeedItem { at, time_ms: item.time_ms, spans });
                }
                Content::End(_) => {
                    let next = from.partition().saturating_add(1);
                    page.next = Checkpoint::at(next, 0).map_err(|_| FeedError::Beyond)?;
                    page.is_end = false;
                }
            }
        }
        Ok(())
    }

    /// The items of a partition from a place on. What is not read consistently may not be there yet: then it is
    /// read again so that it is.
    async fn run(&self, from: Checkpoint, newest: u64, limit: u32) -> Result<Run, FeedError> {
        match self.run_once(from, newest, limit, false).await {
            Err(FeedError::Beyond | FeedError::Damaged { .. }) => {
                self.run_once(from, newest, limit, true).await
            }
            run => run,
        }
    }

    /// Reads the place before, too: it is there if the checkpoint is one.
    async fn run_once(
        &self,
        from: Checkpoint,
        newest: u64,
        limit: u32,
        consistent: bool,
    ) -> Result<Run, FeedError> {
        let before = u32::from(from.offset() > 0);
        let first = Checkpoint::new(from.number().saturating_sub(u64::from(before)));
        let first = first.map_err(|_| FeedError::Beyond)?;
        let mut items = self.index.items(first, limit.saturating_add(before), consistent).await?;
        let hole = items.iter().zip(first.offset()..).find(|((offset, _), place)| offset != place);
        if let Some((_, place)) = hole {
            let at = Checkpoint::at(from.partition(), place).unwrap_or(from);
            return Err(FeedError::Damaged { at });
        }
        let is_newest = from.partition() >= newest;
        match (items.is_empty() && before > 0, is_newest) {
            (true, true) => return Err(FeedError::Beyond),
            (true, false) => return Err(FeedError::Damaged { at: first }),
            (false, _) => {}
        }
        items.drain(..usize::try_from(before).unwrap_or_default().min(items.len()));
        let is_end = items.is_empty();
        match is_end && !is_newest {
            // A partition that is not the newest has an end.
            true => Err(FeedError::Damaged { at: from }),
            false => Ok(Run { items, is_end }),
        }
    }
}

/// Whether there is such a place in the feed that is there.
fn check(
    from: Option<Checkpoint>,
    feed: Option<FeedId>,
    newest: u64,
    there: Feed,
) -> Result<(), FeedError> {
    if feed.is_some_and(|feed| feed != there.id) {
        return Err(FeedError::AnotherFeed);
    }
    let Some(from) = from else { return Ok(()) };
    if from.partition() < there.first_partition {
        return Err(FeedError::AnotherFeed);
    }
    // Behind the end of a partition the next one may not have begun.
    let is_next = from.partition() == newest.saturating_add(1) && from.offset() == 0;
    match from.partition() <= newest || is_next {
        true => Ok(()),
        false => Err(FeedError::Beyond),
    }
}
