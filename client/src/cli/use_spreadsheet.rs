use super::args;
use super::context::Context;
use super::error::CliError;
use super::output::Output;

pub(super) async fn select_spreadsheet(
    context: &mut Context,
    output: &Output,
    args: args::Use,
) -> Result<(), CliError> {
    // Read the spreadsheet, so that a wrong id is reported now and not by the next command.
    let head = context.client()?.spreadsheet(args.id).head().await?;
    context.select(args.id, output)?;
    output.print_json(
        &serde_json::json!({ "id": args.id, "head": head.head, "incarnation": head.incarnation }),
    )?;
    output.print_line(format!("selected {} at {}", args.id, head.head))?;
    Ok(())
}
