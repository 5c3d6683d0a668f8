//! Arguments of `synth diff` and `synth ci`.

use std::path::PathBuf;

use cellar_stacks::difference::Severity;
use clap::{Args, Subcommand, ValueEnum};

use crate::ci::PinnedCellar;

/// Output format of a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffFormat {
    /// Plain text
    Text,
    /// Markdown of at most 65,536 characters, for a pull request comment
    Markdown,
}

/// Values of `--fail-on`: the lowest severity with which the command fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// Changes that delete, replace or unprotect data
    Destructive,
    /// Changes that grant new permissions, and destructive changes
    Broadening,
}

impl From<FailOn> for Severity {
    fn from(fail_on: FailOn) -> Self {
        match fail_on {
            FailOn::Destructive => Self::Destructive,
            FailOn::Broadening => Self::Broadening,
        }
    }
}

/// Arguments of `diff`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  synth diff                        compare with the stack in AWS\n  synth diff --local\n  \
                        synth diff --against template.json --fail-on destructive\n  \
                        synth diff --against-revision main\n  \
                        synth diff --against-revision main:infra/template.json\n  \
                        synth diff --against base.json --format markdown > comment.md\n  \
                        aws cloudformation get-template --stack-name cellar --query TemplateBody \
                        | synth diff --against -\n\n\
                        Exit codes: 0 no differences, 2 differences found, 1 an error, or a change of the \
                        severity of --fail-on.\n\n\
                        With --json, one object is printed:\n  \
                        stack, notes, severity (none|update|replacement|broadening|destructive)\n  \
                        against      kind (deployed|file|revision), name, exists\n  \
                        counts       resources, destructive, broadened, replaced\n  \
                        resources    a list, most severe first: logical_id, type, severity, \
                        holds_data,\n               \
                        action (add|remove|abandon|update|may_replace|replace), risks,\n               \
                        follows, properties (path, old, new, update)\n  \
                        permissions  broadened and narrowed: lists of logical_id, kind, effect,\n               \
                        principals, actions, resources, condition\n  \
                        sections     a list: path, old, new, update\n  \
                        cost         only if it changes: idle_month_dollars, million_edits_dollars (old, \
                        new)"
)]
pub(crate) struct DiffArguments {
    /// Compare with this template (JSON or YAML; - for stdin)
    #[arg(long, value_name = "FILE", group = "old")]
    pub(crate) against: Option<PathBuf>,
    /// Compare with a git revision: for REV, the template is synthesized from the configuration at
    /// that revision; for REV:PATH, the template is read from that file
    #[arg(long, value_name = "REV", group = "old")]
    pub(crate) against_revision: Option<String>,
    /// Compare with the template last deployed on this machine
    #[arg(long, group = "old")]
    pub(crate) local: bool,
    /// URL of an AWS emulator to use instead of AWS
    #[arg(long, value_name = "URL", conflicts_with = "old")]
    pub(crate) endpoint_url: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: DiffFormat,
    /// Exit with 1 if a change has this severity or higher
    #[arg(long, value_enum, value_name = "SEVERITY")]
    pub(crate) fail_on: Option<FailOn>,
}

/// Arguments of `ci`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  synth ci init\n  synth ci init --print | less")]
pub(crate) struct CiArguments {
    #[command(subcommand)]
    pub(crate) command: CiCommand,
}

/// Commands of `synth ci`.
#[derive(Debug, Subcommand)]
pub(crate) enum CiCommand {
    /// Write GitHub Actions workflows that post diffs and deploy, and the role that deploys
    #[command(
        after_help = "Examples:\n  synth ci init\n  synth ci init --branch trunk --force\n  synth --stage prod ci init\n  \
                            synth ci init --cellar octocat/cellar@0123456789abcdef0123456789abcdef01234567\n\n\
                            The files in .github are workflows/cellar-diff.yml, workflows/cellar-deploy.yml \
                            and cellar-deploy-role.yaml, a CloudFormation template. The deploy workflow \
                            stores no AWS keys: it assumes the role of this template, whose ARN is in the \
                            variable CELLAR_DEPLOY_ROLE_ARN.\n\n\
                            A repository that does not contain Cellar's workspace also gets \
                            cellar-revision. The workflows build the commit of Cellar in this file; to \
                            upgrade, change it in a pull request."
    )]
    Init(CiInitArguments),
}

/// Arguments of `ci init`.
#[derive(Debug, Args)]
pub(crate) struct CiInitArguments {
    /// Branch to deploy
    #[arg(long, value_name = "NAME", default_value = "main")]
    pub(crate) branch: String,
    /// Repository of Cellar on GitHub, and the full id of the commit to build [default: the commit
    /// from which this command was built, if the repository does not contain Cellar]
    #[arg(long, value_name = "OWNER/NAME@COMMIT")]
    pub(crate) cellar: Option<PinnedCellar>,
    /// Print the files to stdout instead of writing them
    #[arg(long)]
    pub(crate) print: bool,
    /// Overwrite existing files
    #[arg(long)]
    pub(crate) force: bool,
}
