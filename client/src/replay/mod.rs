//! Replays a fork's edits onto a later position of its source.
//!
//! A replay creates a new fork at the later position and merges the existing fork into it. The server
//! transforms each edit past the later entries of the source, and keeps its author and time.
//!
//! The nonce (idempotency key) of the new fork is derived from the existing fork and the target
//! position, and a merge appends each edit once. A repeated or interrupted replay therefore appends
//! each operation exactly once.
//!
//! The new fork has the name and the members of the existing fork. Share links are not kept: only
//! their holders know their secrets.

mod error;
mod pieces;
mod preview;
mod read;
mod report;
mod sharing;

pub use error::ReplayError;
pub use report::{ReplayOutcome, ReplayedEdit};
pub use sharing::KeptDetails;

use cellar_api::wire::ForkRequest;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, SheetId};

use crate::{Client, Spreadsheet};

const NONCE_HASH_CHARACTERS: usize = 32;

/// A planned replay.
#[derive(Debug, Clone)]
pub struct ForkReplay {
    client: Client,
    /// The fork.
    pub fork: LogId,
    /// The fork's source.
    pub source: LogId,
    /// Position of the source at which the fork was created.
    pub from: Position,
    /// Position of the source onto which the edits are replayed. It is not before `from`.
    pub onto: Position,
    /// Newest position of the fork when the replay was planned.
    pub head: Position,
    /// Name and members of the fork, which the new fork gets as well.
    pub kept: KeptDetails,
    own_mutations: Vec<OwnMutation>,
}

/// Result of a replay.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ReplayedFork {
    /// The new fork.
    pub id: LogId,
    /// Newest position of the new fork.
    pub head: Position,
    /// Outcomes of the existing fork's mutations, in order.
    pub mutations: Vec<ReplayedEdit>,
}

/// A mutation that took effect in the fork.
#[derive(Debug, Clone)]
struct OwnMutation {
    position: Position,
    author: Option<String>,
    created: u64,
    operations: Vec<Operation>,
}

impl ForkReplay {
    /// Reads the fork and plans a replay onto position `onto`, or onto the newest position of the
    /// source if `onto` is `None`. Nothing is changed.
    ///
    /// # Errors
    ///
    /// Returns a [`ReplayError`] if the fork cannot be replayed onto that position.
    pub async fn plan(fork: &Spreadsheet, onto: Option<Position>) -> Result<Self, ReplayError> {
        let client = fork.client().clone();
        let loaded = fork.load(None).await?;
        let Some(lineage) = loaded.source else {
            return Err(ReplayError::NotAFork { id: fork.id() });
        };
        let (source, from, head) = (lineage.spreadsheet, lineage.position, loaded.head);
        let newest = client.spreadsheet(source).head().await?.head;
        let onto = onto.unwrap_or(newest);
        if onto < from || onto > newest {
            return Err(ReplayError::Onto { onto, from, newest });
        }
        let own_mutations = read::read_own_mutations(fork, from, head).await?;
        let kept = KeptDetails::of(fork.details().await?);
        Ok(Self { client, fork: fork.id(), source, from, onto, head, kept, own_mutations })
    }

    /// Returns a handle to the source of a fork.
    ///
    /// # Errors
    ///
    /// Returns [`ReplayError::NotAFork`] if the spreadsheet has no source that the token can read.
    pub async fn source_of(fork: &Spreadsheet) -> Result<Spreadsheet, ReplayError> {
        match fork.load(None).await?.source {
            Some(lineage) => Ok(fork.client().spreadsheet(lineage.spreadsheet)),
            None => Err(ReplayError::NotAFork { id: fork.id() }),
        }
    }

    /// Returns the number of mutations to replay.
    #[must_use]
    pub fn count(&self) -> usize {
        self.own_mutations.len()
    }

    /// Predicts the outcome of each mutation. The prediction uses the same transform as the server.
    /// Nothing is changed.
    ///
    /// # Errors
    ///
    /// Returns a [`ReplayError`] if a request fails or the edits are too large.
    pub async fn preview(&self) -> Result<Vec<ReplayedEdit>, ReplayError> {
        let pieces = pieces::split_into_pieces(&self.own_mutations);
        let settled_pieces = preview::predict_outcomes(self, &pieces).await?;
        let deleted_sheets = self.deleted_sheets(&self.client.spreadsheet(self.source)).await?;
        Ok(report::combine_outcomes(&self.own_mutations, &settled_pieces, &deleted_sheets))
    }

    /// Creates the new fork and appends the edits to it. If the replay was interrupted before, it
    /// is resumed.
    ///
    /// # Errors
    ///
    /// Returns a [`ReplayError`] if a request fails. To resume the replay, call this method again
    /// with the same [`ForkReplay::onto`].
    pub async fn create_replayed_fork(&self) -> Result<ReplayedFork, ReplayError> {
        let pieces = pieces::split_into_pieces(&self.own_mutations);
        let nonce = self.nonce();
        let name = Some(self.kept.name.clone()).filter(|name| !name.is_empty());
        let fork_request = ForkRequest { name, ..ForkRequest::new(nonce.clone(), Some(self.onto)) };
        let created = self.client.spreadsheet(self.source).fork(&fork_request).await?;
        let new_fork = self.client.spreadsheet(created.id);
        self.kept.share_with_members(&new_fork).await?;
        for through in pieces::parts(&self.own_mutations, self.head) {
            new_fork.merge(self.fork, Some(through)).await?;
        }
        let head = new_fork.head_at_or_after(created.head).await?.head;
        let settled_pieces =
            pieces::read_outcomes(&new_fork, self.fork, self.from, &pieces).await?;
        let deleted_sheets = self.deleted_sheets(&new_fork).await?;
        let mutations =
            report::combine_outcomes(&self.own_mutations, &settled_pieces, &deleted_sheets);
        Ok(ReplayedFork { id: created.id, head, mutations })
    }

    /// Returns the nonce (idempotency key) of the request that creates the new fork. It
    /// depends only on the fork, the fork's newest position and the target position.
    fn nonce(&self) -> String {
        let replay_key = format!("{}\n{}\n{}", self.fork, self.head, self.onto);
        let hash = blake3::hash(replay_key.as_bytes()).to_hex();
        let hash_prefix: String = hash.chars().take(NONCE_HASH_CHARACTERS).collect();
        format!("replay-{hash_prefix}")
    }

    /// The server accepts edits of deleted sheets, but such edits have no effect.
    async fn deleted_sheets(&self, spreadsheet: &Spreadsheet) -> Result<Vec<SheetId>, ReplayError> {
        let source = self.client.spreadsheet(self.source);
        let old_sheets = source.sheets_at(self.from).await?.sheets;
        let new_sheets = spreadsheet.sheets_at(self.onto).await?.sheets;
        let is_deleted = |sheet: &SheetId| new_sheets.iter().all(|view| view.sheet != *sheet);
        Ok(old_sheets.iter().map(|view| view.sheet).filter(is_deleted).collect())
    }
}
