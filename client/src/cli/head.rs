use super::context::Context;
use super::error::CliError;
use super::output::Output;

pub(super) async fn print_head(context: &Context, output: &Output) -> Result<(), CliError> {
    let spreadsheet = context.spreadsheet()?;
    let head = spreadsheet.head_at_or_after(context.seen_position(&spreadsheet)).await?;
    output.print_json(&head)?;
    output.print_line(head.head.to_string())?;
    Ok(())
}
