//! State machine of a webhook invocation, which delivers the feed to a URL.

use crate::feed::{Checkpoint, FeedId};

/// The position up to which the webhook has delivered the feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WebhookProgress {
    /// Generation of the feed.
    pub feed: FeedId,
    /// Feed position of the next item to be delivered.
    pub next: Checkpoint,
}

/// The properties of a page of the feed that determine how the delivery continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// Generation of the feed, or `None` if the feed is empty.
    pub feed: Option<FeedId>,
    /// Feed position of the first item, or `None` if the page is empty.
    pub first: Option<Checkpoint>,
    /// Number of items.
    pub items: usize,
    /// Place after the page.
    pub next: Checkpoint,
}

/// Next action for the driver to perform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryAction {
    /// Read how far the feed has been delivered, with strong consistency.
    ReadProgress,
    ReadPage {
        /// Feed position of the first item to read, or `None` for the start of the feed.
        from: Option<Checkpoint>,
        /// Feed generation of `from`, if known.
        feed: Option<FeedId>,
    },
    /// Send the last page that was read to the receiver.
    Send,
    /// Store how far the feed has been delivered, unless another invocation has changed it since it
    /// was read.
    Advance {
        /// Progress as it was read.
        from: Option<WebhookProgress>,
        /// New progress.
        to: WebhookProgress,
    },
    Finish(DeliveryOutcome),
}

/// Result of a [`DeliveryAction`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryAnswer {
    /// The position up to which the feed has been delivered, or `None` if nothing was ever
    /// delivered.
    Progress(Option<WebhookProgress>),
    Page(Page),
    /// The feed was replaced with another generation.
    AnotherFeed,
    Accepted,
    /// The receiver rejected the page or did not respond in time.
    NotAccepted,
    Advanced,
    /// Another invocation has delivered the page, so nothing was stored.
    Overtaken,
    Failed,
}

/// Outcome of a webhook invocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryOutcome {
    /// All new items were delivered, by this invocation or by another one.
    Done {
        /// Number of items that this invocation delivered.
        items: usize,
    },
    /// There was not enough time to deliver all items. The webhook must be invoked again.
    OutOfTime {
        /// Number of items that this invocation delivered.
        items: usize,
    },
    /// The new items are not visible in the feed yet. The webhook must be invoked again.
    NotVisibleYet,
    /// The receiver did not accept a page. The webhook must be invoked again.
    NotAccepted,
    /// The store failed. The webhook must be invoked again.
    Store,
}

/// A webhook invocation, which delivers the feed up to the new items that triggered it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivering {
    first_announced: Checkpoint,
    last_announced: Checkpoint,
    progress: Option<WebhookProgress>,
    /// Whether the delivery starts again from the beginning, because the feed was replaced.
    restarts_feed: bool,
    is_storing_start: bool,
    page: Option<Page>,
    delivered_items: usize,
}

impl Delivering {
    /// Starts an invocation for new feed items at the positions `first` to `last`.
    ///
    /// If nothing was ever delivered, the delivery starts with the new items. But if they are at
    /// the start of a partition, the delivery starts with the whole feed. Another invocation may
    /// not yet have delivered the items of the preceding partition.
    #[must_use]
    pub fn begin(first: Checkpoint, last: Checkpoint) -> (Self, DeliveryAction) {
        let delivering = Self {
            first_announced: first,
            last_announced: last,
            progress: None,
            restarts_feed: false,
            is_storing_start: false,
            page: None,
            delivered_items: 0,
        };
        (delivering, DeliveryAction::ReadProgress)
    }

