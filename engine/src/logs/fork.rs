//! Forks logs and lists forks. A fork can start at any position. Its creation writes four records
//! in one transaction, regardless of the log's size.

use cellar_base::identity::LogId;
use cellar_base::limits::{MAX_FORK_ATTEMPTS, MAX_FORK_DEPTH, MAX_LISTED_FORKS};
use cellar_base::position::Position;
use cellar_log::entry::{Content, Entry, Header};
use cellar_log::lineage::Lineage;
use cellar_log::records::fork::{ListedFork, list_number};
use cellar_log::segment::Segment;

use super::{LogError, Logs};
use crate::ports::{CreateOutcome, ForkPage, ForkRecords, PortError};

/// A request to fork a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFork {
    /// Fork id, derived by [`LogId::derive_fork`]. A retry derives the same id and thus finds the
    /// existing fork.
    pub log: LogId,
    pub source: LogId,
    /// Last position shared with the source; defaults to the latest position.
    pub at: Option<Position>,
    pub author: Option<String>,
}

/// Result of forking a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forked {
    /// Log that stores the last shared entry: the requested source, or the log from which the
    /// source inherits the entry.
    pub source: LogId,
    /// Position of the last shared entry.
    pub position: Position,
    /// Position of the fork's first own entry.
    pub head: Position,
    pub incarnation: u32,
    /// Whether the fork already existed.
    pub existed: bool,
}

/// Reason why a log cannot be forked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ForkFault {
    /// The source has reached the maximum fork depth.
    #[error(
        "the source is already nested {MAX_FORK_DEPTH} forks deep; fork one of its sources, or export \
         and import the source"
    )]
    TooDeep,
    /// No entry can follow the requested position.
    #[error("no log can continue after {at}; fork an earlier position")]
    Full { at: Position },
    /// The nonce was already used for another fork.
    #[error("the nonce was already used for a fork at {position}; use a new nonce")]
    OtherPosition {
        /// Position of the existing fork.
        position: Position,
    },
}

impl Logs {
    /// Forks a log. A retry of the same request returns the existing fork.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::Fork`] if the log cannot be forked, [`LogError::NoSuchPosition`] if the
    /// position does not exist, and the same errors as [`Logs::head`].
    pub async fn fork(&self, new: NewFork) -> Result<Forked, LogError> {
        let requested = match new.at {
            Some(at) => at,
            None => self.head(new.source, None).await?.head,
        };
        let (source, position) = self.find_owner(new.source, requested).await?;
        let entry = self.retry_read(|| self.get_anywhere(source, position)).await?;
        let Some(entry) = entry else {
            let newest = self.head(new.source, None).await?.head;
            return Err(LogError::NoSuchPosition { at: requested, newest });
        };
        let parent = self.retry_read(|| self.lineage(source)).await?;
        let depth = parent.map_or(0, |parent| parent.depth).saturating_add(1);
        if depth > MAX_FORK_DEPTH {
            return Err(ForkFault::TooDeep.into());
        }
        let snapshot = self.snapshot_before(source, position).await?.map(|(at, _)| at);
        let lineage = Lineage {
            source,
            position,
            position_ends_segment: matches!(entry.content, Content::EndSegment),
            family: parent.map_or(source, |parent| parent.family),
            depth,
            // The state at a log's first entry is empty and needs no snapshot.
            snapshot: snapshot.filter(|at| *at != Position::FIRST),
            forked_s: 0,
        };
        let incarnation = entry.header.incarnation.max(self.incarnation);
        let header = Header::of_segment(incarnation, entry.header.summary.clone());
        self.write_fork(&new, lineage, header).await
    }

