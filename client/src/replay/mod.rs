//! ForkReplay: what a fork did, done again on another position of the spreadsheet that it comes from.
//!
//! That is another fork, at the new position, to which the old fork's own operations are appended in
//! their order, all of them with the old fork's position as their base, by one client. So the server's
//! own transform moves them past what the source did since, and what they meant of each other stays as
//! it was. The fork's id, the client's name and the numbers of the mutations follow from what is replayed
//! and where to: who repeats it, or goes on with one that was interrupted, does each of them once.

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
use cellar_sheet::operation::Operation;

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
    /// Its newest position.
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
    /// [`ReplayError`]. Nothing is changed.
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
        let own = read::own_mutations(client, fork, from, head).await?;
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
    /// [`ReplayError`].
    pub async fn preview(&self) -> Result<Vec<ReplayedEdit>, ReplayError> {
        let settled = preview::settle(self, &self.pieces()?).await?;
        let gone = self.gone_sheets(self.source).await?;
        Ok(report::replayed(&self.own, &settled, &gone))
    }

    /// Creates the new fork and replays the edits onto it. A repeated call resumes.
    ///
    /// # Errors
    /// [`ReplayError`]. Call it again with the same [`ForkReplay::onto`] to resume.
    pub async fn carry_out(&self) -> Result<ReplayedFork, ReplayError> {
        let pieces = self.pieces()?;
        let nonce = self.name();
        let request = ForkRequest::new(nonce.clone(), Some(self.onto));
        let made = self.client.fork(self.source, &request).await?;
        append::append_all(&self.client, &made, &nonce, self.from, &pieces).await?;
        let head = self.client.head(made.id, Some(made.head)).await?.head;
        let settled = append::settled(&self.client, &made, head, &pieces).await?;
        let gone = self.gone_sheets(made.id).await?;
        let mutations = report::replayed(&self.own, &settled, &gone);
        Ok(ReplayedFork { id: made.id, head, mutations })
    }

    /// Returns the nonce of the new fork, which is also the id of the client that appends: the same for the
    /// same replay.
    fn name(&self) -> String {
        let what = format!("{}\n{}\n{}", self.fork, self.head, self.onto);
        let hash: String = blake3::hash(what.as_bytes()).to_hex().chars().take(32).collect();
        format!("replay-{hash}")
    }

    /// Splits the operations of all mutations into pieces that fit a request.
    fn pieces(&self) -> Result<Vec<append::Piece>, ReplayError> {
        append::pieces(&self.own)
    }

    /// Returns the sheets that exist at the old position but not at the new one. The server accepts edits of
    /// them, which have no effect.
    async fn gone_sheets(
        &self,
        spreadsheet: LogId,
    ) -> Result<Vec<cellar_sheet::operation::SheetId>, ReplayError> {
        let before = self.client.sheets(self.source, Some(self.from), None).await?.sheets;
        let after = self.client.sheets(spreadsheet, Some(self.onto), None).await?.sheets;
        let is_gone = |id| after.iter().all(|there| there.sheet != id);
        Ok(before.iter().map(|sheet| sheet.sheet).filter(|id| is_gone(*id)).collect())
    }
}
