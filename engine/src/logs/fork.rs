//! Forks a log at any position: one transaction of four records, whatever the log's size; and lists a
//! log's forks.

use cellar_base::identity::LogId;
use cellar_base::limits::{MAX_FORK_ATTEMPTS, MAX_FORK_DEPTH, MAX_LISTED_FORKS};
use cellar_base::position::Position;
use cellar_log::entry::{Content, Entry, Header};
use cellar_log::lineage::Lineage;
use cellar_log::records::fork::{ListedFork, list_number};
use cellar_log::segment::Segment;

use super::{LogError, Logs};
use crate::ports::{CreateOutcome, ForkPage, ForkRecords, PortError};

/// A fork that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFork {
    /// Its id: of [`LogId::derive_fork`], so that a repetition finds it.
    pub log: LogId,
    /// The log to fork.
    pub source: LogId,
    /// The last position that both share; the newest if none.
    pub at: Option<Position>,
    /// Who does it.
    pub author: Option<String>,
}

/// A fork that exists now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forked {
    /// The log that holds the last entry that both share: the one that was asked for, or the one that it
    /// inherits that entry from.
    pub source: LogId,
    /// The position of that entry.
    pub position: Position,
    /// The fork's first own entry.
    pub head: Position,
    /// Its incarnation.
    pub incarnation: u32,
    /// Whether it was there before.
    pub existed: bool,
}

/// Why a log cannot be forked there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ForkFault {
    /// Too many forks of forks.
    #[error(
        "it is a fork of a fork, {MAX_FORK_DEPTH} times over: fork one of those that it comes from, or \
         export and import it"
    )]
    TooDeep,
    /// No log can go on behind that position.
    #[error("no log can continue after {at}; fork an earlier position")]
    Full {
        /// The position.
        at: Position,
    },
    /// The same nonce was used for another fork.
    #[error("the nonce was already used for a fork at {position}; use a new nonce")]
    OtherPosition {
        /// The position of the fork that there is.
        position: Position,
    },
}

impl Logs {
    /// Forks a log, or finds the fork that an earlier try made.
    ///
    /// # Errors
    /// [`LogError::Fork`], [`LogError::NoSuchPosition`]; otherwise as [`Logs::head`].
    pub async fn fork(&self, new: NewFork) -> Result<Forked, LogError> {
        let asked = match new.at {
            Some(at) => at,
            None => self.head(new.source, None).await?.head,
        };
        let (source, position) = self.holder(new.source, asked).await?;
        let entry = self.read(|| self.get_anywhere(source, position)).await?;
        let Some(entry) = entry else {
            let newest = self.head(new.source, None).await?.head;
            return Err(LogError::NoSuchPosition { at: asked, newest });
        };
        let parent = self.read(|| self.lineage(source)).await?;
        let depth = parent.map_or(0, |parent| parent.depth).saturating_add(1);
        if depth > MAX_FORK_DEPTH {
            return Err(ForkFault::TooDeep.into());
        }
        let snapshot = self.snapshot_before(source, position).await?.map(|(at, _)| at);
        let lineage = Lineage {
            source,
            position,
            ended: matches!(entry.content, Content::EndSegment),
            family: parent.map_or(source, |parent| parent.family),
            depth,
            // The state of a log's first entry is nothing.
            snapshot: snapshot.filter(|at| *at != Position::FIRST),
            forked_s: 0,
        };
        let incarnation = entry.header.incarnation.max(self.incarnation);
        let header = Header::of_segment(incarnation, entry.header.summary.clone());
        self.write_fork(&new, lineage, header).await
    }

    /// Writes the records, each try under another number of the list.
    async fn write_fork(
        &self,
        new: &NewFork,
        lineage: Lineage,
        header: Header,
    ) -> Result<Forked, LogError> {
        let (mut attempt, incarnation) = (0, header.incarnation);
        loop {
            // A place in the list that another has is left to it.
            let now_ms = self.clock.now_ms().saturating_add(u64::from(attempt));
            let records = records(new, lineage, header.clone(), now_ms)?;
            let error = match self.segments.fork(&records).await {
                CreateOutcome::Created => {
                    self.lineages.keep(new.log, records.origin.lineage);
                    let (head, Lineage { source, position, .. }) =
                        (records.first.position, lineage);
                    self.learn(&[records.first.into()]);
                    return Ok(Forked { source, position, head, incarnation, existed: false });
                }
                CreateOutcome::Exists => match self.found_fork(new, lineage).await? {
                    Some(found) => return Ok(found),
                    None => PortError::temporary("another fork took its place in the list"),
                },
                CreateOutcome::Unknown(error) => error,
                CreateOutcome::Failed(error) => return Err(LogError::Store(error)),
            };
            attempt += 1;
            if attempt >= MAX_FORK_ATTEMPTS {
                return Err(LogError::Store(error));
            }
            tracing::warn!(log = %new.log, attempt, %error, "a fork is tried again");
            self.pause(attempt).await;
        }
    }

    /// The fork that there is, if it is the one that was asked for; which of its positions the newest
    /// was, is for the first try to say.
    async fn found_fork(&self, new: &NewFork, wanted: Lineage) -> Result<Option<Forked>, LogError> {
        let Some(lineage) = self.read(|| self.lineage(new.log)).await? else { return Ok(None) };
        let Lineage { source, position, .. } = lineage;
        if new.at.is_some() && (source, position) != (wanted.source, wanted.position) {
            return Err(ForkFault::OtherPosition { position }.into());
        }
        let head = lineage.first_own().ok_or(ForkFault::Full { at: position })?;
        let first = self.read(|| self.entries.get(new.log, head)).await?;
        let incarnation = first.ok_or(LogError::Corrupt { at: head })?.header.incarnation;
        Ok(Some(Forked { source, position, head, incarnation, existed: true }))
    }

    /// The log that holds the entry at a position itself, and where: forks of forks read from there, as
    /// if what lies between did not exist.
    async fn holder(&self, log: LogId, at: Position) -> Result<(LogId, Position), LogError> {
        let (mut log, mut at) = (log, at);
        while let Some(lineage) = self.read(|| self.inherits(log, at)).await? {
            if at > lineage.end() {
                return Ok((log, at));
            }
            (log, at) = (lineage.source, at.min(lineage.position));
        }
        Ok((log, at))
    }

    /// Where a log was forked, if it is a fork; for what is shown of it.
    ///
    /// # Errors
    /// [`LogError::Store`].
    pub async fn forked_from(&self, log: LogId) -> Result<Option<(LogId, Position)>, LogError> {
        let lineage = self.read(|| self.lineage(log)).await?;
        Ok(lineage.map(|lineage| (lineage.source, lineage.position)))
    }

    /// The forks of a log, the oldest first, behind number `after` of their list; at most
    /// `MAX_LISTED_FORKS`.
    ///
    /// # Errors
    /// [`LogError::NotFound`], [`LogError::Store`].
    pub async fn forks(&self, log: LogId, after: Option<u64>) -> Result<ForkPage, LogError> {
        self.head(log, None).await?;
        self.read(|| self.segments.forks(log, after, MAX_LISTED_FORKS)).await
    }
}

fn records(
    new: &NewFork,
    lineage: Lineage,
    header: Header,
    now_ms: u64,
) -> Result<ForkRecords, LogError> {
    let created_s = now_ms / 1_000;
    let lineage = Lineage { forked_s: created_s, ..lineage };
    let Lineage { source, position, .. } = lineage;
    let first = lineage.first_own().ok_or(ForkFault::Full { at: position })?;
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
