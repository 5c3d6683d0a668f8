//! `cellar revert`

use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, RejectionReason, Revert};

use super::advice::Advised;
use super::args;
use super::context::Context;
use super::edit::Edit;
use super::error::CliError;
use super::output::Output;
use super::undo::{SHEET_RECOVERED, entry_at, recovers_a_sheet};
use crate::editor::EditorError;

pub(super) async fn revert_to_position(
    context: &Context,
    output: &Output,
    args: args::Revert,
) -> Result<(), CliError> {
    let position = args.to;
    let edit = Edit::new(context)?;
    // Check first: if the position does not exist, no entry must be appended.
    if let Err(why) = entry_at(&edit.client, edit.spreadsheet, position).await? {
        return Err(CliError::NoPosition { position, why });
    }
    let applied = match edit.send(output, Operation::Revert(Revert { position })).await {
        Ok(applied) => applied,
        Err(error) => return report_rejection(output, position, error),
    };
    edit.print_json(output, &applied, serde_json::json!({ "reverted_to": position }))?;
    let changes = match &applied.committed {
        Some(committed) => {
            format!(": {}", edit.describe_committed(output, &applied, committed).await)
        }
        None => String::new(),
    };
    output.say(format!("reverted to {position}{changes}   at {}", applied.position))?;
    if recovers_a_sheet(&applied) {
        output.note(SHEET_RECOVERED);
    }
    Ok(())
}

/// Returns success if the error means that there was nothing to revert, or the error otherwise.
fn report_rejection(output: &Output, position: Position, error: CliError) -> Result<(), CliError> {
    let CliError::Editor(Advised(EditorError::Rejected { rejection, .. })) = &error else {
        return Err(error);
    };
    match rejection.reason {
        RejectionReason::NothingToRevert => {
            output.result(&serde_json::json!({ "reverted_to": null }))?;
            Ok(output.say(format!("nothing to revert: no difference from {position}"))?)
        }
        RejectionReason::TooLarge => Err(CliError::TooMuchToRevert { position }),
        _ => Err(error),
    }
}
