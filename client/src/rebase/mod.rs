//! Rebase: what a fork did, done again on another position of the spreadsheet that it comes from
//! (design `4-sync.md` §5).
//!
//! That is another fork, at the new position, to which the old fork's own operations are appended in
//! their order, all of them with the old fork's position as their base, by one client. So the server's
//! own transform moves them past what the source did since, and what they meant of each other stays as
//! it was. The fork's id, the client's name and the numbers of the mutations follow from what is rebased
//! and where to: who repeats it, or goes on with one that was interrupted, does each of them once.

mod error;
mod preview;
mod read;
mod replay;
mod report;

pub use error::RebaseError;
pub use report::{Outcome, Replayed};

use cellar_core::api::ForkRequest;
use cellar_core::identity::LogId;
use cellar_core::operation::Operation;
use cellar_core::position::Position;

use crate::Client;

/// A rebase that is to be done.
#[derive(Debug, Clone)]
pub struct Rebase {
    client: Client,
    /// The fork.
    pub fork: LogId,
    /// The spreadsheet that it comes from.
    pub source: LogId,
    /// Where it was forked.
    pub from: Position,
    /// The position of the source that it is moved to, not before `from`.
    pub onto: Position,
    /// The newest position of the fork when it was read.
    pub head: Position,
    own: Vec<OwnMutation>,
}

/// A fork that was rebased.
#[derive(Debug, Clone, PartialEq)]
pub struct Rebased {
    /// The new fork.
    pub id: LogId,
    /// Its newest position.
    pub head: Position,
    /// What became of each mutation of the old one, in their order.
    pub mutations: Vec<Replayed>,
}

/// A mutation of the fork that did something.
#[derive(Debug, Clone)]
struct OwnMutation {
    position: Position,
    author: Option<String>,
    created: u64,
    operations: Vec<Operation>,
}

impl Rebase {
    /// Reads a fork, and where it is to go: the newest position of its source if none is given.
    ///
    /// # Errors
    /// [`RebaseError`]; nothing was changed.
    pub async fn plan(
        client: &Client,
        fork: LogId,
        onto: Option<Position>,
    ) -> Result<Self, RebaseError> {
        let loaded = client.load(fork, None).await?;
        let source = loaded.source.ok_or(RebaseError::NotAFork { id: fork })?;
        let (source, from, head) = (source.spreadsheet, source.position, loaded.head);
        let newest = client.head(source, None).await?.head;
        let onto = onto.unwrap_or(newest);
        if onto < from || onto > newest {
            return Err(RebaseError::Onto { onto, from, newest });
        }
        let own = read::own_mutations(client, fork, from, head).await?;
        Ok(Self { client: client.clone(), fork, source, from, onto, head, own })
    }

    /// How many mutations there are to replay.
    #[must_use]
    pub fn count(&self) -> usize {
        self.own.len()
    }

    /// What would become of each mutation, by the transform that the server does; nothing is sent.
    ///
    /// # Errors
    /// [`RebaseError`].
    pub async fn preview(&self) -> Result<Vec<Replayed>, RebaseError> {
        let settled = preview::settle(self, &self.pieces()?).await?;
        let gone = self.gone_sheets(self.source).await?;
        Ok(report::replayed(&self.own, &settled, &gone))
    }

    /// Makes the new fork and replays the old one on it. Repeated, it finds what it has done.
    ///
    /// # Errors
    /// [`RebaseError`]; repeat it with the same [`Rebase::onto`] to go on.
    pub async fn carry_out(&self) -> Result<Rebased, RebaseError> {
        let pieces = self.pieces()?;
        let nonce = self.name();
        let request = ForkRequest::new(nonce.clone(), Some(self.onto));
        let made = self.client.fork(self.source, &request).await?;
        replay::append_all(&self.client, &made, &nonce, self.from, &pieces).await?;
        let head = self.client.head(made.id, Some(made.head)).await?.head;
        let settled = replay::settled(&self.client, &made, head, &pieces).await?;
        let gone = self.gone_sheets(made.id).await?;
        let mutations = report::replayed(&self.own, &settled, &gone);
        Ok(Rebased { id: made.id, head, mutations })
    }

    /// The nonce of the new fork and the name of the client that fills it: the same for the same rebase.
    fn name(&self) -> String {
        let what = format!("{}\n{}\n{}", self.fork, self.head, self.onto);
        let hash: String = blake3::hash(what.as_bytes()).to_hex().chars().take(32).collect();
        format!("rebase-{hash}")
    }

    /// The operations of all mutations, each as large as a request may be.
    fn pieces(&self) -> Result<Vec<replay::Piece>, RebaseError> {
        replay::pieces(&self.own)
    }

    /// The sheets that were there at the old position and are not at the new one: the server takes edits
    /// of them as they are, and they change nothing.
    async fn gone_sheets(
        &self,
        spreadsheet: LogId,
    ) -> Result<Vec<cellar_core::operation::SheetId>, RebaseError> {
        let before = self.client.sheets(self.source, Some(self.from), None).await?.sheets;
        let after = self.client.sheets(spreadsheet, Some(self.onto), None).await?.sheets;
        let is_gone = |id| after.iter().all(|there| there.sheet != id);
        Ok(before.iter().map(|sheet| sheet.sheet).filter(|id| is_gone(*id)).collect())
    }
}
