//! `cellar use`

use super::args;
use super::context::Context;
use super::error::CliError;
use super::output::Output;

pub(super) async fn run(
    context: &mut Context,
    output: &Output,
    args: args::Use,
) -> Result<(), CliError> {
    // An id with a mistake in it is found now, not at the next command.
    let head = context.client()?.head(args.id, None).await?;
    context.remember(args.id, output)?;
    output.result(
        &serde_json::json!({ "id": args.id, "head": head.head, "incarnation": head.incarnation }),
    )?;
    output.say(format!("{} is the current spreadsheet now, at {}.", args.id, head.head))?;
    Ok(())
}
