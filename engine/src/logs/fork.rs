//! Forks logs and lists forks. A log can be forked at any position. A fork writes four records in
//! one transaction, regardless of the length of the log.

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
    /// Id of the fork, from [`LogId::derive_fork`]. A retried request derives the same id, so it
    /// finds the existing fork.
    pub log: LogId,
    pub source: LogId,
    /// Last position that the fork shares with its source, or `None` for the latest position.
    pub at: Option<Position>,
    pub author: Option<String>,
}

/// Result of forking a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forked {
    /// Log that stores the last shared entry. This differs from the requested source if the source
    /// itself inherits the entry.
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
    /// Forks of the source would be nested too deeply.
    #[error(
        "the source is already nested {MAX_FORK_DEPTH} forks deep; fork one of its sources, or export \
         and import the source"
    )]
    TooDeep,
    /// The position is the last possible position of a log, so no entry can follow it.
    #[error("no entry can follow position {at}; fork the log at an earlier position")]
    Full { at: Position },
    /// Neither spreadsheet comes from the other, nor do both come from one.
    #[error("the spreadsheets share no history; one must be a fork of the other, or both of one")]
    Unrelated,
    /// The nonce was already used for another fork.
    #[error("the nonce was already used for a fork at {position}; use a new nonce")]
    OtherPosition {
        /// Position of the existing fork.
        position: Position,
    },
}

impl Logs {
    /// Forks a log. If the request is a retry, returns the existing fork.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::Fork`] if the log cannot be forked, [`LogError::NoSuchPosition`] if the
    /// position does not exist, or another [`LogError`] if the log cannot be read.
    pub async fn fork(&self, request: NewFork) -> Result<Forked, LogError> {
        let requested_position = match request.at {
            Some(position) => position,
            None => self.head(request.source, None).await?.head,
        };
        let (source, position) = self.find_owner(request.source, requested_position).await?;
        let shared_entry =
            self.retry_read(|| self.get_entry_even_if_trimmed(source, position)).await?;
        let Some(shared_entry) = shared_entry else {
            let newest = self.head(request.source, None).await?.head;
            return Err(LogError::NoSuchPosition { at: requested_position, newest });
        };
        let lineage = self.lineage_of_fork(source, &shared_entry).await?;
        let shared_header = &shared_entry.header;
        let incarnation = shared_header.incarnation.max(self.incarnation);
        let header = Header::of_segment(incarnation, shared_header.summary.clone());
        self.write_fork(&request, lineage, header).await
    }

    async fn lineage_of_fork(
        &self,
        source: LogId,
        shared_entry: &Entry,
    ) -> Result<Lineage, LogError> {
        let position = shared_entry.position;
        let source_lineage = self.retry_read(|| self.lineage(source)).await?;
        let source_depth = source_lineage.map_or(0, |lineage| lineage.depth);
        if source_depth >= MAX_FORK_DEPTH {
            return Err(ForkFault::TooDeep.into());
        }
        let snapshot = self.latest_snapshot_up_to(source, position).await?;
        let snapshot_position = snapshot.map(|snapshot| snapshot.position);
        Ok(Lineage {
            source,
            position,
            position_ends_segment: matches!(shared_entry.content, Content::EndSegment),
            family: source_lineage.map_or(source, |lineage| lineage.family),
            depth: source_depth + 1,
            // The state at the first entry of a log is empty, so its snapshot is not needed.
            snapshot: snapshot_position.filter(|position| *position != Position::FIRST),
            forked_s: 0,
        })
    }

    /// If another fork has the same number in the source's list of forks, retries with another
    /// number.
    async fn write_fork(
        &self,
        request: &NewFork,
        lineage: Lineage,
        header: Header,
    ) -> Result<Forked, LogError> {
        let mut failed_attempts = 0;
        loop {
            // The number in the list of forks is derived from the time, so use a different time for
            // each attempt.
            let now_ms = self.clock.now_ms() + u64::from(failed_attempts);
            let records = build_records(request, lineage, header.clone(), now_ms)?;
            let error = match self.segments.fork(&records).await {
                CreateOutcome::Created => return Ok(self.cache_fork(records)),
                CreateOutcome::Exists => match self.find_existing_fork(request, lineage).await? {
                    Some(existing_fork) => return Ok(existing_fork),
                    None => PortError::temporary("another fork was created with the same number"),
                },
                CreateOutcome::Unknown(error) => error,
                CreateOutcome::Failed(error) => return Err(LogError::Store(error)),
            };
            failed_attempts += 1;
            if failed_attempts >= MAX_FORK_ATTEMPTS {
                return Err(LogError::Store(error));
            }
            tracing::warn!(log = %request.log, attempt = failed_attempts, %error, "a fork failed; retrying");
            self.pause_before_retry(failed_attempts).await;
        }
    }

    fn cache_fork(&self, records: ForkRecords) -> Forked {
        let ForkRecords { origin, first: first_entry, listed, .. } = records;
        self.lineages.insert(origin.log, origin.lineage);
        let forked = Forked {
            source: listed.source,
            position: listed.position,
            head: first_entry.position,
            incarnation: first_entry.header.incarnation,
            existed: false,
        };
        self.cache_entries(&[first_entry.into()]);
        forked
    }