    /// Writes the records of a fork. Each attempt uses a different number in the source's fork
    /// list.
    async fn write_fork(
        &self,
        new: &NewFork,
        lineage: Lineage,
        header: Header,
    ) -> Result<Forked, LogError> {
        let (mut attempt, incarnation) = (0, header.incarnation);
        loop {
            // The fork number is derived from the time, so shift the time for each attempt.
            let now_ms = self.clock.now_ms().saturating_add(u64::from(attempt));
            let records = build_records(new, lineage, header.clone(), now_ms)?;
            let error = match self.segments.fork(&records).await {
                CreateOutcome::Created => {
                    self.lineages.insert(new.log, records.origin.lineage);
                    let (head, Lineage { source, position, .. }) =
                        (records.first.position, lineage);
                    self.cache_entries(&[records.first.into()]);
                    return Ok(Forked { source, position, head, incarnation, existed: false });
                }
                CreateOutcome::Exists => match self.found_fork(new, lineage).await? {
                    Some(found) => return Ok(found),
                    None => PortError::temporary("another fork took the same number in the list"),
                },
                CreateOutcome::Unknown(error) => error,
                CreateOutcome::Failed(error) => return Err(LogError::Store(error)),
            };
            attempt += 1;
            if attempt >= MAX_FORK_ATTEMPTS {
                return Err(LogError::Store(error));
            }
            tracing::warn!(log = %new.log, attempt, %error, "a fork failed; retrying");
            self.pause(attempt).await;
        }
    }

    /// Returns the existing fork if it matches the request. A request without a position matches a
    /// fork at any position, since the first attempt chose the latest position at that time.
    async fn found_fork(&self, new: &NewFork, wanted: Lineage) -> Result<Option<Forked>, LogError> {
        let Some(lineage) = self.retry_read(|| self.lineage(new.log)).await? else {
            return Ok(None);
        };
        let Lineage { source, position, .. } = lineage;
        if new.at.is_some() && (source, position) != (wanted.source, wanted.position) {
            return Err(ForkFault::OtherPosition { position }.into());
        }
        let head = lineage.first_own_position().ok_or(ForkFault::Full { at: position })?;
        let first = self.retry_read(|| self.entries.get(new.log, head)).await?;
        let incarnation = first.ok_or(LogError::Corrupt { at: head })?.header.incarnation;
        Ok(Some(Forked { source, position, head, incarnation, existed: true }))
    }

    /// Returns the log that stores the entry at a position, and the entry's position in that log.
    /// For a fork of a fork, the result may be the original source.
    async fn find_owner(&self, log: LogId, at: Position) -> Result<(LogId, Position), LogError> {
        let (mut log, mut at) = (log, at);
        while let Some(lineage) = self.retry_read(|| self.lineage_if_inherited(log, at)).await? {
            if at > lineage.end_segment_position() {
                return Ok((log, at));
            }
            (log, at) = (lineage.source, at.min(lineage.position));
        }
        Ok((log, at))
    }

    /// Returns a fork's source and their last shared position, or `None` if the log is not a fork.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::Store`] if the store fails.
    pub async fn forked_from(&self, log: LogId) -> Result<Option<(LogId, Position)>, LogError> {
        let lineage = self.retry_read(|| self.lineage(log)).await?;
        Ok(lineage.map(|lineage| (lineage.source, lineage.position)))
    }

    /// Returns a log's forks with numbers greater than `after`, oldest first, limited to
    /// `MAX_LISTED_FORKS`.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::NotFound`] if the log does not exist, or [`LogError::Store`] if the
    /// store fails.
    pub async fn forks(&self, log: LogId, after: Option<u64>) -> Result<ForkPage, LogError> {
        self.head(log, None).await?;
        self.retry_read(|| self.segments.forks(log, after, MAX_LISTED_FORKS)).await
    }
}

fn build_records(
    new: &NewFork,
    lineage: Lineage,
    header: Header,
    now_ms: u64,
) -> Result<ForkRecords, LogError> {
    let created_s = now_ms / 1_000;
    let lineage = Lineage { forked_s: created_s, ..lineage };
    let Lineage { source, position, .. } = lineage;
    let first = lineage.first_own_position().ok_or(ForkFault::Full { at: position })?;
    let segment = Segment {
        log: new.log,
        num: first.segment(),
        created_s,
        last_snapshot: None,
        offloaded: None,
        lineage: None,
    };
    Ok(ForkRecords {
        origin: Segment { num: 0, lineage: Some(lineage), ..segment.clone() },
        segment,
        first: Entry {
            log: new.log,
            position: first,
            created_s,
            author: new.author.clone(),
            header,
            content: Content::Snapshot { root: None, trimmed_s: None },
        },
        listed: ListedFork {
            source,
            number: list_number(new.log, now_ms),
            fork: new.log,
            position,
            created_s,
            author: new.author.clone(),
        },
    })
}
