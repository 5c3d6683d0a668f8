//! Command-line arguments of `synth`.

mod bundle;
mod deploy;
mod diff;
mod feed;
mod token;
mod upkeep;
mod usage;
mod watch;
mod webhook;

use std::path::PathBuf;

use cellar::cli::help::{Group, group_commands};
use cellar_base::identity::LogId;
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};

pub(crate) use bundle::{ArchitectureArgument, BundleArguments};
pub(crate) use deploy::{
    AwsArguments, DeployArguments, DestroyArguments, DriftArguments, PlanArguments,
    ProgressArgument, SmokeArguments, SmokeFormat,
};
pub(crate) use diff::{CiArguments, CiCommand, CiInitArguments, DiffArguments, DiffFormat, FailOn};
pub(crate) use feed::{FeedArguments, FeedCommand, FeedLocation, FeedRebuild};
pub(crate) use token::{TokenArguments, TokenCommand, TokenCreateArguments};
pub(crate) use upkeep::{
    OffloadArguments, PurgeArguments, ReprocessArguments, RestoreArguments, RestoreTime,
};
pub(crate) use usage::CostArguments;
pub(crate) use watch::{FunctionArgument, LocationArguments, LogsArguments, StatusArguments};
pub(crate) use webhook::{WebhookArguments, WebhookCommand, WebhookLocation, WebhookSecret};

/// Deploy and operate Cellar, in AWS or on this machine
#[derive(Debug, Parser)]
#[command(
    name = "synth",
    version,
    after_help = "Examples:\n  synth deploy --local            run Cellar on this machine\n  \
                  synth deploy --local --detach   run it in the background\n  \
                  synth stop                      stop it and keep its data\n  \
                  synth deploy                    deploy to the AWS account of AWS_PROFILE\n  \
                  synth template --format yaml    print the template that would be deployed\n\n\
                  Exit codes: 0 success, 1 error, 2 differences found, 64 invalid usage."
)]
pub(crate) struct Arguments {
    /// Configuration file [default: cellar.yaml here or in a parent directory]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Stage from `stages:` in the configuration
    #[arg(long, global = true, value_name = "NAME", env = "CELLAR_STAGE")]
    pub(crate) stage: Option<String>,
    /// Print JSON: results on stdout, errors on stderr
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Command groups in the `--help` output.
const GROUPS: [Group; 4] = [
    ("Configure", &["init", "token", "ci"]),
    ("Deploy", &["deploy", "plan", "diff", "template", "bundle", "stop", "destroy"]),
    ("Observe", &["status", "logs", "cost", "drift", "smoke", "runbook"]),
    ("Maintain", &["offload", "purge", "reprocess", "feed", "webhook", "restore"]),
];

impl Arguments {
    /// Returns the command-line definition, with commands grouped in the help.
    pub(crate) fn grouped() -> clap::Command {
        group_commands(Self::command(), &GROUPS)
    }

