//! `synth status` of a stack in AWS: what runs, and what is wrong with it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cellar::Client;
use cellar::table::escape;
use cellar_stacks::cellar::{ARTIFACT_KEY, OUTPUT_API_URL};
use cellar_stacks::constructs::ResourceType;
use serde::Serialize;

use super::watched::Watched;
use crate::aws::AwsError;
use crate::cli::Output;
use crate::error::SynthError;
use crate::log_lines::moment;
use crate::project::Named;

/// Queues that only hold what nobody could do.
const DEAD_LETTERS: &str = "DeadLetters";

#[derive(Debug, Serialize)]
struct Status {
    stack: String,
    stack_id: String,
    status: String,
    reason: Option<String>,
    account: String,
    region: String,
    changed: Option<String>,
    url: Option<String>,
    healthy: Option<bool>,
    bundle: Option<String>,
    /// Absent if they could not be read.
    alarms: Option<Vec<Alarm>>,
    /// Absent if they could not be counted.
    dead_letters: Option<Vec<DeadLetters>>,
    /// Why something is absent.
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

/// Shows it.
pub(super) async fn run(
    config: Named<'_>,
    endpoint_url: Option<&str>,
    output: &Output,
) -> Result<(), SynthError> {
    let watched = Watched::find(config, endpoint_url).await?;
    let mut unknown = Vec::new();
    let mut known = |error: AwsError| unknown.push(error.to_string());
    let alarms = alarms(&watched).await.map_err(&mut known).ok();
    let dead_letters = dead_letters(&watched).await.map_err(&mut known).ok();
    let state = &watched.state;
    let url = state.outputs.get(OUTPUT_API_URL).map(|url| watched.aws.reached_url(url));
    let status = Status {
        stack: watched.name.clone(),
        stack_id: state.id.clone(),
        status: state.status.clone(),
        reason: state.reason.clone(),
        account: watched.aws.account.clone(),
        region: watched.aws.region.clone(),
        changed: state.changed_ms.map(moment),
        healthy: match &url {
            Some(url) => Some(answers(url).await?),
            None => None,
        },
        url,
        bundle: state.parameters.get(ARTIFACT_KEY).cloned(),
        alarms,
        dead_letters,
        unknown,
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let age = state.changed_ms.map(|ms| now.saturating_sub(Duration::from_millis(ms)));
    output.result(&status, &text(&status, age));
    Ok(())
}

async fn answers(url: &str) -> Result<bool, SynthError> {
    Ok(Client::new(url, None)?.health().await.is_ok_and(|health| health.ok))
}

async fn alarms(watched: &Watched) -> Result<Vec<Alarm>, AwsError> {
    let ids: Vec<(&str, &str)> = watched.of_type(ResourceType::Alarm).collect();
    let names: Vec<String> = ids.iter().map(|(_, name)| (*name).to_owned()).collect();
    let off = watched.aws.alarms_off(&names).await?;
    let alarms = ids.into_iter().filter_map(|(logical_id, name)| {
        let alarm = off.iter().find(|alarm| alarm.alarm_name == name)?;
        let (logical_id, name) = (logical_id.to_owned(), name.to_owned());
        Some(Alarm { logical_id, name, reason: alarm.state_reason.clone() })
    });
    Ok(alarms.collect())
}

async fn dead_letters(watched: &Watched) -> Result<Vec<DeadLetters>, AwsError> {
    let mut dead_letters = Vec::new();
    let queues = watched.of_type(ResourceType::Queue);
    for (logical_id, url) in queues.filter(|(id, _)| id.ends_with(DEAD_LETTERS)) {
        let messages = watched.aws.waiting_messages(url).await?;
        if messages > 0 {
            dead_letters.push(DeadLetters { logical_id: logical_id.to_owned(), messages });
        }
    }
    Ok(dead_letters)
}

fn text(status: &Status, age: Option<Duration>) -> String {
    let Status { stack, account, region, .. } = status;
    let mut lines = vec![format!("{stack} is {} in account {account}, {region}", status.status)];
    let mut line = |name: &str, text: &str| lines.push(format!("  {name:<8} {}", escape(text)));
    if let Some(reason) = &status.reason {
        line("because", reason);
    }
    let health = if status.healthy == Some(true) { "healthy" } else { "NOT answering" };
    match &status.url {
        Some(url) => line("url", &format!("{url} ({health})")),
        None => line("url", "none yet"),
    }
    if let (Some(changed), Some(age)) = (&status.changed, age) {
        let age = humantime::format_duration(Duration::from_secs(age.as_secs()));
        line("changed", &format!("{changed}, {age} ago"));
    }
    if let Some(bundle) = &status.bundle {
        line("bundle", bundle);
    }
    for alarm in status.alarms.iter().flatten() {
        let reason = alarm.reason.as_deref().unwrap_or("no reason is told");
        line("ALARM", &format!("{}: {reason}", alarm.logical_id));
    }
    for queue in status.dead_letters.iter().flatten() {
        line("DEAD", &format!("{} messages in {}", queue.messages, queue.logical_id));
    }
    for unknown in &status.unknown {
        line("unknown", unknown);
    }
    lines.extend(next(status));
    lines.join("\n")
}

/// What to type, if something is wrong.
fn next(status: &Status) -> Option<String> {
    let alarms = status.alarms.iter().flatten().count();
    let dead_letters = status.dead_letters.iter().flatten().count();
    match (alarms + dead_letters, status.healthy) {
        (0, Some(false)) => {
            Some("`synth logs api --errors` says why it does not answer.".to_owned())
        }
        (0, _) => None,
        _ => Some(
            "`synth runbook` says what to do about each; `synth logs --errors` shows what failed."
                .to_owned(),
        ),
    }
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
            changed: Some(moment(1_793_516_645_000)),
            url: Some("https://u/".to_owned()),
            healthy: Some(true),
            bundle: Some("bundles/b.zip".to_owned()),
            alarms: Some(Vec::new()),
            dead_letters: Some(Vec::new()),
            unknown: Vec::new(),
        }
    }

    #[test]
    fn a_stack_that_is_well_is_shown_in_four_lines() {
        let shown = text(&healthy(), Some(Duration::from_millis(61_500)));
        let expected = "books is UPDATE_COMPLETE in account 1, eu-west-1\n  \
                        url      https://u/ (healthy)\n  \
                        changed  2026-11-01T07:04:05.000Z, 1m 1s ago\n  \
                        bundle   bundles/b.zip";
        assert_eq!(shown, expected);
    }

    #[test]
    fn what_is_wrong_is_told_with_what_to_do() {
        let mut status = healthy();
        status.healthy = Some(false);
        assert!(
            text(&status, None).ends_with("`synth logs api --errors` says why it does not answer.")
        );
        let (logical_id, name) = ("ApiErrorsAlarm".to_owned(), "a-1".to_owned());
        status.alarms = Some(vec![Alarm { logical_id, name, reason: Some("5 > 4\n".to_owned()) }]);
        let logical_id = "ChangeStreamDeadLetters".to_owned();
        status.dead_letters = Some(vec![DeadLetters { logical_id, messages: 3 }]);
        status.unknown.push("cannot read".to_owned());
        let shown = text(&status, None);
        for line in [
            "url      https://u/ (NOT answering)",
            "ALARM    ApiErrorsAlarm: 5 > 4\\n",
            "DEAD     3 messages in ChangeStreamDeadLetters",
            "unknown  cannot read",
            "`synth runbook`",
        ] {
            assert!(shown.contains(line), "{line}: {shown}");
        }
    }
}