    /// Processes the result of the last action and returns the next action. `has_time_left` is
    /// whether there is enough time to deliver another page.
    #[must_use]
    pub fn step(mut self, answer: DeliveryAnswer, has_time_left: bool) -> (Self, DeliveryAction) {
        let action = match answer {
            DeliveryAnswer::Progress(progress) => {
                self.progress = progress;
                self.read_page()
            }
            // The feed was replaced, so the new feed is delivered from its start.
            DeliveryAnswer::AnotherFeed if !self.restarts_feed => {
                self.restarts_feed = true;
                self.read_page()
            }
            DeliveryAnswer::Page(page) => {
                self.page = Some(page);
                self.start_or_send_page(page)
            }
            DeliveryAnswer::Accepted => {
                let page_items = self.page.map_or(0, |page| page.items);
                self.delivered_items = self.delivered_items.saturating_add(page_items);
                self.advance()
            }
            DeliveryAnswer::Advanced if self.is_storing_start => self.send_first_page(),
            DeliveryAnswer::Advanced => self.continue_after_page(has_time_left),
            // The other invocation has delivered the same items and continues the delivery.
            DeliveryAnswer::Overtaken => {
                DeliveryAction::Finish(DeliveryOutcome::Done { items: self.delivered_items })
            }
            DeliveryAnswer::NotAccepted => DeliveryAction::Finish(DeliveryOutcome::NotAccepted),
            DeliveryAnswer::AnotherFeed | DeliveryAnswer::Failed => {
                DeliveryAction::Finish(DeliveryOutcome::Store)
            }
        };
        (self, action)
    }

    fn read_page(&self) -> DeliveryAction {
        if self.restarts_feed {
            return DeliveryAction::ReadPage { from: None, feed: None };
        }
        if let Some(WebhookProgress { feed, next }) = self.progress {
            return DeliveryAction::ReadPage { from: Some(next), feed: Some(feed) };
        }
        let is_at_partition_start = self.first_announced.offset() == 0;
        let from = if is_at_partition_start { None } else { Some(self.first_announced) };
        DeliveryAction::ReadPage { from, feed: None }
    }

    fn start_or_send_page(&mut self, page: Page) -> DeliveryAction {
        let Some(first) = page.first else { return self.advance_or_finish(page) };
        match page.feed {
            // Without a stored position, a concurrent invocation for later items would start after
            // the items of this page. If this delivery then failed, they would never be delivered.
            Some(feed) if self.progress.is_none() => {
                self.is_storing_start = true;
                DeliveryAction::Advance { from: None, to: WebhookProgress { feed, next: first } }
            }
            _ => DeliveryAction::Send,
        }
    }

    /// Handles an empty page. If a later position has been reached, such as the next partition, it
    /// is stored. Otherwise, the invocation ends.
    fn advance_or_finish(&self, page: Page) -> DeliveryAction {
        let is_past_progress = self.progress.is_some_and(|progress| progress.next < page.next);
        if self.restarts_feed || is_past_progress { self.advance() } else { self.finish() }
    }

    /// The position of this page has been stored before.
    fn send_first_page(&mut self) -> DeliveryAction {
        self.is_storing_start = false;
        if let Some(Page { feed: Some(feed), first: Some(next), .. }) = self.page {
            self.progress = Some(WebhookProgress { feed, next });
        }
        DeliveryAction::Send
    }

    fn advance(&self) -> DeliveryAction {
        let Some(Page { feed: Some(feed), next, .. }) = self.page else { return self.finish() };
        DeliveryAction::Advance { from: self.progress, to: WebhookProgress { feed, next } }
    }

    /// Reads the next page unless the last page was empty or there is not enough time. Otherwise,
    /// the invocation ends.
    fn continue_after_page(&mut self, has_time_left: bool) -> DeliveryAction {
        let Some(Page { feed: Some(feed), next, items: page_items, .. }) = self.page else {
            return self.finish();
        };
        self.progress = Some(WebhookProgress { feed, next });
        self.restarts_feed = false;
        if page_items == 0 {
            return self.finish();
        }
        if has_time_left {
            return self.read_page();
        }
        if self.has_delivered_announced() {
            return self.finish();
        }
        DeliveryAction::Finish(DeliveryOutcome::OutOfTime { items: self.delivered_items })
    }

    fn has_delivered_announced(&self) -> bool {
        self.progress.is_some_and(|progress| progress.next > self.last_announced)
    }

