//! `cellar health`

use super::context::Context;
use super::error::CliError;
use super::output::Output;
use crate::table::escape;

pub(super) async fn run(context: &Context, output: &Output) -> Result<(), CliError> {
    let client = context.client()?;
    let health = client.health().await?;
    output.result(&health)?;
    let state = if health.ok { "fine" } else { "not fine" };
    output.say(format!(
        "{}: {state}, stack {}, build {}",
        client.url(),
        escape(&health.stack),
        escape(&health.build)
    ))?;
    for part in &health.dependencies {
        let (mark, word) = if part.ok { ("✔", "reachable") } else { ("✘", "not reachable") };
        output.say(format!("  {mark} {} {word}", escape(&part.name)))?;
    }
    if health.ok {
        return Ok(());
    }
    let missing: Vec<String> =
        health.dependencies.iter().filter(|part| !part.ok).map(|part| escape(&part.name)).collect();
    Err(CliError::Unhealthy { missing: missing.join(", ") })
}