    /// Parses the command line of this process, with commands grouped in the help.
    pub(crate) fn parse_grouped() -> Result<Self, clap::Error> {
        let matches = Self::grouped().try_get_matches()?;
        Self::from_arg_matches(&matches)
    }
}

/// A subcommand of `synth` and its arguments.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write a cellar.yaml that lists every field and its default
    Init(InitArguments),
    /// Print the CloudFormation template, or a picture of it
    Template(TemplateArguments),
    /// Write a runbook for the alarms of this stack
    Runbook(RunbookArguments),
    /// Build and check the Lambda bundle
    Bundle(BundleArguments),
    /// Show what a deployment would change, most severe first
    Diff(DiffArguments),
    /// Generate CI workflows
    Ci(CiArguments),
    /// Show a deployment plan and save it for `deploy --plan`
    Plan(PlanArguments),
    /// Deploy the stack to AWS, or run it on this machine
    Deploy(DeployArguments),
    /// Detect resources that were changed outside CloudFormation
    Drift(DriftArguments),
    /// Show the status of the stack, its alarms and dead letters
    Status(StatusArguments),
    /// Show the logs of the functions
    Logs(LogsArguments),
    /// Estimate the cost of a stack, or compute it from measured usage
    Cost(CostArguments),
    /// Run the smoke test against a stack's URL
    Smoke(SmokeArguments),
    /// Create tokens and the key pair that signs them
    Token(TokenArguments),
    /// Move old log segments from the tables to S3
    Offload(OffloadArguments),
    /// Permanently remove spreadsheets deleted more than 30 days ago
    Purge(PurgeArguments),
    /// Repair missing snapshots and entry bodies marked for expiry
    Reprocess(ReprocessArguments),
    /// Verify, repair or rebuild the feed
    Feed(FeedArguments),
    /// Manage webhook deliveries and the signing secret
    Webhook(WebhookArguments),
    /// Restore the tables to a point in time; the next deployment uses them
    Restore(RestoreArguments),
    /// Stop the local stack and keep its data
    #[command(after_help = "Examples:\n  synth stop\n  \
                            synth --json stop | jq .stopped.url\n  \
                            synth deploy --local --detach    start it again, with the same data\n\n\
                            Requests in progress are completed first. Nothing is lost if the process is \
                            killed instead.")]
    Stop,
    /// Delete the stack; data is kept unless --delete-data is given
    Destroy(DestroyArguments),
    /// Run the local stack in this process (used by deploy --local --detach)
    #[command(hide = true)]
    LocalCloud(LocalCloudArguments),
}

/// Arguments of `init`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  synth init\n  synth init --print | less")]
pub(crate) struct InitArguments {
    /// Print the file to stdout instead of writing it
    #[arg(long)]
    pub(crate) print: bool,
    /// Overwrite an existing file
    #[arg(long)]
    pub(crate) force: bool,
}

/// Output format of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// The template as deployed
    Json,
    /// The same template in YAML, which is easier to read
    Yaml,
    /// A picture of the stack as a Mermaid flowchart, which GitHub draws
    Mermaid,
}

/// Arguments of `template`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  synth template > template.json\n  \
                        synth template --format yaml -o template.yaml\n  \
                        synth template --format mermaid -o stack.mmd")]
pub(crate) struct TemplateArguments {
    /// Output format
    #[arg(long, value_enum, default_value = "json")]
    pub(crate) format: Format,
    /// Write to a file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Arguments of `runbook`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  synth runbook -o RUNBOOK.md\n  \
                        aws cloudformation describe-stack-resources --stack-name cellar > names.json\n  \
                        synth runbook --resources names.json -o RUNBOOK.md\n\n\
                        Without --resources, the commands in the runbook look up each name.")]
pub(crate) struct RunbookArguments {
    /// Write to a file instead of stdout
    #[arg(short, long, visible_alias = "out", value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// File with the output of `aws cloudformation describe-stack-resources`, from which resource
    /// names are read
    #[arg(long, value_name = "FILE")]
    pub(crate) resources: Option<PathBuf>,
}

/// Arguments of the hidden command that runs the local stack.
#[derive(Debug, Args)]
pub(crate) struct LocalCloudArguments {
    /// State folder
    #[arg(long)]
    pub(crate) folder: PathBuf,
    /// Stack name
    #[arg(long)]
    pub(crate) stack: String,
    /// Port
    #[arg(long)]
    pub(crate) port: u16,
}

fn parse_spreadsheet_id(text: &str) -> Result<LogId, &'static str> {
    text.parse().map_err(|_| "it is not the id of a spreadsheet; `cellar list` prints the ids")
}

#[cfg(test)]
mod tests {
    use cellar::cli::help::misplaced_commands;

    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        group_commands(Arguments::command(), &GROUPS).debug_assert();
        assert_eq!(misplaced_commands(&Arguments::command(), &GROUPS), [""; 0]);
    }
}
