//! Merges a fork into another spreadsheet.

use cellar_api::wire::{MergeCounts, MergeReply, MergeRequest};
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use reqwest::Method;

use super::Spreadsheet;
use crate::ClientError;

impl Spreadsheet {
    /// Appends the edits of a fork to this spreadsheet, each with its own author, and returns what
    /// became of them. Sends as many requests as are needed. `through` is the last position of the
    /// fork whose edits are merged, or `None` for the newest.
    ///
    /// If a request fails, call this method again: each edit is appended once.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if a request fails or the fork cannot be merged.
    pub async fn merge(
        &self,
        fork: LogId,
        through: Option<Position>,
    ) -> Result<MergeReply, ClientError> {
        let mut request = MergeRequest { fork, through, dry_run: false };
        let mut merged = self.merge_page(&request).await?;
        request.through = Some(merged.through);
        while merged.remaining > 0 {
            merged = add_reply(merged, self.merge_page(&request).await?);
        }
        Ok(merged)
    }

    /// Returns what [`Spreadsheet::merge`] would do. Nothing is changed.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails or the fork cannot be merged.
    pub async fn preview_merge(
        &self,
        fork: LogId,
        through: Option<Position>,
    ) -> Result<MergeReply, ClientError> {
        self.merge_page(&MergeRequest { fork, through, dry_run: true }).await
    }

    /// Merges some edits of a fork (`POST /v1/spreadsheets/{id}/merges`). Must be repeated until no
    /// edit remains.
    ///
    /// # Errors
    ///
    /// Returns a [`ClientError`] if the request fails or the fork cannot be merged.
    pub async fn merge_page(&self, request: &MergeRequest) -> Result<MergeReply, ClientError> {
        let call = self.call(Method::POST).with_segment("merges").with_body(request)?;
        self.client.transport.send(call).await
    }
}

fn add_reply(merged: MergeReply, next: MergeReply) -> MergeReply {
    let (one, two) = (merged.counts, next.counts);
    let counts = MergeCounts {
        unchanged: one.unchanged.saturating_add(two.unchanged),
        moved: one.moved.saturating_add(two.moved),
        dropped: one.dropped.saturating_add(two.dropped),
        rejected: one.rejected.saturating_add(two.rejected),
        in_conflict: one.in_conflict.saturating_add(two.in_conflict),
    };
    let mut edits = merged.edits;
    edits.extend(next.edits);
    MergeReply { counts, edits, merged_as: next.merged_as.or(merged.merged_as), ..next }
}
