//! `synth status` for a stack in AWS: shows the stack status, the active alarms and the dead
//! letters.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cellar::text::escape;
use cellar_stacks::cellar::{ARTIFACT_KEY, OUTPUT_API_URL};
use cellar_stacks::constructs::ResourceType;
use serde::Serialize;

use super::observed::ObservedStack;
use super::status::is_healthy;
use crate::aws::AwsError;
use crate::cli::Output;
use crate::deployment::ProtectionChange;
use crate::error::SynthError;
use crate::moment::format_utc_ms;
use crate::project::ConfigSelection;

const DEAD_LETTERS_SUFFIX: &str = "DeadLetters";

#[derive(Debug, Serialize)]
struct AwsStatus {
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
    /// Whether CloudFormation refuses to delete the stack.
    termination_protection: bool,
    #[serde(skip)]
    protection_change: Option<ProtectionChange>,
    /// `None` if they could not be read.
    alarms: Option<Vec<Alarm>>,
    /// `None` if they could not be read.
    dead_letters: Option<Vec<DeadLetters>>,
    /// Errors that occurred while the status was read.
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

/// Alarms and dead letters that cannot be read are shown as unknown.
pub(super) async fn show_aws_status(
    config_selection: ConfigSelection<'_>,
    endpoint_url: Option<&str>,
    output: &Output,
) -> Result<(), SynthError> {
    let observed = ObservedStack::find(config_selection, endpoint_url).await?;
    let status = AwsStatus::read(&observed).await?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let changed_ms = observed.state.changed_ms;
    let age = changed_ms.map(|changed_ms| now.saturating_sub(Duration::from_millis(changed_ms)));
    output.print_result(&status, &status.to_text(age));
    Ok(())
}

impl AwsStatus {
    async fn read(observed: &ObservedStack) -> Result<Self, SynthError> {
        let mut unknown = Vec::new();
        let alarms = read_active_alarms(observed).await;
        if let Err(error) = &alarms {
            unknown.push(error.to_string());
        }
        let dead_letters = read_dead_letters(observed).await;
        if let Err(error) = &dead_letters {
            unknown.push(error.to_string());
        }
        let ObservedStack { name, aws, state: stack, .. } = observed;
        let url = stack.outputs.get(OUTPUT_API_URL).map(|url| aws.reachable_url(url));
        let healthy = match &url {
            Some(url) => Some(is_healthy(url).await?),
            None => None,
        };
        Ok(Self {
            stack: name.clone(),
            stack_id: stack.id.clone(),
            status: stack.status.clone(),
            reason: stack.reason.clone(),
            account: aws.account.clone(),
            region: aws.region.clone(),
            changed: stack.changed_ms.map(format_utc_ms),
            url,
            healthy,
            bundle: stack.parameters.get(ARTIFACT_KEY).cloned(),
            termination_protection: stack.termination_protection,
            protection_change: ProtectionChange::needed(stack, observed.deletion_protection),
            alarms: alarms.ok(),
            dead_letters: dead_letters.ok(),
            unknown,
        })
    }
}

async fn read_active_alarms(observed: &ObservedStack) -> Result<Vec<Alarm>, AwsError> {
    let ids_and_names: Vec<(&str, &str)> = observed.ids_of_type(ResourceType::Alarm).collect();
    let names: Vec<String> = ids_and_names.iter().map(|(_, name)| (*name).to_owned()).collect();
    let alarm_states = observed.aws.active_alarms(&names).await?;
    let mut alarms = Vec::new();
    for (logical_id, name) in ids_and_names {
        if let Some(alarm_state) = alarm_states.iter().find(|state| state.alarm_name == name) {
            alarms.push(Alarm {
                logical_id: logical_id.to_owned(),
                name: name.to_owned(),
                reason: alarm_state.state_reason.clone(),
            });
        }
    }
    Ok(alarms)
}

async fn read_dead_letters(observed: &ObservedStack) -> Result<Vec<DeadLetters>, AwsError> {
    let mut dead_letters = Vec::new();
    for (logical_id, queue_url) in observed.ids_of_type(ResourceType::Queue) {
        if !logical_id.ends_with(DEAD_LETTERS_SUFFIX) {
            continue;
        }
        let message_count = observed.aws.message_count(queue_url).await?;
        if message_count > 0 {
            let logical_id = logical_id.to_owned();
            dead_letters.push(DeadLetters { logical_id, messages: message_count });
        }
    }
    Ok(dead_letters)
}

impl AwsStatus {
    fn to_text(&self, age: Option<Duration>) -> String {
        let Self { stack, status, account, region, .. } = self;
        let mut lines = vec![format!("{stack} is {status} in account {account}, {region}")];
        for (label, value) in self.labels_and_values(age) {
            lines.push(format!("  {label:<8} {}", escape(&value)));
        }
        lines.extend(self.advice().map(str::to_owned));
        lines.join("\n")
    }

