use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, RejectionReason, Revert};

use super::advice::Advised;
use super::args;
use super::context::Context;
use super::edit::CommandEditor;
use super::error::CliError;
use super::output::Output;
use super::undo::{EntryLookup, SHEET_RECOVERED, read_entry_at, recovers_a_sheet};
use crate::editor::EditorError;

pub(super) async fn revert_to_position(
    context: &Context,
    output: &Output,
    args: args::Revert,
) -> Result<(), CliError> {
    let position = args.to;
    let editor = CommandEditor::open(context)?;
    // Check that the position exists before sending the revert, because the server appends a log
    // entry even if it rejects the revert.
    if let EntryLookup::Missing { why } = read_entry_at(&editor.spreadsheet, position).await? {
        return Err(CliError::NoPosition { position, why });
    }
    let applied = match editor.send(output, Operation::Revert(Revert { position })).await {
        Ok(applied) => applied,
        Err(error) => {
            return match rejection_reason(&error) {
                Some(RejectionReason::NothingToRevert) => print_nothing_to_revert(output, position),
                Some(RejectionReason::TooLarge) => Err(CliError::TooMuchToRevert { position }),
                _ => Err(error),
            };
        }
    };
    editor.print_applied_edit(output, &applied, serde_json::json!({ "reverted_to": position }))?;
    let changes = editor.describe_changes(output, &applied).await;
    output.print_line(format!("reverted to {position}{changes}   at {}", applied.position))?;
    if recovers_a_sheet(&applied) {
        output.print_note(SHEET_RECOVERED);
    }
    Ok(())
}

fn rejection_reason(error: &CliError) -> Option<RejectionReason> {
    match error {
        CliError::Editor(Advised(EditorError::Rejected { rejection, .. })) => {
            Some(rejection.reason)
        }
        _ => None,
    }
}

fn print_nothing_to_revert(output: &Output, position: Position) -> Result<(), CliError> {
    output.print_json(&serde_json::json!({ "reverted_to": null }))?;
    output.print_line(format!("nothing to revert: no difference from {position}"))?;
    Ok(())
}
