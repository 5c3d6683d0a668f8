use super::context::Context;
use super::error::CliError;
use super::output::Output;
use crate::text::escape;

pub(super) async fn check_health(context: &Context, output: &Output) -> Result<(), CliError> {
    let client = context.client()?;
    let health = client.health().await?;
    output.print_json(&health)?;
    let status = if health.ok { "healthy" } else { "unhealthy" };
    output.print_line(format!(
        "{}: {status}, stack {}, build {}",
        client.url(),
        escape(&health.stack),
        escape(&health.build)
    ))?;
    let mut unavailable = Vec::new();
    for dependency in &health.dependencies {
        let name = escape(&dependency.name);
        if dependency.ok {
            output.print_line(format!("  ✔ {name} reachable"))?;
        } else {
            output.print_line(format!("  ✘ {name} not reachable"))?;
            unavailable.push(name);
        }
    }
    if health.ok {
        return Ok(());
    }
    Err(CliError::Unhealthy { unavailable: unavailable.join(", ") })
}
