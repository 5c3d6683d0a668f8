//! The decisions of one call of the webhook.

use crate::feed::{Checkpoint, FeedId};

/// How far the webhook has delivered the feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WebhookProgress {
    /// Which feed.
    pub feed: FeedId,
    /// The place to go on from.
    pub next: Checkpoint,
}

/// A page of the feed, as far as the decisions need it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// Which feed it is of; `None` as long as nothing was indexed.
    pub feed: Option<FeedId>,
    /// Where its first item stands; `None` if it has none.
    pub first: Option<Checkpoint>,
    /// How many items it has.
    pub items: usize,
    /// The place behind it.
    pub next: Checkpoint,
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryAction {
    /// Read how far it has come, consistently.
    ReadProgress,
    /// Read a page of the feed from a place on, or from its beginning.
    ReadPage {
        /// The place.
        from: Option<Checkpoint>,
        /// The feed that the place is of.
        feed: Option<FeedId>,
    },
    /// Send the page that was read last.
    Send,
    /// Keep how far it has come, unless somebody has meanwhile.
    Advance {
        /// What is there, as was read.
        from: Option<WebhookProgress>,
        /// What is to be there.
        to: WebhookProgress,
    },
    /// That is all.
    Finish(DeliveryOutcome),
}

/// What came of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryAnswer {
    /// How far it has come; `None` if nothing was ever delivered.
    Progress(Option<WebhookProgress>),
    /// A page.
    Page(Page),
    /// The feed is another one.
    AnotherFeed,
    /// The receiver has accepted the page.
    Accepted,
    /// The receiver has not: it refused, did not answer, or not in time.
    NotAccepted,
    /// It is kept.
    Advanced,
    /// Somebody else has come further: nothing was kept.
    Overtaken,
    /// The store failed.
    Failed,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryOutcome {
    /// Everything that it was called for has been delivered, by it or by somebody else.
    Done {
        /// Items that it has delivered itself.
        items: usize,
    },
    /// There is more, and no time for it: call again.
    OutOfTime {
        /// Items that it has delivered.
        items: usize,
    },
    /// What it was called for is not to be seen yet: call again.
    NotYetThere,
    /// The receiver did not accept a page: call again.
    NotAccepted,
    /// The store failed: call again.
    Store,
}

/// One call: delivers the feed from where the last call ended, at least to the items that it was called for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivering {
    woken_by: (Checkpoint, Checkpoint),
    progress: Option<WebhookProgress>,
    /// Whether the place is the beginning of whatever feed there is.
    anew: bool,
    /// Whether its very beginning is being kept.
    beginning: bool,
    page: Option<Page>,
    items: usize,
}

impl Delivering {
    /// Begins a call for items that were just indexed: the first and the last place of them. If nothing was
    /// ever delivered, it begins with them and not with the feed; with the feed if they begin a partition, as the
    /// end of the one before may be in another shard of the table's stream, on its way.
    #[must_use]
    pub fn begin(first: Checkpoint, last: Checkpoint) -> (Self, DeliveryAction) {
        let begun = Self {
            woken_by: (first, last),
            progress: None,
            anew: false,
            beginning: false,
            page: None,
            items: 0,
        };
        (begun, DeliveryAction::ReadProgress)
    }

    /// Takes what came of the last action; `time_left` says whether there is time for another page.
    #[must_use]
    pub fn step(mut self, answer: DeliveryAnswer, time_left: bool) -> (Self, DeliveryAction) {
        let action = match answer {
            DeliveryAnswer::Progress(progress) => {
                self.progress = progress;
                self.read()
            }
            // What was delivered of the former one says nothing of this one: all of it is delivered.
            DeliveryAnswer::AnotherFeed if !self.anew => {
                self.anew = true;
                self.read()
            }
            DeliveryAnswer::Page(page) => {
                self.page = Some(page);
                self.look()
            }
            DeliveryAnswer::Accepted => {
                let items = self.page.map_or(0, |page| page.items);
                self.items = self.items.saturating_add(items);
                self.advance()
            }
            DeliveryAnswer::Advanced if self.beginning => self.begun(),
            DeliveryAnswer::Advanced => self.advanced(time_left),
            // Whoever it was has delivered what this one has: they go on.
            DeliveryAnswer::Overtaken => {
                DeliveryAction::Finish(DeliveryOutcome::Done { items: self.items })
            }
            DeliveryAnswer::NotAccepted => DeliveryAction::Finish(DeliveryOutcome::NotAccepted),
            DeliveryAnswer::AnotherFeed | DeliveryAnswer::Failed => {
                DeliveryAction::Finish(DeliveryOutcome::Store)
            }
        };
        (self, action)
    }

