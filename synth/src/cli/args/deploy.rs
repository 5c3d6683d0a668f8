//! Arguments of the commands that deploy, test and delete a stack.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use cellar_base::duration::{DurationFault, DurationUnit, parse_duration};
use clap::{Args, ValueEnum};

use super::diff::FailOn;

/// Arguments of `deploy`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  synth deploy                      deploy to the account of AWS_PROFILE\n  \
                        synth deploy --yes                skip the confirmation prompt, as in CI\n  \
                        synth deploy --plan plan.json     apply exactly this saved plan\n  \
                        synth deploy --local --detach     run on this machine, in the background\n  \
                        synth deploy --local --port 9000\n  \
                        synth deploy --endpoint-url http://127.0.0.1:4566\n\n\
                        Changes that put data at risk, grant new permissions or replace resources require \
                        confirmation. A resource that holds data is deleted or replaced only if \
                        --allow-data-loss names it. If the command is interrupted, run it again: it resumes \
                        the deployment in progress."
)]
pub(crate) struct DeployArguments {
    /// Run the stack on this machine, on 127.0.0.1, with its data under .cellar/
    #[arg(long, conflicts_with_all = AWS_ONLY)]
    pub(crate) local: bool,
    /// Run in the background (stop it with `synth stop`)
    #[arg(long, requires = "local")]
    pub(crate) detach: bool,
    /// Port on 127.0.0.1; 0 picks a free port [default: local.port of the configuration]
    #[arg(long, requires = "local")]
    pub(crate) port: Option<u16>,
    /// Skip the smoke test
    #[arg(long)]
    pub(crate) no_smoke: bool,
    /// Apply the plan in this file, which `synth plan` has saved
    #[arg(long, value_name = "FILE", conflicts_with_all = PLANNED)]
    pub(crate) plan: Option<PathBuf>,
    /// Skip the confirmation prompt
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Progress output [default: live on a terminal, otherwise plain]
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) progress: Option<ProgressArgument>,
    #[command(flatten)]
    pub(crate) aws: AwsArguments,
}

/// Names of the arguments that apply only to a stack in AWS.
const AWS_ONLY: [&str; 9] = [
    "plan",
    "yes",
    "endpoint_url",
    "bundle",
    "artifact_bucket",
    "allow_data_loss",
    "express",
    "monitor_minutes",
    "ignore_alarms",
];
/// Names of the arguments whose values are stored in a saved plan. They cannot be combined with
/// `--plan`.
const PLANNED: [&str; 6] =
    ["bundle", "artifact_bucket", "allow_data_loss", "express", "monitor_minutes", "ignore_alarms"];

/// Output modes for progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressArgument {
    /// Updated in place
    Live,
    /// One line per event
    Plain,
    /// One JSON object per event, on stderr
    Json,
}

/// Arguments of `plan`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  synth plan\n  synth plan -o plan.json && synth deploy --plan plan.json\n  \
                        synth plan --allow-data-loss SegmentTable\n\n\
                        A plan is valid only for its account, commit, template and deployed stack: if one \
                        of them changes, `deploy --plan` refuses it. Changes that were made outside \
                        CloudFormation are shown, and applying the plan undoes them, unless you pass \
                        --keep-drift.\n\n\
                        Exit codes: 0 no changes (no plan is written), 2 a plan was written, 1 an error, or \
                        a change of the severity of --fail-on."
)]
pub(crate) struct PlanArguments {
    /// Output file of the plan
    #[arg(short, long, value_name = "FILE", default_value = "plan.json")]
    pub(crate) output: PathBuf,
    /// Exit with 1, and write no plan, if a change has this severity or higher
    #[arg(long, value_enum, value_name = "SEVERITY")]
    pub(crate) fail_on: Option<FailOn>,
    /// Keep changes that were made outside CloudFormation, unless the template changes the same
    /// property
    #[arg(long)]
    pub(crate) keep_drift: bool,
    #[command(flatten)]
    pub(crate) aws: AwsArguments,
}

