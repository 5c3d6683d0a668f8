//! Arguments of what makes, checks and ends a stack.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::diff::FailOn;

/// Arguments of `deploy`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  synth deploy                      into the account that AWS_PROFILE names\n  \
                        synth deploy --yes                without asking, as a pipeline does\n  \
                        synth deploy --plan plan.json     exactly what `synth plan` has shown\n  \
                        synth deploy --local --detach     on this machine\n  \
                        synth deploy --local --port 9000\n  \
                        synth deploy --endpoint-url http://127.0.0.1:4566\n\n\
                        Somebody has to say yes where data is at risk, a permission is broadened or \
                        something is made anew; never is something replaced or taken out that holds \
                        data, unless --allow-loss names it. Interrupted, or cut off from AWS, run it \
                        again: it follows what is on its way, and goes on."
)]
pub(crate) struct DeployArguments {
    /// Run the stack on this machine, on 127.0.0.1, with its data under .cellar/
    #[arg(long, conflicts_with_all = AWS_ONLY)]
    pub(crate) local: bool,
    /// Go on in the background; see `synth status` and `synth destroy --local`
    #[arg(long, requires = "local")]
    pub(crate) detach: bool,
    /// Port on 127.0.0.1, 0 for any that is free [default: local.port of the configuration]
    #[arg(long, requires = "local")]
    pub(crate) port: Option<u16>,
    /// Do not run the smoke test
    #[arg(long)]
    pub(crate) no_smoke: bool,
    /// Apply a plan of `synth plan`, and nothing else
    #[arg(long, value_name = "FILE", conflicts_with_all = PLANNED)]
    pub(crate) plan: Option<PathBuf>,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// How to tell what happens [default: live on a terminal, plain elsewhere]
    #[arg(long, value_enum, value_name = "HOW")]
    pub(crate) progress: Option<ProgressArgument>,
    #[command(flatten)]
    pub(crate) aws: AwsArguments,
}

/// Arguments that say nothing about a stack on this machine.
const AWS_ONLY: [&str; 9] = [
    "plan",
    "yes",
    "endpoint_url",
    "bundle",
    "artifact_bucket",
    "allow_loss",
    "express",
    "monitor_minutes",
    "ignore_alarms",
];
/// Arguments that a plan has decided already.
const PLANNED: [&str; 6] =
    ["bundle", "artifact_bucket", "allow_loss", "express", "monitor_minutes", "ignore_alarms"];

/// How to tell what happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressArgument {
    /// A list that moves
    Live,
    /// A line for each event
    Plain,
    /// A JSON object on stderr for each step and event
    Json,
}

/// Arguments of `plan`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  synth plan\n  synth plan -o plan.json && synth deploy --plan plan.json\n  \
                        synth plan --allow-loss SegmentTable\n\n\
                        The plan is bound to the account, the commit, the template and what is deployed: \
                        once one of them is another, it is not applied.\n\n\
                        Exit codes: 0 nothing to change (no plan is written), 2 a plan was written, \
                        1 an error, or a difference as grave as --fail-on says."
)]
pub(crate) struct PlanArguments {
    /// Write the plan to this file
    #[arg(short, long, value_name = "FILE", default_value = "plan.json")]
    pub(crate) output: PathBuf,
    /// Fail, and write no plan, if it is as grave as this, or graver
    #[arg(long, value_enum, value_name = "SEVERITY")]
    pub(crate) fail_on: Option<FailOn>,
    #[command(flatten)]
    pub(crate) aws: AwsArguments,
}

/// How a stack in AWS is deployed.
#[derive(Debug, Args)]
pub(crate) struct AwsArguments {
    /// Deploy into an emulator of AWS at this URL
    #[arg(long, value_name = "URL")]
    pub(crate) endpoint_url: Option<String>,
    /// The functions, built and zipped before
    #[arg(long, value_name = "FILE")]
    pub(crate) bundle: Option<PathBuf>,
    /// Bucket for bundles and templates [default: one of Cellar's in this account and region]
    #[arg(long, value_name = "NAME")]
    pub(crate) artifact_bucket: Option<String>,
    /// Let this resource be replaced or taken out though it holds data; may be given several times
    #[arg(long, value_name = "LOGICAL_ID")]
    pub(crate) allow_loss: Vec<String>,
    /// Be done before all resources are ready: for development
    #[arg(long)]
    pub(crate) express: bool,
    /// Minutes after the deployment in which the stack's own alarms still take it back
    #[arg(long, value_name = "MINUTES", default_value_t = 0, conflicts_with = "ignore_alarms",
          value_parser = clap::value_parser!(u8).range(0..=MONITOR_MINUTES_MAX))]
    pub(crate) monitor_minutes: u8,
    /// Do not take the deployment back when the stack's own alarms go off: to mend what set them off
    #[arg(long)]
    pub(crate) ignore_alarms: bool,
}

/// CloudFormation's own limit.
const MONITOR_MINUTES_MAX: i64 = 180;

/// Arguments of `smoke`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  synth smoke\n  \
                        synth smoke --url https://… --token \"$CELLAR_TOKEN\" --wait-seconds 60\n  \
                        synth smoke --format junit > smoke.xml\n\n\
                        It works on a spreadsheet of its own and clears what it has set. It appends about \
                        300 KB so that a snapshot is due: 0.0003 dollars.")]
pub(crate) struct SmokeArguments {
    /// URL of the API [default: that of the last deployment]
    #[arg(long, env = "CELLAR_URL")]
    pub(crate) url: Option<String>,
    /// Token with the role editor for all spreadsheets [default: that of the last deployment]
    #[arg(long, env = "CELLAR_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<String>,
    /// How long a stack that was just deployed may take until it answers
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    pub(crate) wait_seconds: u32,
    /// Text for people, or JUnit's XML for build servers
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: SmokeFormat,
}

/// How a smoke test is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SmokeFormat {
    /// A line for each check
    Text,
    /// XML
    Junit,
}

/// Arguments of `drift`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  synth drift\n  synth --json drift | jq .drifts\n\n\
                        Exit codes: 0 as it was deployed, 2 something was changed by hand, 1 an error.")]
pub(crate) struct DriftArguments {
    /// The stack in an emulator of AWS at this URL
    #[arg(long, value_name = "URL")]
    pub(crate) endpoint_url: Option<String>,
}

/// Arguments of `destroy`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  synth destroy                     deletes the stack in AWS, keeps its data\n  \
                        synth destroy --delete-data       and its data, for ever\n  \
                        synth destroy --local\n  \
                        synth destroy --local --delete-data --yes"
)]
pub(crate) struct DestroyArguments {
    /// The stack that runs on this machine
    #[arg(long)]
    pub(crate) local: bool,
    /// Delete its data too, for ever
    #[arg(long)]
    pub(crate) delete_data: bool,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Destroy the stack in an emulator of AWS at this URL
    #[arg(long, value_name = "URL", conflicts_with = "local")]
    pub(crate) endpoint_url: Option<String>,
}
