//! `cellar head`

use super::context::Context;
use super::error::CliError;
use super::output::Output;

pub(super) async fn print_head(context: &Context, output: &Output) -> Result<(), CliError> {
    let spreadsheet = context.spreadsheet()?;
    let client = context.client()?;
    let head = client.head(spreadsheet, context.seen_position(&client, spreadsheet)).await?;
    output.result(&head)?;
    output.say(head.head.to_string())?;
    Ok(())
}
