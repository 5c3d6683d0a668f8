//! `cellar restore`

use cellar_core::operation::{Operation, RejectionReason, Restore};
use cellar_core::position::Position;

use super::args;
use super::catalog::use_again;
use super::context::Context;
use super::edit::Edit;
use super::error::CliError;
use super::output::Output;
use super::undo::{SHEET_IS_BACK, brings_a_sheet_back, entry_at};
use crate::editor::EditorError;

pub(super) async fn run(
    context: &Context,
    output: &Output,
    args: args::Restore,
) -> Result<(), CliError> {
    let Some(position) = args.to else { return use_again(context, output).await };
    let edit = Edit::new(context)?;
    // Before an entry is written about it.
    if let Err(why) = entry_at(&edit.client, edit.spreadsheet, position).await? {
        return Err(CliError::NoPosition { position, why });
    }
    let applied = match edit.send(output, Operation::Restore(Restore { position })).await {
        Ok(applied) => applied,
        Err(error) => return refused(output, position, error),
    };
    edit.tell(output, &applied, serde_json::json!({ "restored": position }))?;
    let what = match &applied.committed {
        Some(committed) => format!(": {}", edit.described(output, &applied, committed).await),
        None => String::new(),
    };
    output.say(format!("it is again what it was at {position}{what}   at {}", applied.position))?;
    if brings_a_sheet_back(&applied) {
        output.note(SHEET_IS_BACK);
    }
    Ok(())
}

/// A spreadsheet that is already what it was needs nothing.
fn refused(output: &Output, position: Position, error: CliError) -> Result<(), CliError> {
    let CliError::Editor(EditorError::Rejected { rejection, .. }) = &error else {
        return Err(error);
    };
    match rejection.reason {
        RejectionReason::NothingToRestore => {
            output.result(&serde_json::json!({ "restored": null }))?;
            Ok(output
                .say(format!("nothing differs from {position}: there is nothing to restore"))?)
        }
        RejectionReason::TooLarge => Err(CliError::TooMuchToRestore { position }),
        _ => Err(error),
    }
}
