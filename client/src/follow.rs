//! Follows a spreadsheet: reports log entries when they are appended.

use std::collections::VecDeque;
use std::time::Duration;

use cellar_api::polling::{PollEvent, Polling};
use cellar_api::wire::{EntriesReply, EntryView, Head, ProblemKind};
use cellar_base::position::Position;
use futures_util::stream;

use crate::client::{check_advances, random};
use crate::{ClientError, ItemStream, Pokes, Spreadsheet};

/// An event in a followed spreadsheet.
#[derive(Debug)]
#[non_exhaustive]
pub enum FollowEvent {
    /// A log entry was appended.
    Entry(Box<EntryView>),
    /// Log entries were skipped, because there were too many or the tables were restored to an
    /// earlier time. A program that displays cells must read them again.
    Skipped {
        /// Entries after this position are reported again.
        to: Position,
        /// Whether the tables were restored.
        restored: bool,
    },
    /// The server is unreachable. Requests are retried until the server is reachable again.
    Offline(ClientError),
    /// The server is reachable again.
    Online,
}

impl Spreadsheet {
    /// Reports the log entries after a position, oldest first, and then waits for new entries. If
    /// `after` is `None`, starts at the newest position. The stream ends only if an error occurs.
    ///
    /// New entries are found by polling at the intervals of [`cellar_api::polling`]. If the server
    /// sends a poke, the stream polls immediately.
    pub fn follow(&self, after: Option<Position>) -> ItemStream<FollowEvent> {
        self.follow_with(after, None)
    }

    /// Like [`Spreadsheet::follow`], but starts at a head, which also contains the incarnation of
    /// the position. If the tables were restored since the head was read, the first event is
    /// [`FollowEvent::Skipped`].
    pub fn follow_from(&self, head: Head) -> ItemStream<FollowEvent> {
        self.follow_with(None, Some(head))
    }

    fn follow_with(
        &self,
        after: Option<Position>,
        reported: Option<Head>,
    ) -> ItemStream<FollowEvent> {
        let follower = Follower {
            spreadsheet: self.clone(),
            after,
            reported,
            unreported_head: None,
            polling: Polling::default(),
            pokes: self.pokes(),
            delay: Duration::ZERO,
            events: VecDeque::new(),
        };
        ItemStream::new(stream::try_unfold(follower, |mut follower| async move {
            let event = follower.next_event().await?;
            Ok(Some((event, follower)))
        }))
    }
}

struct Follower {
    spreadsheet: Spreadsheet,
    /// Position after which entries are reported, if the caller specified one.
    after: Option<Position>,
    /// Position of the newest reported entry, and its incarnation. `None` before the first poll.
    reported: Option<Head>,
    /// The newest known position, or `None` if all entries up to it were reported.
    unreported_head: Option<Head>,
    polling: Polling,
    pokes: Pokes,
    delay: Duration,
    events: VecDeque<FollowEvent>,
}

impl Follower {
    async fn next_event(&mut self) -> Result<FollowEvent, ClientError> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(event);
            }
            self.wait().await;
            let poll_event = match self.poll().await {
                Ok(poll_event) => {
                    if self.polling.is_failing() {
                        self.events.push_front(FollowEvent::Online);
                    }
                    poll_event
                }
                Err(error) if error.is_offline() => {
                    if !self.polling.is_failing() {
                        self.events.push_back(FollowEvent::Offline(error));
                    }
                    PollEvent::Failed
                }
                Err(error) => return Err(error),
            };
            self.schedule_next_poll(poll_event);
        }
    }

    /// A poke ends the wait early.
    async fn wait(&mut self) {
        if self.delay.is_zero() {
            return;
        }
        let known_position = self.reported.map_or(Position::FIRST, |reported| reported.head);
        let poke = self.pokes.wait_beyond(known_position);
        // Ignore whether the delay has passed or a poke has arrived, because a poll is due in both
        // cases.
        let _ = tokio::time::timeout(self.delay, poke).await;
    }

    fn schedule_next_poll(&mut self, poll_event: PollEvent) {
        let (next_polling, delay_ms) = self.polling.step(poll_event, random());
        self.polling = next_polling;
        let has_more_entries = self.unreported_head.is_some() && poll_event != PollEvent::Failed;
        self.delay = Duration::from_millis(if has_more_entries { 0 } else { delay_ms });
    }

    async fn poll(&mut self) -> Result<PollEvent, ClientError> {
        let reported = self.load_reported_head().await?;
        let newest = match self.unreported_head {
            Some(newest) => newest,
            None => match self.spreadsheet.head_if_changed(reported).await? {
                Some(newest) => newest,
                None => return Ok(PollEvent::Quiet),
            },
        };
        if newest.incarnation != reported.incarnation {
            self.skip_to(newest, true);
            return Ok(PollEvent::Active);
        }
        self.unreported_head = Some(newest);
        match self.spreadsheet.entries_page(reported.head).await {
            Ok(page) => {
                check_advances(&page, Some(&reported.head), self.spreadsheet.client().url())?;
                self.report_page(page, reported, newest);
            }
            Err(error) if error.problem_kind() == Some(ProblemKind::ReloadRequired) => {
                self.skip_to(newest, false);
            }
            Err(error) => return Err(error),
        }
        Ok(PollEvent::Active)
    }

    /// Before the first poll, this is the position that the caller specified, or the newest
    /// position if there is none.
    async fn load_reported_head(&mut self) -> Result<Head, ClientError> {
        if let Some(reported) = self.reported {
            return Ok(reported);
        }
        let newest = self.spreadsheet.head().await?;
        let reported = Head { head: self.after.unwrap_or(newest.head), ..newest };
        self.reported = Some(reported);
        Ok(reported)
    }

    /// The page starts after `reported` and may end after `newest`.
    fn report_page(&mut self, page: EntriesReply, reported: Head, newest: Head) {
        match page.entries.last().map(|entry| entry.position) {
            Some(last_position) if page.incarnation == reported.incarnation => {
                let entries = page.entries.into_iter().map(Box::new);
                self.events.extend(entries.map(FollowEvent::Entry));
                self.reported = Some(Head { head: last_position, ..reported });
                if last_position >= newest.head {
                    self.unreported_head = None;
                }
            }
            // The tables were restored, or the page is empty. The next poll determines which of
            // them is the case.
            _ => self.unreported_head = None,
        }
    }

    /// Entries after `newest` are reported again.
    fn skip_to(&mut self, newest: Head, restored: bool) {
        self.events.push_back(FollowEvent::Skipped { to: newest.head, restored });
        self.reported = Some(newest);
        self.unreported_head = None;
    }
}