    fn finish(&self) -> DeliveryAction {
        if self.has_delivered_announced() {
            return DeliveryAction::Finish(DeliveryOutcome::Done { items: self.delivered_items });
        }
        DeliveryAction::Finish(DeliveryOutcome::NotVisibleYet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEED: FeedId = FeedId([1; 8]);
    const OTHER: FeedId = FeedId([2; 8]);

    fn at(partition: u64, offset: u64) -> Checkpoint {
        Checkpoint::at(partition, offset).unwrap()
    }

    fn progress(feed: FeedId, next: Checkpoint) -> WebhookProgress {
        WebhookProgress { feed, next }
    }

    /// Returns a page of consecutive items that ends before `next`.
    fn page(feed: FeedId, items: usize, next: Checkpoint) -> DeliveryAnswer {
        let first = next.number() - u64::try_from(items).unwrap();
        let first = (items > 0).then(|| Checkpoint::new(first).unwrap());
        DeliveryAnswer::Page(Page { feed: Some(feed), first, items, next })
    }

    /// Runs an invocation with predefined answers and checks the action after each answer.
    fn assert_does(
        (first, last): (Checkpoint, Checkpoint),
        script: impl IntoIterator<Item = (DeliveryAnswer, DeliveryAction)>,
    ) {
        let (mut call, action) = Delivering::begin(first, last);
        assert_eq!(action, DeliveryAction::ReadProgress);
        for (number, (answer, expected)) in script.into_iter().enumerate() {
            let action;
            (call, action) = call.step(answer, true);
            assert_eq!(action, expected, "{number}: {answer:?}");
        }
    }

    fn read(from: Checkpoint, feed: Option<FeedId>) -> DeliveryAction {
        DeliveryAction::ReadPage { from: Some(from), feed }
    }

    #[test]
    fn the_first_invocation_starts_with_the_announced_items() {
        let (begun, end) = (progress(FEED, at(0, 7)), at(0, 9));
        assert_does(
            (at(0, 7), at(0, 8)),
            [
                (DeliveryAnswer::Progress(None), read(at(0, 7), None)),
                (page(FEED, 2, end), DeliveryAction::Advance { from: None, to: begun }),
                (DeliveryAnswer::Advanced, DeliveryAction::Send),
                (
                    DeliveryAnswer::Accepted,
                    DeliveryAction::Advance { from: Some(begun), to: progress(FEED, end) },
                ),
                (DeliveryAnswer::Advanced, read(end, Some(FEED))),
                (page(FEED, 0, end), DeliveryAction::Finish(DeliveryOutcome::Done { items: 2 })),
            ],
        );
    }

    #[test]
    fn a_first_invocation_at_the_start_of_a_partition_starts_with_the_feed() {
        let (begun, end) = (progress(FEED, at(3, 0)), at(4, 0));
        let whole = DeliveryAction::ReadPage { from: None, feed: None };
        let page = Page { feed: Some(FEED), first: Some(at(3, 0)), items: 7, next: end };
        assert_does(
            (at(4, 0), at(4, 0)),
            [
                (DeliveryAnswer::Progress(None), whole),
                (DeliveryAnswer::Page(page), DeliveryAction::Advance { from: None, to: begun }),
                (DeliveryAnswer::Advanced, DeliveryAction::Send),
                (
                    DeliveryAnswer::Accepted,
                    DeliveryAction::Advance { from: Some(begun), to: progress(FEED, end) },
                ),
                (DeliveryAnswer::Advanced, read(end, Some(FEED))),
            ],
        );
    }

    #[test]
    fn missed_items_are_delivered_first_and_stored_after_acceptance() {
        let (there, next) = (progress(FEED, at(0, 3)), progress(FEED, at(0, 5)));
        assert_does(
            (at(0, 9), at(0, 9)),
            [
                (DeliveryAnswer::Progress(Some(there)), read(at(0, 3), Some(FEED))),
                (page(FEED, 2, at(0, 5)), DeliveryAction::Send),
                (DeliveryAnswer::Accepted, DeliveryAction::Advance { from: Some(there), to: next }),
                (DeliveryAnswer::Advanced, read(at(0, 5), Some(FEED))),
                (page(FEED, 5, at(0, 10)), DeliveryAction::Send),
                (DeliveryAnswer::NotAccepted, DeliveryAction::Finish(DeliveryOutcome::NotAccepted)),
            ],
        );
    }

    #[test]
    fn invisible_items_need_another_invocation() {
        let there = progress(FEED, at(0, 3));
        let nothing =
            (page(FEED, 0, at(0, 3)), DeliveryAction::Finish(DeliveryOutcome::NotVisibleYet));
        assert_does(
            (at(0, 3), at(0, 3)),
            [(DeliveryAnswer::Progress(Some(there)), read(at(0, 3), Some(FEED))), nothing],
        );
        let nothing =
            (page(FEED, 0, at(0, 3)), DeliveryAction::Finish(DeliveryOutcome::NotVisibleYet));
        assert_does(
            (at(0, 3), at(0, 3)),
            [(DeliveryAnswer::Progress(None), read(at(0, 3), None)), nothing],
        );
        // All items of the batch have already been delivered.
        let there = progress(FEED, at(0, 4));
        assert_does(
            (at(0, 3), at(0, 3)),
            [
                (DeliveryAnswer::Progress(Some(there)), read(at(0, 4), Some(FEED))),
                (
                    page(FEED, 0, at(0, 4)),
                    DeliveryAction::Finish(DeliveryOutcome::Done { items: 0 }),
                ),
            ],
        );
    }

    #[test]
    fn another_feed_is_delivered_from_its_start() {
        let there = progress(FEED, at(0, 3));
        let begun = progress(OTHER, at(4, 1));
        assert_does(
            (at(4, 0), at(4, 0)),
            [
                (DeliveryAnswer::Progress(Some(there)), read(at(0, 3), Some(FEED))),
                (DeliveryAnswer::AnotherFeed, DeliveryAction::ReadPage { from: None, feed: None }),
                (page(OTHER, 1, at(4, 1)), DeliveryAction::Send),
                (
                    DeliveryAnswer::Accepted,
                    DeliveryAction::Advance { from: Some(there), to: begun },
                ),
                (DeliveryAnswer::Advanced, read(at(4, 1), Some(OTHER))),
                (
                    page(OTHER, 0, at(4, 1)),
                    DeliveryAction::Finish(DeliveryOutcome::Done { items: 1 }),
                ),
            ],
        );
        assert_does(
            (at(4, 1), at(4, 1)),
            [
                (DeliveryAnswer::Progress(None), read(at(4, 1), None)),
                (DeliveryAnswer::AnotherFeed, DeliveryAction::ReadPage { from: None, feed: None }),
                (DeliveryAnswer::AnotherFeed, DeliveryAction::Finish(DeliveryOutcome::Store)),
            ],
        );
    }

    #[test]
    fn the_end_of_a_partition_is_passed_without_a_delivery() {
        let (there, next) = (progress(FEED, at(0, 3)), progress(FEED, at(1, 0)));
        assert_does(
            (at(0, 2), at(0, 2)),
            [
                (DeliveryAnswer::Progress(Some(there)), read(at(0, 3), Some(FEED))),
                (page(FEED, 0, at(1, 0)), DeliveryAction::Advance { from: Some(there), to: next }),
                (
                    DeliveryAnswer::Advanced,
                    DeliveryAction::Finish(DeliveryOutcome::Done { items: 0 }),
                ),
            ],
        );
    }

    #[test]
    fn an_overtaken_invocation_stops_and_a_late_one_reports_remaining_items() {
        let there = progress(FEED, at(0, 3));
        let begin = |last| Delivering::begin(at(0, 3), last).0;
        let sent = |call: Delivering| {
            let (call, _) = call.step(DeliveryAnswer::Progress(Some(there)), true);
            let (call, _) = call.step(page(FEED, 1, at(0, 4)), true);
            call.step(DeliveryAnswer::Accepted, false).0
        };
        let overtaken = sent(begin(at(0, 9))).step(DeliveryAnswer::Overtaken, true).1;
        assert_eq!(overtaken, DeliveryAction::Finish(DeliveryOutcome::Done { items: 1 }));
        let more = sent(begin(at(0, 9))).step(DeliveryAnswer::Advanced, false).1;
        assert_eq!(more, DeliveryAction::Finish(DeliveryOutcome::OutOfTime { items: 1 }));
        let enough = sent(begin(at(0, 3))).step(DeliveryAnswer::Advanced, false).1;
        assert_eq!(enough, DeliveryAction::Finish(DeliveryOutcome::Done { items: 1 }));
        let failed = begin(at(0, 3)).step(DeliveryAnswer::Failed, true).1;
        assert_eq!(failed, DeliveryAction::Finish(DeliveryOutcome::Store));
    }
}
