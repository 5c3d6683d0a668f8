//! Errors of the commands, each with a suggested remedy.

mod maintenance;

use std::path::PathBuf;
use std::time::Duration;

use cellar::ClientError;
use cellar::cli::Advised;
use cellar::files::FileError;
use cellar::profile::ProfileError;
use cellar_local::LocalError;
use cellar_runtime::token::MintError;
use cellar_stacks::difference::{DifferenceError, DocumentError};
use cellar_stacks::{CellarStackError, ConfigError};
use miette::Diagnostic;

use crate::aws::AwsError;
use crate::bundle::BundleError;
use crate::deployment::{DeploymentPhase, RestoreError, StalePlan};
use crate::git::GitError;

pub(crate) use maintenance::MaintenanceError;

/// Reasons why a command failed.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub(crate) enum SynthError {
    /// The configuration is invalid.
    #[error(transparent)]
    #[diagnostic(code(synth::config), help("`synth init --print` shows every field"))]
    Config(#[from] ConfigError),
    /// The configuration file is not valid UTF-8.
    #[error("{} is not UTF-8 text", path.display())]
    #[diagnostic(
        code(synth::config_encoding),
        help("save the file as UTF-8; `synth init --force` overwrites it with the defaults")
    )]
    ConfigEncoding { path: PathBuf },
    /// The file given with `--config` does not exist.
    #[error("configuration file {} not found", path.display())]
    #[diagnostic(code(synth::no_config), help("create it with `synth init`"))]
    NoConfig { path: PathBuf },
    /// The nearest configuration file or state directory is writable by another user.
    #[error("refused: {0}")]
    #[diagnostic(
        code(synth::stranger),
        help(
            "the configuration decides whose tokens are accepted; check it, then pass it with \
             `--config FILE`, or restrict the file and its folder to your account"
        )
    )]
    Stranger(#[from] cellar::owner::UntrustedFile),
    /// The requested stage does not exist, or the configuration has stages but none is selected.
    #[error("{}", stage_message(requested.as_deref()))]
    #[diagnostic(code(synth::stage), help("{}", stage_help(available)))]
    Stage {
        /// Value of `--stage`, if given.
        requested: Option<String>,
        /// Configured stage names.
        available: Vec<String>,
    },
    /// The template of the stack cannot be synthesized.
    #[error(transparent)]
    #[diagnostic(code(synth::stack))]
    Stack(#[from] CellarStackError),
    /// The bundle cannot be built or read.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Bundle(#[from] BundleError),
    /// The old template of a comparison cannot be read.
    #[error("{name}: {cause}")]
    #[diagnostic(
        code(synth::template),
        help("pass the output of `synth template`, or a template from CloudFormation")
    )]
    Template {
        /// File, revision or stack name.
        name: String,
        /// Description of what is invalid in the template.
        cause: DocumentError,
    },
    /// Two templates cannot be compared.
    #[error(transparent)]
    #[diagnostic(code(synth::difference))]
    Difference(#[from] DifferenceError),
    /// Git failed, or the revision is unknown.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Git(#[from] GitError),
    /// A change has at least the severity of `--fail-on`.
    #[error("a change has the severity {severity}")]
    #[diagnostic(
        code(synth::grave),
        help(
            "see the changes above; `--fail-on` sets the lowest severity at which the command fails"
        )
    )]
    TooSevere {
        /// The highest severity of the changes.
        severity: &'static str,
    },
    /// The local stack failed.
    #[error("{cause}")]
    #[diagnostic(code(synth::local))]
    Local {
        /// Local stack error.
        cause: LocalError,
        /// Suggested remedy, if known.
        #[help]
        help: Option<String>,
    },
    /// A file operation failed.
    #[error("cannot {operation} {}: {cause}", path.display())]
    #[diagnostic(code(synth::file), help("check the permissions of the file and its folder"))]
    Io {
        /// Operation name, such as "read".
        operation: &'static str,
        path: PathBuf,
        /// I/O error from the operating system.
        cause: std::io::Error,
    },
    /// A file under `.cellar/` cannot be read or written.
    #[error(transparent)]
    #[diagnostic(transparent)]
    File(Advised<FileError>),
    /// The saved profile is invalid, or a token was given without a URL.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Profile(Advised<ProfileError>),
    /// An output file already exists.
    #[error("{} already exists", path.display())]
    #[diagnostic(code(synth::exists), help("nothing was changed; pass `--force` to overwrite it"))]
    Exists { path: PathBuf },
    /// A request to the API failed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Client(Advised<ClientError>),
    /// A key cannot be read or a token cannot be signed.
    #[error(transparent)]
    #[diagnostic(
        code(synth::token),
        help("create a signing key with `synth token init`; `synth token --help` shows examples")
    )]
    Mint(#[from] MintError),
    /// The private key file does not exist.
    #[error("signing key {} not found", path.display())]
    #[diagnostic(
        code(synth::no_key),
        help(
            "create it with `synth token init`, pass --key FILE, or pass `--local` for the local stack"
        )
    )]
    NoKey {
        /// Path of the missing file.
        path: PathBuf,
    },
    /// The configuration file cannot be edited automatically without losing other fields or
    /// comments.
    #[error("cannot edit {} safely", path.display())]
    #[diagnostic(code(synth::edit), help("add this to the file:\n{snippet}"))]
    Edit {
        path: PathBuf,
        /// Lines that the user must add to the file.
        snippet: String,
    },
    /// No URL was given, and no deployment from this directory is known.
    #[error(
        "no deployment found: .cellar/profile.json does not exist in this or a parent directory"
    )]
    #[diagnostic(
        code(synth::not_deployed),
        help("run `synth deploy --local`, or pass --url and --token")
    )]
    NotDeployed,
    /// The state directory of the local stack does not exist.
    #[error("no local stack found: {} does not exist", folder.display())]
    #[diagnostic(
        code(synth::not_deployed),
        help("start it with `synth deploy --local`, or pass --aws for the stack in AWS")
    )]
    NoLocalStack {
        /// The state directory.
        folder: PathBuf,
    },
    /// No API token was given or saved.
    #[error("no token is configured for {url}")]
    #[diagnostic(
        code(synth::no_token),
        help(
            "pass --url and --token; create a token with `synth token create` (with --local for the local \
             stack). The saved token is sent only to its own URL"
        )
    )]
    NoToken {
        /// URL of the API.
        url: String,
    },
    /// The smoke test failed.
    #[error("the smoke test failed: {failed} of {checks} checks")]
    #[diagnostic(code(synth::smoke), help("{advice}"))]
    Smoke {
        /// Number of failed checks.
        failed: usize,
        /// Number of checks that ran.
        checks: usize,
        /// First failed check.
        advice: String,
    },
    /// The background process exited before the local stack was ready.
    #[error("{message}")]
    #[diagnostic(code(synth::detached))]
    Detached {
        /// Last message of the background process.
        message: String,
        #[help]
        help: String,
    },
    /// A local stack with different settings is already running.
    #[error("a local stack with another {setting} is already running at {url}")]
    #[diagnostic(
        code(synth::other_cloud),
        help("stop it with `synth destroy --local` (the data is kept) and deploy again")
    )]
    OtherLocalStack {
        /// URL of the running stack.
        url: String,
        /// Name of the differing setting, such as "port".
        setting: &'static str,
    },
    /// Another process has locked the state directory but has not recorded itself there, because
    /// its stack is starting or stopping.
    #[error("another process is starting or stopping a local stack here")]
    #[diagnostic(code(synth::busy), help("try again in a moment"))]
    Busy,
    /// The process of the local stack did not exit in time.
    #[error("the local stack did not stop within {grace_s} s")]
    #[diagnostic(code(synth::stop), help("{advice}"))]
    Stop {
        /// Time waited, in seconds.
        grace_s: u64,
        /// How to end the process.
        advice: String,
    },
    /// Invalid usage.
    #[error("{0}")]
    #[diagnostic(code(synth::usage), help("`synth --help` shows examples"))]
    Usage(String),
    /// A maintenance command failed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Maintenance(#[from] MaintenanceError),
    /// The user did not confirm an action.
    #[error("{action} was not confirmed")]
    #[diagnostic(code(synth::unconfirmed), help("answer `yes`, or pass --yes"))]
    Unconfirmed {
        /// Action name, such as "the deployment".
        action: &'static str,
    },
    /// A request to AWS failed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Aws(#[from] AwsError),
    /// The stack does not exist.
    #[error("stack {stack} does not exist in {account_and_region}")]
    #[diagnostic(
        code(synth::no_stack),
        help(
            "create it with `synth deploy`; {}",
            elsewhere.as_deref().unwrap_or(
                "check AWS_PROFILE and AWS_REGION, and `stack` in cellar.yaml"
            )
        )
    )]
    NoStack {
        /// Name of the stack.
        stack: String,
        /// Account and region.
        account_and_region: String,
        /// Hint that is shown if the last deployment used another account or region.
        elsewhere: Option<String>,
    },
    /// Another operation is changing the stack.
    #[error("stack {stack} is being changed: {status}")]
    #[diagnostic(
        code(synth::stack_busy),
        help("wait until the change has finished, then run the same command again")
    )]
    StackBusy {
        /// Name of the stack.
        stack: String,
        /// CloudFormation stack status.
        status: String,
    },
    /// CloudFormation could not roll back a failed operation.
    #[error(
        "stack {stack} is stuck in {status}{}",
        cause.as_ref().map(|cause| format!(": {cause}")).unwrap_or_default()
    )]
    #[diagnostic(code(synth::stack_stuck), help("{help}"))]
    StackStuck {
        /// Name of the stack.
        stack: String,
        /// CloudFormation stack status.
        status: String,
        /// The failed resource and the reason for the failure, if the stack events contain them.
        cause: Option<String>,
        help: String,
    },
    /// A stack with the configured name exists but does not belong to Cellar.
    #[error("stack {stack} in {account_and_region} does not belong to Cellar")]
    #[diagnostic(
        code(synth::foreign_stack),
        help(
            "it has neither the tag cellar:stack nor the outputs of a Cellar stack, and was not changed; \
             check account and region, or choose another name with `stack` in cellar.yaml, then run \
             the same command again"
        )
    )]
    ForeignStack {
        /// Name of the stack.
        stack: String,
        /// Account and region.
        account_and_region: String,
    },
    /// The connection to AWS was lost during a change. The change continues in AWS.
    #[error("lost the connection to AWS while it changes stack {stack}: {cause}")]
    #[diagnostic(
        code(synth::lost_sight),
        help(
            "AWS continues the change; {}, then run `synth {command}` again: it waits for the change and \
             does what remains",
            cause.remedy()
        )
    )]
    ConnectionLost {
        /// Name of the stack.
        stack: String,
        /// Name of the command to rerun, without `synth`.
        command: &'static str,
        /// Reason why the progress cannot be read.
        cause: AwsError,
    },
    /// The deployment would lose data that `--allow-data-loss` does not cover.
    #[error("the deployment would delete or replace resources that hold data: {ids}")]
    #[diagnostic(
        code(synth::data_would_be_lost),
        help("nothing was changed; to allow it, pass --allow-data-loss LOGICAL_ID for each")
    )]
    DataWouldBeLost {
        /// Logical ids of the resources, separated by commas.
        ids: String,
    },
    /// The plan file does not exist.
    #[error("plan {} not found", path.display())]
    #[diagnostic(code(synth::no_plan), help("create it with `synth plan -o FILE`"))]
    NoPlan { path: PathBuf },
    /// The plan file is malformed.
    #[error("{} is invalid: {why}", path.display())]
    #[diagnostic(code(cellar::file_malformed), help("create a new plan with `synth plan -o FILE`"))]
    InvalidPlan {
        path: PathBuf,
        /// Description of what is invalid in the file.
        why: String,
    },
    /// Something has changed since the plan was created.
    #[error("plan {} was not applied: {cause}", path.display())]
    #[diagnostic(
        code(synth::stale_plan),
        help("nothing was changed; create a new plan with `synth plan`")
    )]
    StalePlan {
        path: PathBuf,
        /// Why the plan is stale.
        cause: StalePlan,
    },
    /// The user pressed Ctrl-C.
    #[error("interrupted: {}", phase.stack_after_interrupt(stack))]
    #[diagnostic(code(synth::interrupted), help("{}", phase.advice_after_interrupt(stack)))]
    Interrupted {
        /// Name of the stack.
        stack: String,
        /// The phase that was interrupted.
        phase: DeploymentPhase,
    },
    /// The tables cannot be restored.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Restore(#[from] RestoreError),
    /// A CloudFormation operation (deployment, import or deletion) failed.
    #[error("{resource} could not be {done}: {reason}")]
    #[diagnostic(code(synth::deploy_failed), help("{help}"))]
    DeployFailed {
        /// Description of the failed resource or, if no resource failed, of the stack.
        resource: String,
        /// Past participle of the failed operation, such as "deployed".
        done: &'static str,
        /// Reason given by AWS.
        reason: String,
        /// Suggested remedy, and the state of the stack.
        help: String,
    },
    /// The API needs a Lambda function URL, which the region does not have.
    #[error("Lambda has no function URLs in the region {region}")]
    #[diagnostic(
        code(synth::region_without_function_urls),
        help(
            "nothing was created; choose another region with AWS_REGION, or with `region` in cellar.yaml, \
             then run the same command again"
        )
    )]
    RegionWithoutFunctionUrls {
        /// Region of the deployment.
        region: String,
    },
    /// DynamoDB did not delete a table in time.
    #[error("table {table} still exists {} s after its deletion began", waited.as_secs())]
    #[diagnostic(
        code(synth::table_not_deleted),
        help("the stack was not deleted; wait a few minutes, then run the same command again")
    )]
    TableNotDeleted {
        /// Name of the table.
        table: String,
        /// Time since the deletion began.
        waited: Duration,
    },
    /// The stack lacks an output that every Cellar stack has.
    #[error("stack output {output} not found")]
    #[diagnostic(
        code(synth::no_output),
        help("check that `stack` in cellar.yaml is the name of a Cellar stack")
    )]
    NoOutput {
        /// Name of the output.
        output: &'static str,
    },
    /// The `runbook --resources` file is not a valid resource list.
    #[error("{} is not a list of stack resources: {why}", path.display())]
    #[diagnostic(
        code(synth::resources),
        help("create it with `aws cloudformation describe-stack-resources --stack-name NAME`")
    )]
    Resources {
        path: PathBuf,
        /// Description of what is invalid in the file.
        why: String,
    },
    /// A text template could not be rendered.
    #[error("cannot render the text: {0}")]
    #[diagnostic(code(synth::text))]
    Text(#[from] handlebars::RenderError),
    /// An operating system call failed.
    #[error("the command cannot run: {0}")]
    #[diagnostic(code(synth::process))]
    Process(std::io::Error),
}

impl From<FileError> for SynthError {
    fn from(error: FileError) -> Self {
        Self::File(Advised(error))
    }
}

impl From<ProfileError> for SynthError {
    fn from(error: ProfileError) -> Self {
        Self::Profile(Advised(error))
    }
}

impl From<ClientError> for SynthError {
    fn from(error: ClientError) -> Self {
        Self::Client(Advised(error))
    }
}

fn stage_message(requested: Option<&str>) -> String {
    match requested {
        Some(name) => format!("the configuration has no stage `{name}`"),
        None => "the configuration has stages, and none is selected".to_owned(),
    }
}

fn stage_help(available: &[String]) -> String {
    if available.is_empty() {
        return "the configuration has no stages: remove --stage (and unset CELLAR_STAGE)"
            .to_owned();
    }
    format!("pass --stage (or set CELLAR_STAGE): {}", available.join(", "))
}
