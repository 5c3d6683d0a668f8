use cellar_api::wire::{SheetView, SheetsReply};
use cellar_sheet::operation::{AddSheet, DeleteSheet, Operation, RenameSheet};
use console::Alignment;

use super::args::{self, SheetsCommand};
use super::at::{At, find_optional, print_json_with_times};
use super::context::Context;
use super::edit::CommandEditor;
use super::error::CliError;
use super::output::{Output, count, format_rows};
use crate::sheet_deletion::find_sheet;
use crate::text::escape;

pub(super) async fn list_or_edit_sheets(
    context: &Context,
    output: &Output,
    args: args::Sheets,
) -> Result<(), CliError> {
    match args.command {
        None => list_sheets(context, output, args.at.as_ref()).await,
        Some(SheetsCommand::Add { name }) => add_sheet(context, output, name).await,
        Some(SheetsCommand::Rename { old, new }) => rename_sheet(context, output, &old, new).await,
        Some(SheetsCommand::Delete { name }) => delete_sheet(context, output, &name).await,
    }
}

async fn list_sheets(context: &Context, output: &Output, at: Option<&At>) -> Result<(), CliError> {
    let spreadsheet = context.spreadsheet()?;
    let at = find_optional(at, &spreadsheet, output).await?;
    let reply = match &at {
        Some(at) => spreadsheet.sheets_at(at.position).await?,
        None => spreadsheet.sheets_at_or_after(context.seen_position(&spreadsheet)).await?,
    };
    print_json_with_times(output, &reply, [at.as_ref()])?;
    output.print_lines(format_sheets(&reply.sheets))?;
    context.print_unsent_note(&spreadsheet, output);
    Ok(())
}

fn format_sheets(sheets: &[SheetView]) -> Vec<String> {
    let name_and_size = |sheet: &SheetView| {
        let rows = count(sheet.extent.rows, "row", "rows");
        let columns = count(sheet.extent.columns, "column", "columns");
        [escape(&sheet.name), format!("{rows}, {columns}")]
    };
    let lines: Vec<_> = sheets.iter().map(name_and_size).collect();
    format_rows([Alignment::Left; 2], &lines)
}

async fn add_sheet(context: &Context, output: &Output, name: String) -> Result<(), CliError> {
    let editor = CommandEditor::open(context)?;
    let sheets = editor.list_sheets().await?;
    check_name_is_free(&sheets, &name)?;
    let description = format!("added sheet {}", escape(&name));
    let operation = Operation::AddSheet(AddSheet { sheet: sheets.next_sheet, name, before: None });
    editor.apply_and_print(output, operation, &description).await
}

async fn rename_sheet(
    context: &Context,
    output: &Output,
    old_name: &str,
    new_name: String,
) -> Result<(), CliError> {
    let editor = CommandEditor::open(context)?;
    let sheet = editor.sheet_number(Some(old_name)).await?;
    // If the names differ only in case, the check would find the sheet that is being renamed.
    if old_name.to_lowercase() != new_name.to_lowercase() {
        check_name_is_free(&editor.list_sheets().await?, &new_name)?;
    }
    let description = format!("renamed sheet {} to {}", escape(old_name), escape(&new_name));
    let operation = Operation::RenameSheet(RenameSheet { sheet, name: new_name });
    editor.apply_and_print(output, operation, &description).await
}

async fn delete_sheet(context: &Context, output: &Output, name: &str) -> Result<(), CliError> {
    let editor = CommandEditor::open(context)?;
    let sheet = editor.sheet_number(Some(name)).await?;
    if editor.list_sheets().await?.sheets.len() == 1 {
        return Err(CliError::LastSheet { name: escape(name) });
    }
    let description = format!("deleted sheet {}", escape(name));
    editor
        .apply_and_print(output, Operation::DeleteSheet(DeleteSheet { sheet }), &description)
        .await
}

/// Fails if a sheet with this name exists. Otherwise, the server would silently append a number to
/// the name.
fn check_name_is_free(sheets: &SheetsReply, name: &str) -> Result<(), CliError> {
    match find_sheet(&sheets.sheets, name) {
        Some(sheet) => Err(CliError::SheetExists { name: escape(&sheet.name) }),
        None => Ok(()),
    }
}
