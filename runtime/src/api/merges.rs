//! Handles `POST /v1/spreadsheets/{id}/merges`, which merges a fork.

use axum::extract::State;
use cellar_api::wire::{CellInConflict, MergeCounts, MergeReply, MergeRequest, MergedEditView};
use cellar_base::limits::MAX_LISTED_MERGED_EDITS;
use cellar_catalog::access::Need;
use cellar_engine::logs::{MergedEdit, MergedEdits, NewMerge};
use cellar_log::merge::MergeOutcome;

use super::auth::Caller;
use super::extract::{JsonBody, PathId};
use super::json::Json;
use super::reply::Failure;
use super::state::ApiState;

/// Append the edits of a fork, each with its own author
///
/// The edits are transformed past those that others have made since the fork. Entries have the author of the edit and
/// the time of the merge; `merged` contains the time of the edit and who merged it. One request appends up to 100 edits:
/// send it again while edits remain. A repeated request appends nothing twice.
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/spreadsheets/{id}/merges",
    operation_id = "mergeFork",
    tag = "Forks",
    request_body = MergeRequest,
    responses((status = 200, description = "The outcomes of the edits", body = MergeReply))
))]
pub(super) async fn merge_fork(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(spreadsheet_id): PathId,
    body: JsonBody,
) -> Result<Json<MergeReply>, Failure> {
    let log_id = caller.authorize(&state, &spreadsheet_id, Need::Write).await?;
    let MergeRequest { fork, through, dry_run } = body.parse()?;
    let fork = caller.authorize(&state, &fork.to_string(), Need::Read).await?;
    let merge = NewMerge { log: log_id, fork, through, by: Some(caller.principal.author) };
    if dry_run {
        return Ok(Json(merge_reply(state.logs().preview_merge(&merge).await?)));
    }
    let merged = state.logs().merge(&merge).await?;
    state.apply_log_policy(log_id).await;
    Ok(Json(merge_reply(merged)))
}

fn merge_reply(merged: MergedEdits) -> MergeReply {
    let MergedEdits { from, through, head, edits, remaining } = merged;
    let mut counts = MergeCounts::default();
    for edit in &edits {
        counts.add(edit.outcome, edit.conflicts.count > 0);
    }
    let merged_as = edits.iter().rev().find_map(|edit| edit.merged_as);
    let listed = edits
        .into_iter()
        .filter(|edit| edit.outcome != MergeOutcome::Unchanged || edit.conflicts.count > 0)
        .take(MAX_LISTED_MERGED_EDITS);
    MergeReply {
        from,
        through,
        head,
        remaining: u64::try_from(remaining).unwrap_or(u64::MAX),
        counts,
        edits: listed.map(edit_view).collect(),
        merged_as,
    }
}

fn edit_view(edit: MergedEdit) -> MergedEditView {
    let cells = edit.conflicts.cells.iter();
    MergedEditView {
        position: edit.position,
        author: edit.author,
        created_s: edit.created_s,
        outcome: edit.outcome,
        conflict_count: edit.conflicts.count,
        lost_cells: edit.lost_cells,
        conflicts: cells
            .map(|(sheet, name)| CellInConflict {
                sheet: *sheet,
                row: name.row,
                column: name.column,
            })
            .collect(),
        rejection: edit.rejection,
        merged_as: edit.merged_as,
    }
}

#[cfg(test)]
mod tests {
    use cellar_base::limits::{MAX_LISTED_CONFLICTS, MAX_REPLY_BYTES};
    use cellar_base::position::Position;
    use cellar_log::merge::Conflicts;
    use cellar_sheet::a1::CellName;
    use cellar_sheet::operation::{Rejection, RejectionReason, SheetId};

    use super::*;

    fn edits(count: usize, outcome: MergeOutcome, conflicts: usize) -> MergedEdits {
        let name = CellName { row: u32::MAX, column: u32::MAX };
        let edit = MergedEdit {
            position: Position::FIRST,
            author: Some("\u{1}".repeat(64)),
            created_s: u64::MAX,
            outcome,
            conflicts: Conflicts {
                count: conflicts as u64,
                cells: vec![(SheetId(u32::MAX), name); conflicts],
            },
            lost_cells: 0,
            rejection: Some(Rejection::new(RejectionReason::TooLarge, "x".repeat(200))),
            merged_as: Some(Position::FIRST),
        };
        let (from, through, head) = (Position::FIRST, Position::FIRST, Position::FIRST);
        MergedEdits { from, through, head, edits: vec![edit; count], remaining: 0 }
    }

    #[test]
    fn lists_at_most_a_number_of_edits_and_counts_all() {
        let listed =
            |count| merge_reply(edits(count, MergeOutcome::Rejected, MAX_LISTED_CONFLICTS));
        for (count, expected) in [(MAX_LISTED_MERGED_EDITS, 0), (MAX_LISTED_MERGED_EDITS + 1, 1)] {
            let reply = listed(count);
            assert_eq!(reply.counts.total(), count as u64);
            assert_eq!(reply.edits.len() + expected, count);
            assert!(serde_json::to_string(&reply).unwrap().len() <= MAX_REPLY_BYTES);
        }
    }

    #[test]
    fn lists_only_edits_that_need_attention() {
        assert!(merge_reply(edits(3, MergeOutcome::Unchanged, 0)).edits.is_empty());
        let in_conflict = merge_reply(edits(3, MergeOutcome::Unchanged, 1));
        assert_eq!((in_conflict.edits.len(), in_conflict.counts.in_conflict), (3, 3));
        assert_eq!(merge_reply(edits(2, MergeOutcome::Moved, 0)).edits.len(), 2);
    }
}
