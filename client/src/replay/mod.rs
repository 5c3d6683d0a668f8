//! Replays the edits of a fork onto a later position of its source.
//!
//! A replay creates another fork at the new position and appends the operations of the existing fork, in
//! order, with the position of the existing fork as their base. The server transforms them past the later
//! entries of the source, like edits of one client. The new fork's nonce, the client id and the mutation ids
//! are derived from the fork and the target position, so that a repeated or interrupted replay appends each
//! operation exactly once.

mod append;
mod error;
mod preview;
mod read;
mod report;

pub use error::ReplayError;
pub use report::{ReplayOutcome, ReplayedEdit};

use cellar_api::wire::ForkRequest;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, SheetId};

use crate::Client;

/// A planned replay.
#[derive(Debug, Clone)]
pub struct ForkReplay {
    client: Client,
    /// The fork.
    pub fork: LogId,
    /// Source of the fork.
    pub source: LogId,
    /// Position of the source at which the fork was created.
    pub from: Position,
    /// Position of the source to replay onto; at or after `from`.
    pub onto: Position,
    /// Newest position of the fork when the replay was planned.
    pub head: Position,
    own: Vec<OwnMutation>,
}

/// The result of a replay.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplayedFork {
    /// The new fork.
    pub id: LogId,
    /// Newest position of the new fork.
    pub head: Position,
    /// Outcome of each mutation of the existing fork, in order.
    pub mutations: Vec<ReplayedEdit>,
}

/// A mutation of the fork that had an effect.
#[derive(Debug, Clone)]
struct OwnMutation {
    position: Position,
    author: Option<String>,
    created: u64,
    operations: Vec<Operation>,
}

impl ForkReplay {
    /// Reads the fork and plans a replay onto `onto`, or onto the newest position of the source.
    ///
    /// # Errors
    /// Returns a [`ReplayError`] if the fork cannot be replayed onto that position. Nothing is
    /// changed.
    pub async fn plan(
        client: &Client,
        fork: LogId,
        onto: Option<Position>,
    ) -> Result<Self, ReplayError> {
        let loaded = client.load(fork, None).await?;
        let source = loaded.source.ok_or(ReplayError::NotAFork { id: fork })?;
        let (source, from, head) = (source.spreadsheet, source.position, loaded.head);
        let newest = client.head(source, None).await?.head;
        let onto = onto.unwrap_or(newest);
        if onto < from || onto > newest {
            return Err(ReplayError::Onto { onto, from, newest });
        }
        let own = read::read_own_mutations(client, fork, from, head).await?;
        Ok(Self { client: client.clone(), fork, source, from, onto, head, own })
    }

    /// Returns the number of mutations to replay.
    #[must_use]
    pub fn count(&self) -> usize {
        self.own.len()
    }

    /// Computes the outcome of each mutation with the transform of the server. Sends nothing.
    ///
    /// # Errors
    /// Returns a [`ReplayError`] if a request fails or the edits are too large.
    pub async fn preview(&self) -> Result<Vec<ReplayedEdit>, ReplayError> {
        let pieces = append::split_into_pieces(&self.own)?;
        let settled = preview::predict_outcomes(self, &pieces).await?;
        let deleted_sheets = self.deleted_sheets(self.source).await?;
        Ok(report::combine_outcomes(&self.own, &settled, &deleted_sheets))
    }

    /// Creates the new fork and replays the edits onto it. A repeated call resumes.
    ///
    /// # Errors
    /// Returns a [`ReplayError`] if a request fails. Call this again with the same
    /// [`ForkReplay::onto`] to resume.
    pub async fn run(&self) -> Result<ReplayedFork, ReplayError> {
        let pieces = append::split_into_pieces(&self.own)?;
        let nonce = self.nonce();
        let request = ForkRequest::new(nonce.clone(), Some(self.onto));
        let new_fork = self.client.fork(self.source, &request).await?;
        append::append_all(&self.client, &new_fork, &nonce, self.from, &pieces).await?;
        let head = self.client.head(new_fork.id, Some(new_fork.head)).await?.head;
        let settled = append::read_outcomes(&self.client, &new_fork, head, &pieces).await?;
        let deleted_sheets = self.deleted_sheets(new_fork.id).await?;
        let mutations = report::combine_outcomes(&self.own, &settled, &deleted_sheets);
        Ok(ReplayedFork { id: new_fork.id, head, mutations })
    }

    /// Returns the nonce of the new fork, which is also the client id of the appended mutations. Equal replays
    /// have equal nonces.
    fn nonce(&self) -> String {
        let key = format!("{}\n{}\n{}", self.fork, self.head, self.onto);
        let hash: String = blake3::hash(key.as_bytes()).to_hex().chars().take(32).collect();
        format!("replay-{hash}")
    }

    /// Returns the sheets that exist at the old position but not at the new one. The server accepts edits of
    /// them, which have no effect.
    async fn deleted_sheets(&self, spreadsheet: LogId) -> Result<Vec<SheetId>, ReplayError> {
        let before = self.client.sheets(self.source, Some(self.from), None).await?.sheets;
        let after = self.client.sheets(spreadsheet, Some(self.onto), None).await?.sheets;
        let is_deleted = |sheet: &SheetId| after.iter().all(|view| view.sheet != *sheet);
        Ok(before.iter().map(|view| view.sheet).filter(is_deleted).collect())
    }
}