/// Options of a deployment to AWS.
#[derive(Debug, Args)]
pub(crate) struct AwsArguments {
    /// URL of an AWS emulator to use instead of AWS
    #[arg(long, value_name = "URL")]
    pub(crate) endpoint_url: Option<String>,
    /// Prebuilt bundle to deploy
    #[arg(long, value_name = "FILE")]
    pub(crate) bundle: Option<PathBuf>,
    /// S3 bucket for bundles and templates [default: Cellar's bucket in this account and region]
    #[arg(long, value_name = "NAME")]
    pub(crate) artifact_bucket: Option<String>,
    /// Allow the deployment to delete or replace this resource, although it holds data (repeatable)
    #[arg(long, value_name = "LOGICAL_ID")]
    pub(crate) allow_data_loss: Vec<String>,
    /// Use CloudFormation's express mode, which returns before resources are stable (for
    /// development only)
    #[arg(long)]
    pub(crate) express: bool,
    /// Time after the deployment during which a firing alarm rolls it back, such as 10m (at most 3h)
    #[arg(long = "monitor", value_name = "DURATION", default_value = "0m",
          conflicts_with = "ignore_alarms", value_parser = parse_monitor_minutes)]
    pub(crate) monitor_minutes: u8,
    /// Do not roll back the deployment when an alarm fires (use it to deploy a fix for the cause of
    /// an alarm)
    #[arg(long)]
    pub(crate) ignore_alarms: bool,
}

/// Accepted range of `--monitor` in minutes, as limited by CloudFormation.
const MONITOR_MINUTES: RangeInclusive<u64> = 0..=180;
/// Accepted range of `smoke --wait`, in seconds.
const WAIT_S: RangeInclusive<u64> = 0..=86_400;

fn parse_monitor_minutes(text: &str) -> Result<u8, DurationFault> {
    let minutes = parse_duration(text, DurationUnit::Minutes, &MONITOR_MINUTES)?;
    Ok(u8::try_from(minutes).unwrap_or(u8::MAX))
}

fn parse_wait(text: &str) -> Result<Duration, DurationFault> {
    parse_duration(text, DurationUnit::Seconds, &WAIT_S).map(Duration::from_secs)
}

/// Arguments of `smoke`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  synth smoke\n  \
                        synth smoke --url https://… --token \"$CELLAR_TOKEN\" --wait 60s\n  \
                        synth smoke --format junit > smoke.xml\n\n\
                        The test creates its own spreadsheet and clears the cells that it sets. It appends \
                        about 300 KB to trigger a snapshot, which costs $0.0003.")]
pub(crate) struct SmokeArguments {
    /// URL of the API [default: the URL of the last deployment]
    #[arg(long, env = "CELLAR_URL")]
    pub(crate) url: Option<String>,
    /// Operator token with the role editor [default: the token of the last deployment]
    #[arg(long, env = "CELLAR_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<String>,
    /// How long to wait for a new stack to respond, such as 60s
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = parse_wait)]
    pub(crate) wait: Duration,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: SmokeFormat,
}

/// Report formats of a smoke test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SmokeFormat {
    /// One line per check
    Text,
    /// JUnit XML, for CI
    Junit,
}

/// Arguments of `drift`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  synth drift\n  synth --json drift | jq .drifts\n\n\
                        Exit codes: 0 no drift, 2 drift found, 1 an error.")]
pub(crate) struct DriftArguments {
    /// URL of an AWS emulator to use instead of AWS
    #[arg(long, value_name = "URL")]
    pub(crate) endpoint_url: Option<String>,
}

/// Arguments of `destroy`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  synth destroy                     delete the stack in AWS, keep its data\n  \
                        synth destroy --delete-data       also delete its data\n  \
                        synth destroy --local --delete-data --yes\n\n\
                        `synth stop` stops the local stack and keeps its data, as does `synth destroy \
                        --local` without --delete-data. With it, the command also deletes what `cellar` keeps \
                        of the local stack in .cellar/: the profile with its token, cached cells, and edits \
                        that were not sent. Once the deletion is confirmed, the termination protection of the stack is turned \
                        off."
)]
pub(crate) struct DestroyArguments {
    /// Destroy the local stack
    #[arg(long)]
    pub(crate) local: bool,
    /// Also delete the data, permanently
    #[arg(long)]
    pub(crate) delete_data: bool,
    /// Skip the confirmation prompt
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// URL of an AWS emulator to use instead of AWS
    #[arg(long, value_name = "URL", conflicts_with = "local")]
    pub(crate) endpoint_url: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_and_monitoring_times_are_bounded() {
        assert_eq!((parse_monitor_minutes("0m"), parse_monitor_minutes("3h")), (Ok(0), Ok(180)));
        for bad in ["181m", "90s", "10"] {
            assert!(parse_monitor_minutes(bad).is_err(), "{bad}");
        }
        assert_eq!(parse_wait("0s"), Ok(Duration::ZERO));
        assert_eq!(parse_wait("1d"), Ok(Duration::from_secs(*WAIT_S.end())));
        let no_unit = parse_wait("60").unwrap_err().to_string();
        assert_eq!(no_unit, "`60` has no unit: write 60s for 60 seconds");
        assert!(parse_wait("1d 1s").is_err());
    }
}
