//! `synth status` for a stack in AWS: stack status, active alarms and dead letters.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cellar::Client;
use cellar::text::escape;
use cellar_stacks::cellar::{ARTIFACT_KEY, OUTPUT_API_URL};
use cellar_stacks::constructs::ResourceType;
use serde::Serialize;

use super::observed::ObservedStack;
use crate::aws::AwsError;
use crate::cli::Output;
use crate::error::SynthError;
use crate::moment::utc_ms;
use crate::project::ConfigSelection;

/// Logical id suffix of dead-letter queues.
const DEAD_LETTERS: &str = "DeadLetters";

/// Status of a stack in AWS.
#[derive(Debug, Serialize)]
struct Status {
    stack: String,
    stack_id: String,
    status: String,
    reason: Option<String>,
    account: String,
    region: String,
    /// Time of the last change.
    changed: Option<String>,
    url: Option<String>,
    healthy: Option<bool>,
    bundle: Option<String>,
    /// Active alarms; `None` if they could not be read.
    alarms: Option<Vec<Alarm>>,
    /// Queues with dead letters; `None` if they could not be read.
    dead_letters: Option<Vec<DeadLetters>>,
    /// Errors for parts of the status that could not be read.
    unknown: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Alarm {
    logical_id: String,
    name: String,
    reason: Option<String>,
}

#[derive(Debug, Serialize)]
struct DeadLetters {
    logical_id: String,
    messages: u64,
}

/// Prints the status of the stack in AWS, with unreadable alarms and dead letters shown as unknown.
pub(super) async fn run(
    config: ConfigSelection<'_>,
    endpoint_url: Option<&str>,
    output: &Output,
) -> Result<(), SynthError> {
    let stack = ObservedStack::find(config, endpoint_url).await?;
    let mut unknown = Vec::new();
    let mut record_error = |error: AwsError| unknown.push(error.to_string());
    let alarms = active_alarms(&stack).await.map_err(&mut record_error).ok();
    let dead_letters = dead_letters(&stack).await.map_err(&mut record_error).ok();
    let state = &stack.state;
    let url = state.outputs.get(OUTPUT_API_URL).map(|url| stack.aws.reachable_url(url));
    let healthy = match &url {
        Some(url) => Some(is_healthy(url).await?),
        None => None,
    };
    let status = Status {
        stack: stack.name.clone(),
        stack_id: state.id.clone(),
        status: state.status.clone(),
        reason: state.reason.clone(),
        account: stack.aws.account.clone(),
        region: stack.aws.region.clone(),
        changed: state.changed_ms.map(utc_ms),
        url,
        healthy,
        bundle: state.parameters.get(ARTIFACT_KEY).cloned(),
        alarms,
        dead_letters,
        unknown,
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let age =
        state.changed_ms.map(|changed_ms| now.saturating_sub(Duration::from_millis(changed_ms)));
    output.print_result(&status, &text(&status, age));
    Ok(())
}

async fn is_healthy(url: &str) -> Result<bool, SynthError> {
    Ok(Client::new(url, None)?.health().await.is_ok_and(|health| health.ok))
}

async fn active_alarms(stack: &ObservedStack) -> Result<Vec<Alarm>, AwsError> {
    let ids: Vec<(&str, &str)> = stack.ids_of_type(ResourceType::Alarm).collect();
    let names: Vec<String> = ids.iter().map(|(_, name)| (*name).to_owned()).collect();
    let active = stack.aws.active_alarms(&names).await?;
    let mut alarms = Vec::new();
    for (logical_id, name) in ids {
        if let Some(alarm) = active.iter().find(|alarm| alarm.alarm_name == name) {
            let (logical_id, name) = (logical_id.to_owned(), name.to_owned());
            alarms.push(Alarm { logical_id, name, reason: alarm.state_reason.clone() });
        }
    }
    Ok(alarms)
}

async fn dead_letters(stack: &ObservedStack) -> Result<Vec<DeadLetters>, AwsError> {
    let mut dead_letters = Vec::new();
    for (logical_id, url) in stack.ids_of_type(ResourceType::Queue) {
        if !logical_id.ends_with(DEAD_LETTERS) {
            continue;
        }
        let messages = stack.aws.message_count(url).await?;
        if messages > 0 {
            dead_letters.push(DeadLetters { logical_id: logical_id.to_owned(), messages });
        }
    }
    Ok(dead_letters)
}

fn text(status: &Status, age: Option<Duration>) -> String {
    let Status { stack, account, region, .. } = status;
    let mut lines = vec![format!("{stack} is {} in account {account}, {region}", status.status)];
    let mut add_line = |name: &str, text: &str| lines.push(format!("  {name:<8} {}", escape(text)));
    if let Some(reason) = &status.reason {
        add_line("reason", reason);
    }
    let health = if status.healthy == Some(true) { "healthy" } else { "NOT responding" };
    match &status.url {
        Some(url) => add_line("url", &format!("{url} ({health})")),
        None => add_line("url", "none yet"),
    }
    if let (Some(changed), Some(age)) = (&status.changed, age) {
        let age = humantime::format_duration(Duration::from_secs(age.as_secs()));
        add_line("changed", &format!("{changed}, {age} ago"));
    }
    if let Some(bundle) = &status.bundle {
        add_line("bundle", bundle);
    }
    for alarm in status.alarms.iter().flatten() {
        let reason = alarm.reason.as_deref().unwrap_or("no reason is given");
        add_line("ALARM", &format!("{}: {reason}", alarm.logical_id));
    }
    for queue in status.dead_letters.iter().flatten() {
        add_line("DEAD", &format!("{} messages in {}", queue.messages, queue.logical_id));
    }
    for error in &status.unknown {
        add_line("unknown", error);
    }
    lines.extend(next_step(status));
    lines.join("\n")
}

/// Returns hints, with commands to run, for a stack with problems.
fn next_step(status: &Status) -> Option<String> {
    let has_alarms = status.alarms.iter().flatten().next().is_some();
    let has_dead_letters = status.dead_letters.iter().flatten().next().is_some();
    let next_step = if has_alarms || has_dead_letters {
        "`synth runbook` describes what to do; `synth logs --errors` shows the errors."
    } else if status.healthy == Some(false) {
        "`synth logs api --errors` shows why the API does not respond."
    } else {
        return None;
    };
    Some(next_step.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn healthy() -> Status {
        Status {
            stack: "books".to_owned(),
            stack_id: "arn".to_owned(),
            status: "UPDATE_COMPLETE".to_owned(),
            reason: None,
            account: "1".to_owned(),
            region: "eu-west-1".to_owned(),
            changed: Some(utc_ms(1_793_516_645_000)),
            url: Some("https://u/".to_owned()),
            healthy: Some(true),
            bundle: Some("bundles/b.zip".to_owned()),
            alarms: Some(Vec::new()),
            dead_letters: Some(Vec::new()),
            unknown: Vec::new(),
        }
    }

    #[test]
    fn a_healthy_stack_is_shown_in_four_lines() {
        let shown = text(&healthy(), Some(Duration::from_millis(61_500)));
        let expected = "books is UPDATE_COMPLETE in account 1, eu-west-1\n  \
                        url      https://u/ (healthy)\n  \
                        changed  2026-11-01T07:04:05.000Z, 1m 1s ago\n  \
                        bundle   bundles/b.zip";
        assert_eq!(shown, expected);
    }

    #[test]
    fn problems_are_shown_with_the_next_step() {
        let mut status = healthy();
        status.healthy = Some(false);
        assert!(
            text(&status, None)
                .ends_with("`synth logs api --errors` shows why the API does not respond.")
        );
        let (logical_id, name) = ("ApiErrorsAlarm".to_owned(), "a-1".to_owned());
        status.alarms = Some(vec![Alarm { logical_id, name, reason: Some("5 > 4\n".to_owned()) }]);
        let logical_id = "ChangeStreamDeadLetters".to_owned();
        status.dead_letters = Some(vec![DeadLetters { logical_id, messages: 3 }]);
        status.unknown.push("cannot read".to_owned());
        let shown = text(&status, None);
        for line in [
            "url      https://u/ (NOT responding)",
            "ALARM    ApiErrorsAlarm: 5 > 4\\n",
            "DEAD     3 messages in ChangeStreamDeadLetters",
            "unknown  cannot read",
            "`synth runbook`",
        ] {
            assert!(shown.contains(line), "{line}: {shown}");
        }
    }
}