    fn labels_and_values(&self, age: Option<Duration>) -> Vec<(&'static str, String)> {
        let mut rows = Vec::new();
        if let Some(reason) = &self.reason {
            rows.push(("reason", reason.clone()));
        }
        let health = if self.healthy == Some(true) { "healthy" } else { "NOT responding" };
        match &self.url {
            Some(url) => rows.push(("url", format!("{url} ({health})"))),
            None => rows.push(("url", "none yet".to_owned())),
        }
        if let (Some(changed), Some(age)) = (&self.changed, age) {
            let age = humantime::format_duration(Duration::from_secs(age.as_secs()));
            rows.push(("changed", format!("{changed}, {age} ago")));
        }
        if let Some(bundle) = &self.bundle {
            rows.push(("bundle", bundle.clone()));
        }
        rows.push(("deletion", self.protection_text().to_owned()));
        for alarm in self.alarms.iter().flatten() {
            let reason = alarm.reason.as_deref().unwrap_or("no reason is given");
            rows.push(("ALARM", format!("{}: {reason}", alarm.logical_id)));
        }
        for queue in self.dead_letters.iter().flatten() {
            let DeadLetters { logical_id, messages } = queue;
            rows.push(("DEAD", format!("{messages} messages in {logical_id}")));
        }
        for error in &self.unknown {
            rows.push(("unknown", error.clone()));
        }
        rows
    }

    fn protection_text(&self) -> &'static str {
        match (self.termination_protection, self.protection_change) {
            (true, None) => "protected",
            (true, Some(_)) => "protected; `synth deploy` turns the protection off, as configured",
            (false, Some(_)) => "NOT protected; `synth deploy` turns the protection on",
            (false, None) => "not protected, as configured",
        }
    }

    fn advice(&self) -> Option<&'static str> {
        let has_alarms = self.alarms.as_ref().is_some_and(|alarms| !alarms.is_empty());
        let has_dead_letters = self.dead_letters.as_ref().is_some_and(|queues| !queues.is_empty());
        if has_alarms || has_dead_letters {
            Some("`synth runbook` describes what to do; `synth logs --errors` shows the errors.")
        } else if self.healthy == Some(false) {
            Some("`synth logs api --errors` shows why the API does not respond.")
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn healthy() -> AwsStatus {
        AwsStatus {
            stack: "books".to_owned(),
            stack_id: "arn".to_owned(),
            status: "UPDATE_COMPLETE".to_owned(),
            reason: None,
            account: "1".to_owned(),
            region: "eu-west-1".to_owned(),
            changed: Some(format_utc_ms(1_793_516_645_000)),
            url: Some("https://u/".to_owned()),
            healthy: Some(true),
            bundle: Some("bundles/b.zip".to_owned()),
            termination_protection: true,
            protection_change: None,
            alarms: Some(Vec::new()),
            dead_letters: Some(Vec::new()),
            unknown: Vec::new(),
        }
    }

    #[test]
    fn a_healthy_stack_is_shown_in_five_lines() {
        let shown = healthy().to_text(Some(Duration::from_millis(61_500)));
        let expected = "books is UPDATE_COMPLETE in account 1, eu-west-1\n  \
                        url      https://u/ (healthy)\n  \
                        changed  2026-11-01T07:04:05.000Z, 1m 1s ago\n  \
                        bundle   bundles/b.zip\n  \
                        deletion protected";
        assert_eq!(shown, expected);
    }

    #[test]
    fn problems_are_shown_with_the_next_step() {
        let mut status = healthy();
        status.healthy = Some(false);
        assert!(
            status
                .to_text(None)
                .ends_with("`synth logs api --errors` shows why the API does not respond.")
        );
        let (logical_id, name) = ("ApiErrorsAlarm".to_owned(), "a-1".to_owned());
        status.alarms = Some(vec![Alarm { logical_id, name, reason: Some("5 > 4\n".to_owned()) }]);
        let logical_id = "ChangeStreamDeadLetters".to_owned();
        status.dead_letters = Some(vec![DeadLetters { logical_id, messages: 3 }]);
        status.unknown.push("cannot read".to_owned());
        status.termination_protection = false;
        status.protection_change = Some(ProtectionChange::TurnOn);
        let shown = status.to_text(None);
        for line in [
            "url      https://u/ (NOT responding)",
            "ALARM    ApiErrorsAlarm: 5 > 4\\n",
            "DEAD     3 messages in ChangeStreamDeadLetters",
            "unknown  cannot read",
            "deletion NOT protected; `synth deploy` turns the protection on",
            "`synth runbook`",
        ] {
            assert!(shown.contains(line), "{line}: {shown}");
        }
    }
}
