//! The arguments of `synth`.

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

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use bundle::{ArchitectureArgument, BundleArguments};
pub(crate) use deploy::{
    AwsArguments, DeployArguments, DestroyArguments, DriftArguments, PlanArguments,
    ProgressArgument, SmokeArguments, SmokeFormat,
};
pub(crate) use diff::{CiArguments, CiCommand, CiInitArguments, DiffArguments, DiffFormat, FailOn};
pub(crate) use feed::{FeedArguments, FeedCommand, FeedPlace, FeedRebuild};
pub(crate) use token::{MintArguments, TokenArguments, TokenCommand};
pub(crate) use upkeep::{
    ArchiveArguments, Moment, PurgeArguments, ReprocessArguments, RestoreArguments,
};
pub(crate) use usage::CostArguments;
pub(crate) use watch::{FunctionArgument, LogsArguments, StatusArguments, WhereArguments};
pub(crate) use webhook::{WebhookArguments, WebhookCommand, WebhookPlace, WebhookSecret};

/// Synthesizes Cellar's CloudFormation template and runs it.
#[derive(Debug, Parser)]
#[command(
    name = "synth",
    version,
    after_help = "Examples:\n  synth deploy --local            run Cellar on this machine\n  \
                  synth deploy --local --detach   … and go on in the background\n  \
                  synth template --format yaml    look at what would be deployed\n\n\
                  Exit codes: 0 fine, 1 error, 2 differences, 64 wrong usage."
)]
pub(super) struct Arguments {
    /// Configuration file [default: the nearest cellar.yaml upwards]
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Stage of the configuration, if it has several
    #[arg(long, global = true, value_name = "NAME", env = "CELLAR_STAGE")]
    pub(super) stage: Option<String>,
    /// Print JSON for programs: results on stdout, errors on stderr
    #[arg(long, global = true)]
    pub(super) json: bool,
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Write a cellar.yaml with every field and its default
    Init(InitArguments),
    /// Print the CloudFormation template
    Template(TemplateArguments),
    /// Write what each alarm means and what to run, with this stack's names
    Runbook(RunbookArguments),
    /// Build, check and pack the binary that the functions run
    Bundle(BundleArguments),
    /// Show what a deployment would change, the gravest first
    Diff(DiffArguments),
    /// Let a pull request show its difference, and a merge deploy
    Ci(CiArguments),
    /// Show what a deployment would do, and save it, to be applied by `deploy --plan`
    Plan(PlanArguments),
    /// Deploy the stack
    Deploy(DeployArguments),
    /// Show what was changed by hand, past the stack
    Drift(DriftArguments),
    /// Show what runs, here or in AWS, and what is wrong with it
    Status(StatusArguments),
    /// Show what the functions log
    Logs(LogsArguments),
    /// Show what a stack will cost, or what it has cost
    Cost(CostArguments),
    /// Check a running stack from outside, through its URL
    Smoke(SmokeArguments),
    /// Make tokens, and the key that signs them
    Token(TokenArguments),
    /// Move old log segments from the tables into the bucket, where they can still be read
    Archive(ArchiveArguments),
    /// Remove spreadsheets for good that were deleted more than 30 days ago
    Purge(PurgeArguments),
    /// Find snapshots that were not made and bodies that would be lost, and mend them
    Reprocess(ReprocessArguments),
    /// Compare the feed of everything that was appended with what was, and mend it
    Feed(FeedArguments),
    /// Say how far the webhook has delivered the feed, print its secret, or deliver what is missing
    Webhook(WebhookArguments),
    /// Restore the tables to a point in time, for the next deployment to use
    Restore(RestoreArguments),
    /// End the stack; its data stays unless told otherwise
    Destroy(DestroyArguments),
    /// Run the local cloud in this process (used by deploy --local --detach)
    #[command(hide = true)]
    LocalCloud(LocalCloudArguments),
}

/// Arguments of `init`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  synth init\n  synth init --print | less")]
pub(crate) struct InitArguments {
    /// Print it instead of writing the file
    #[arg(long)]
    pub(crate) print: bool,
    /// Overwrite a file that exists
    #[arg(long)]
    pub(crate) force: bool,
}

/// How a template is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// As it is deployed
    Json,
    /// For people
    Yaml,
}

/// Arguments of `template`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  synth template > template.json\n  \
                        synth template --format yaml -o template.yaml")]
pub(crate) struct TemplateArguments {
    /// JSON as it is deployed, or YAML for people
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
                        Without --resources, the commands in it look each name up.")]
pub(crate) struct RunbookArguments {
    /// Write to a file instead of stdout
    #[arg(short, long, visible_alias = "out", value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// What `aws cloudformation describe-stack-resources` printed of the deployed stack
    #[arg(long, value_name = "FILE")]
    pub(crate) resources: Option<PathBuf>,
}

/// Arguments of the hidden command that runs a local cloud.
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

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }
}
