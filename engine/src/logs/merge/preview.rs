//! Predicts the result of a merge by running the append state machine without storing its entries.

use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::append::{Append, AppendAction, AppendEvent, MutationResult, Refusal};
use cellar_log::entry::{Entry, Mutation};
use cellar_sheet::metadata::WorkbookMetadata;
use cellar_sheet::operation::Operation;
use cellar_sheet::workbook::Workbook;

use super::super::append::AppendDriver;
use super::super::{LogError, Logs};
use super::read::{ForkEdit, MergeState};
use super::{NewMerge, merge_request};

impl Logs {
    /// Returns the predicted results of the operations of all edits, in order and without
    /// positions.
    pub(super) async fn preview_results(
        &self,
        merge: &NewMerge,
        from: Position,
        state: &MergeState,
        edits: &[ForkEdit],
    ) -> Result<Vec<MutationResult>, LogError> {
        let Some(request) = merge_request(merge, from, state, edits)? else {
            return Ok(Vec::new());
        };
        let log_id = request.log();
        let cached_tail = self.tails.entries_from(self.clock.now_ms(), log_id, from);
        let (mut append, mut action) = Append::begin(request, &cached_tail, self.inputs());
        let mut driver = AppendDriver::new(self, log_id);
        let mut predicted: Vec<Arc<Entry>> = Vec::new();
        loop {
            let event = match action {
                // The log cannot be read again, because it does not contain the predicted entries.
                AppendAction::Read { .. } if !predicted.is_empty() => {
                    return Err(LogError::Refused(Refusal::Contention));
                }
                AppendAction::Read { from, consistency } => {
                    driver.read_page(from, consistency).await
                }
                AppendAction::Put { entry } => {
                    predicted.push(entry);
                    AppendEvent::PutAccepted
                }
                AppendAction::FindNewestSegment => driver.find_newest_segment().await,
                AppendAction::ReadState { at } => match predicted.first() {
                    None => driver.read_state(at).await,
                    Some(first) => {
                        let before = first.position;
                        let state = self.state_after(log_id, before, &predicted).await?;
                        AppendEvent::State(Some(Arc::new(state)))
                    }
                },
                AppendAction::Wait { delay_ms } => {
                    self.clock.sleep_ms(delay_ms).await;
                    AppendEvent::Waited
                }
                AppendAction::Finish(Ok(appended)) => {
                    let results = appended.results.into_iter();
                    return Ok(results
                        .map(|result| MutationResult { position: None, ..result })
                        .collect());
                }
                AppendAction::Finish(Err(refusal)) => return Err(driver.into_error(refusal).await),
            };
            (append, action) = append.step(event, self.inputs());
        }
    }

    /// Returns the state after the predicted entries. The first of them is at `first_position`.
    async fn state_after(
        &self,
        log_id: LogId,
        first_position: Position,
        predicted: &[Arc<Entry>],
    ) -> Result<WorkbookMetadata, LogError> {
        let before = self.position_before(log_id, first_position).await?;
        let view = self.open_view(log_id, before, None).await?;
        let mut workbook = Workbook::from_metadata(&view.metadata);
        let mutations = predicted.iter().filter_map(|entry| entry.edits());
        let mutations = mutations.flat_map(|edits| &edits.mutations);
        for operation in mutations.flat_map(Mutation::committed_operations) {
            // The append depends only on sheets and formats, which operations that set cells do not
            // change.
            if !matches!(operation, Operation::SetCells(_)) {
                workbook.apply_operation(operation);
            }
        }
        Ok(workbook.metadata())
    }
}
