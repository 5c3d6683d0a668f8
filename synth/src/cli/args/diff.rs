//! Arguments of `synth diff` and `synth ci`.

use std::path::PathBuf;

use cellar_stacks::difference::Severity;
use clap::{Args, Subcommand, ValueEnum};

/// How a difference is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffFormat {
    /// For a terminal
    Text,
    /// For a comment on a pull request
    Markdown,
}

/// How grave a difference has to be to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// Data is removed, replaced or less protected
    Destructive,
    /// … or somebody may do something that was not allowed before
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
    after_help = "Examples:\n  synth diff                        with what is deployed in AWS\n  synth diff --local\n  \
                        synth diff --against template.json --fail-on destructive\n  \
                        synth diff --against-revision main\n  \
                        synth diff --against-revision main:infra/template.json\n  \
                        synth diff --against base.json --format markdown > comment.md\n  \
                        aws cloudformation get-template --stack-name cellar --query TemplateBody \
                        | synth diff --against -\n\n\
                        Exit codes: 0 no difference, 2 differences, 1 an error, or a difference as \
                        grave as --fail-on says.\n\n\
                        With --json, one object:\n  \
                        stack, notes, severity (none|update|replacement|broadening|destructive)\n  \
                        against      kind (deployed|file|revision), name, exists\n  \
                        counts       resources, destructive, broadened, replaced\n  \
                        resources    a list, the gravest first: logical_id, type, severity, \
                        holds_data,\n               \
                        action (add|remove|abandon|update|may_replace|replace), risks,\n               \
                        follows, properties (path, old, new, update)\n  \
                        permissions  broadened and narrowed: lists of logical_id, kind, effect,\n               \
                        principals, actions, resources, condition\n  \
                        sections     a list: path, old, new, update"
)]
pub(crate) struct DiffArguments {
    /// A template in JSON or YAML, - for stdin
    #[arg(long, value_name = "FILE", group = "old")]
    pub(crate) against: Option<PathBuf>,
    /// A revision of git: REV for the configuration as it was then, synthesized by this version, or
    /// REV:PATH for a template that was committed
    #[arg(long, value_name = "REV", group = "old")]
    pub(crate) against_revision: Option<String>,
    /// What the stack on this machine was last deployed with
    #[arg(long, group = "old")]
    pub(crate) local: bool,
    /// The stack in an emulator of AWS at this URL
    #[arg(long, value_name = "URL", conflicts_with = "old")]
    pub(crate) endpoint_url: Option<String>,
    /// Text for people, or Markdown of at most 65,536 letters
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: DiffFormat,
    /// Fail if it is as grave as this, or graver
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

/// What to do about workflows.
#[derive(Debug, Subcommand)]
pub(crate) enum CiCommand {
    /// Write workflows for GitHub: one posts differences on pull requests, one deploys
    #[command(
        after_help = "Examples:\n  synth ci init\n  synth ci init --branch trunk --force\n  synth --stage prod ci init\n\n\
                            They are written to .github/workflows of the repository: \
                            cellar-diff.yml and cellar-deploy.yml. The second has no keys of AWS: it \
                            takes on the role in the variable CELLAR_DEPLOY_ROLE_ARN."
    )]
    Init(CiInitArguments),
}

/// Arguments of `ci init`.
#[derive(Debug, Args)]
pub(crate) struct CiInitArguments {
    /// The branch that is deployed
    #[arg(long, value_name = "NAME", default_value = "main")]
    pub(crate) branch: String,
    /// Print them instead of writing the files
    #[arg(long)]
    pub(crate) print: bool,
    /// Overwrite files that exist
    #[arg(long)]
    pub(crate) force: bool,
}