    /// Returns an error if the existing fork is at a different position than the request. If the
    /// request has no position, the existing fork may be at any position, since the first attempt
    /// used the latest position at that time.
    async fn find_existing_fork(
        &self,
        request: &NewFork,
        requested_lineage: Lineage,
    ) -> Result<Option<Forked>, LogError> {
        let Some(lineage) = self.retry_read(|| self.lineage(request.log)).await? else {
            return Ok(None);
        };
        let Lineage { source, position, .. } = lineage;
        let is_same_fork =
            source == requested_lineage.source && position == requested_lineage.position;
        if request.at.is_some() && !is_same_fork {
            return Err(ForkFault::OtherPosition { position }.into());
        }
        let head = lineage.first_own_position().ok_or(ForkFault::Full { at: position })?;
        let first_entry = self.retry_read(|| self.entries.get(request.log, head)).await?;
        let first_entry = first_entry.ok_or(LogError::Corrupt { at: head })?;
        let incarnation = first_entry.header.incarnation;
        Ok(Some(Forked { source, position, head, incarnation, existed: true }))
    }

    /// Returns the log that stores the entry at a position of a fork, and the position in that log.
    /// If the source is itself a fork, the entry may be stored in the source of the source.
    async fn find_owner(
        &self,
        log_id: LogId,
        position: Position,
    ) -> Result<(LogId, Position), LogError> {
        let mut owner = log_id;
        let mut owner_position = position;
        loop {
            let lineage =
                self.retry_read(|| self.lineage_if_inherited(owner, owner_position)).await?;
            let Some(lineage) = lineage else { return Ok((owner, owner_position)) };
            if owner_position > lineage.end_segment_position() {
                return Ok((owner, owner_position));
            }
            owner = lineage.source;
            owner_position = owner_position.min(lineage.position);
        }
    }

    /// Returns the source of a fork and the last position that they share. Returns `None` if the
    /// log is not a fork.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::Store`] if the store fails.
    pub async fn forked_from(&self, log_id: LogId) -> Result<Option<(LogId, Position)>, LogError> {
        let lineage = self.retry_read(|| self.lineage(log_id)).await?;
        Ok(lineage.map(|lineage| (lineage.source, lineage.position)))
    }

    /// Returns the last position up to which two logs have the same entries.
    ///
    /// # Errors
    ///
    /// Returns [`ForkFault::Unrelated`] if the logs share no history, or [`LogError::Store`] if the
    /// store fails.
    pub async fn last_shared_position(
        &self,
        log_id: LogId,
        other: LogId,
    ) -> Result<Position, LogError> {
        let ancestors = self.ancestors(log_id).await?;
        for (ancestor, position) in self.ancestors(other).await? {
            if let Some((_, other_position)) = ancestors.iter().find(|(id, _)| *id == ancestor) {
                return Ok(position.min(*other_position));
            }
        }
        Err(ForkFault::Unrelated.into())
    }

    /// Returns the log and the logs from which it inherits entries, each with the last position that
    /// the log has in common with it.
    async fn ancestors(&self, log_id: LogId) -> Result<Vec<(LogId, Position)>, LogError> {
        let mut position = self.head(log_id, None).await?.head;
        let mut ancestors = vec![(log_id, position)];
        let mut current = log_id;
        while let Some(lineage) = self.retry_read(|| self.lineage(current)).await? {
            position = position.min(lineage.position);
            current = lineage.source;
            ancestors.push((current, position));
        }
        Ok(ancestors)
    }

    /// Returns up to `MAX_LISTED_FORKS` forks of a log, oldest first. Only forks whose numbers are
    /// greater than `after` are returned.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::NotFound`] if the log does not exist, or [`LogError::Store`] if the
    /// store fails.
    pub async fn forks(&self, log_id: LogId, after: Option<u64>) -> Result<ForkPage, LogError> {
        self.check_exists(log_id).await?;
        self.retry_read(|| self.segments.forks(log_id, after, MAX_LISTED_FORKS)).await
    }
}

fn build_records(
    request: &NewFork,
    lineage: Lineage,
    header: Header,
    now_ms: u64,
) -> Result<ForkRecords, LogError> {
    let created_s = now_ms / 1_000;
    let lineage = Lineage { forked_s: created_s, ..lineage };
    let Lineage { source, position: shared_position, .. } = lineage;
    let first_position =
        lineage.first_own_position().ok_or(ForkFault::Full { at: shared_position })?;
    let segment = Segment {
        log: request.log,
        num: first_position.segment(),
        created_s,
        last_snapshot: None,
        offloaded: None,
        lineage: None,
    };
    Ok(ForkRecords {
        origin: Segment { num: 0, lineage: Some(lineage), ..segment.clone() },
        segment,
        first: Entry {
            log: request.log,
            position: first_position,
            created_s,
            author: request.author.clone(),
            header,
            content: Content::Snapshot { root: None, trimmed_s: None },
        },
        listed: ListedFork {
            source,
            number: list_number(request.log, now_ms),
            fork: request.log,
            position: shared_position,
            created_s,
            author: request.author.clone(),
        },
    })
}
