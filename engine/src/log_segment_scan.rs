//! Scans the Segment table and groups the segments by log.

use std::collections::VecDeque;

use cellar_log::segment::Segment;

use crate::ports::{Clock, PortError, Retention, ScanKey};
use crate::retry::retry_temporary_errors;

pub(crate) struct LogSegmentScan<'a> {
    retention: &'a dyn Retention,
    clock: &'a dyn Clock,
    /// Segments that were read from the table but not returned yet.
    unread_segments: VecDeque<Segment>,
    next_page: Option<ScanKey>,
    is_last_page_read: bool,
}

impl<'a> LogSegmentScan<'a> {
    pub(crate) fn new(retention: &'a dyn Retention, clock: &'a dyn Clock) -> Self {
        let (unread_segments, next_page) = (VecDeque::new(), None);
        Self { retention, clock, unread_segments, next_page, is_last_page_read: false }
    }

    /// Returns all segments of the next log in ascending order, or `None` after the last log.
    pub(crate) async fn next_log(&mut self) -> Result<Option<Vec<Segment>>, PortError> {
        let mut log_segments: Vec<Segment> = Vec::new();
        loop {
            while let Some(segment) = self.unread_segments.front() {
                if log_segments.first().is_some_and(|first| first.log != segment.log) {
                    return Ok(Some(log_segments));
                }
                log_segments.extend(self.unread_segments.pop_front());
            }
            if self.is_last_page_read {
                return Ok(if log_segments.is_empty() { None } else { Some(log_segments) });
            }
            self.read_page().await?;
        }
    }

    async fn read_page(&mut self) -> Result<(), PortError> {
        let list_page = || self.retention.all_segments(self.next_page.clone());
        let page = retry_temporary_errors(self.clock, list_page).await?;
        self.unread_segments = page.segments.into();
        self.is_last_page_read = page.next.is_none();
        self.next_page = page.next;
        Ok(())
    }
}