    fn read(&self) -> DeliveryAction {
        if self.anew {
            return DeliveryAction::ReadPage { from: None, feed: None };
        }
        match self.progress {
            Some(progress) => {
                DeliveryAction::ReadPage { from: Some(progress.next), feed: Some(progress.feed) }
            }
            None => {
                let from = Some(self.woken_by.0).filter(|first| first.offset() > 0);
                DeliveryAction::ReadPage { from, feed: None }
            }
        }
    }

    fn look(&mut self) -> DeliveryAction {
        let Some(page) = self.page else { return self.ended() };
        match (page.feed, page.first, self.progress) {
            // Before the receiver has it: otherwise a call for something later would begin there.
            (Some(feed), Some(next), None) => {
                self.beginning = true;
                return DeliveryAction::Advance { from: None, to: WebhookProgress { feed, next } };
            }
            (_, Some(_), _) => return DeliveryAction::Send,
            (_, None, _) => {}
        }
        let is_further = self.progress.is_none_or(|progress| progress.next < page.next);
        // There may be nothing but the end of a partition between.
        if self.anew || (is_further && self.progress.is_some()) {
            return self.advance();
        }
        self.ended()
    }

    fn begun(&mut self) -> DeliveryAction {
        self.beginning = false;
        if let Some(Page { feed: Some(feed), first: Some(next), .. }) = self.page {
            self.progress = Some(WebhookProgress { feed, next });
        }
        DeliveryAction::Send
    }

    fn advance(&self) -> DeliveryAction {
        let Some(Page { feed: Some(feed), next, .. }) = self.page else { return self.ended() };
        DeliveryAction::Advance { from: self.progress, to: WebhookProgress { feed, next } }
    }

    fn advanced(&mut self, time_left: bool) -> DeliveryAction {
        let Some(Page { feed: Some(feed), next, items, .. }) = self.page else {
            return self.ended();
        };
        self.progress = Some(WebhookProgress { feed, next });
        self.anew = false;
        match (items, time_left) {
            (0, _) => self.ended(),
            (_, true) => self.read(),
            (_, false) if next > self.woken_by.1 => self.ended(),
            (_, false) => DeliveryAction::Finish(DeliveryOutcome::OutOfTime { items: self.items }),
        }
    }

    /// At the end of the feed, as far as it is to be seen.
    fn ended(&self) -> DeliveryAction {
        let reached = self.progress.is_some_and(|progress| progress.next > self.woken_by.1);
        DeliveryAction::Finish(match reached {
            true => DeliveryOutcome::Done { items: self.items },
            false => DeliveryOutcome::NotYetThere,
        })
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

    /// A page whose items follow each other.
    fn page(feed: FeedId, items: usize, next: Checkpoint) -> DeliveryAnswer {
        let first = next.number() - u64::try_from(items).unwrap();
        let first = (items > 0).then(|| Checkpoint::new(first).unwrap());
        DeliveryAnswer::Page(Page { feed: Some(feed), first, items, next })
    }

    /// Answers that are given, and what is done after each.
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
    fn the_first_call_begins_with_what_it_was_called_for() {
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
    fn a_first_call_for_the_beginning_of_a_partition_begins_with_the_feed() {
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
    fn what_was_missed_comes_first_and_nothing_is_kept_before_it_is_accepted() {
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
    fn what_is_not_to_be_seen_yet_is_asked_for_again() {
        let there = progress(FEED, at(0, 3));
        let nothing =
            (page(FEED, 0, at(0, 3)), DeliveryAction::Finish(DeliveryOutcome::NotYetThere));
        assert_does(
            (at(0, 3), at(0, 3)),
            [(DeliveryAnswer::Progress(Some(there)), read(at(0, 3), Some(FEED))), nothing],
        );
        let nothing =
            (page(FEED, 0, at(0, 3)), DeliveryAction::Finish(DeliveryOutcome::NotYetThere));
        assert_does(
            (at(0, 3), at(0, 3)),
            [(DeliveryAnswer::Progress(None), read(at(0, 3), None)), nothing],
        );
        // A batch that comes again finds it done.
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
    fn another_feed_is_delivered_from_its_beginning() {
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
    fn an_end_of_a_partition_is_passed_without_a_delivery() {
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
    fn whoever_is_overtaken_stops_and_without_time_it_is_said_whether_there_is_more() {
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
