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
use cellar_stacks::picture::PictureError;
use cellar_stacks::{CellarStackError, ConfigError};
use miette::Diagnostic;

use crate::aws::AwsError;
use crate::bundle::BundleError;
use crate::deployment::{DeploymentPhase, RestoreError, StalePlan};
use crate::git::GitError;

pub(crate) use maintenance::MaintenanceError;

#[derive(Debug, thiserror::Error, Diagnostic)]
pub(crate) enum SynthError {
    #[error(transparent)]
    #[diagnostic(code(synth::config), help("`synth init --print` shows every field"))]
    Config(#[from] ConfigError),
    #[error("{} is not UTF-8 text", path.display())]
    #[diagnostic(
        code(synth::config_encoding),
        help("save the file as UTF-8; `synth init --force` overwrites it with the defaults")
    )]
    ConfigEncoding { path: PathBuf },
    #[error("configuration file {} not found", path.display())]
    #[diagnostic(code(synth::no_config), help("create it with `synth init`"))]
    NoConfig { path: PathBuf },
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
        available: Vec<String>,
    },
    #[error(transparent)]
    #[diagnostic(code(synth::stack))]
    Stack(#[from] CellarStackError),
    #[error(transparent)]
    #[diagnostic(transparent)]
    Bundle(#[from] BundleError),
    #[error("{name}: {cause}")]
    #[diagnostic(
        code(synth::template),
        help("pass the output of `synth template`, or a template from CloudFormation")
    )]
    Template {
        /// File, revision or stack name.
        name: String,
        cause: DocumentError,
    },
    #[error(transparent)]
    #[diagnostic(code(synth::difference))]
    Difference(#[from] DifferenceError),
    #[error(transparent)]
    #[diagnostic(code(synth::picture))]
    Picture(#[from] PictureError),
    #[error(transparent)]
    #[diagnostic(transparent)]
    Git(#[from] GitError),
    #[error(
        "the repository of Cellar that the workflows shall build is unknown: the folder from which this command was \
         built {missing}"
    )]
    #[diagnostic(code(synth::unknown_cellar), help("{}", unknown_cellar_help(commit.as_deref())))]
    UnknownCellar {
        missing: &'static str,
        /// The commit from which this command was built, if it is known.
        commit: Option<String>,
    },
    #[error("{cause}")]
    #[diagnostic(
        code(synth::diff::no_aws),
        help(
            "{}. Without AWS, compare with the template last deployed on this machine, `synth diff --local`, or with a git \
             revision, `synth diff --against-revision main`",
            cause.help().map(|help| help.to_string()).unwrap_or_default()
        )
    )]
    NoAwsToCompare { cause: AwsError },
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
    #[error("{cause}")]
    #[diagnostic(code(synth::local))]
    Local {
        cause: LocalError,
        #[help]
        help: Option<String>,
    },
    #[error("cannot {operation} {}: {cause}", path.display())]
    #[diagnostic(code(synth::file), help("check the permissions of the file and its folder"))]
    Io {
        operation: &'static str,
        path: PathBuf,
        /// I/O error from the operating system.
        cause: std::io::Error,
    },
    #[error(transparent)]
    #[diagnostic(transparent)]
    File(Advised<FileError>),
    #[error(transparent)]
    #[diagnostic(transparent)]
    Profile(Advised<ProfileError>),
    #[error("{} already exists", path.display())]
    #[diagnostic(code(synth::exists), help("nothing was changed; pass `--force` to overwrite it"))]
    Exists { path: PathBuf },
    #[error(transparent)]
    #[diagnostic(transparent)]
    Client(Advised<ClientError>),
    #[error(transparent)]
    #[diagnostic(
        code(synth::token),
        help("create a signing key with `synth token init`; `synth token --help` shows examples")
    )]
    Mint(#[from] MintError),
    #[error("signing key {} not found", path.display())]
    #[diagnostic(code(synth::no_key), help("{advice}"))]
    NoKey {
        /// Path of the missing file.
        path: PathBuf,
        advice: &'static str,
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
    #[error(
        "no deployment found: .cellar/profile.json does not exist in this or a parent directory"
    )]
    #[diagnostic(
        code(synth::not_deployed),
        help("run `synth deploy --local`, or pass --url and --token")
    )]
    NotDeployed,
    #[error("no local stack found: {} does not exist", folder.display())]
    #[diagnostic(
        code(synth::not_deployed),
        help("start it with `synth deploy --local`, or pass --aws for the stack in AWS")
    )]
    NoLocalStack {
        /// The state directory.
        folder: PathBuf,
    },
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
    #[error("the smoke test failed: {failed} of {checks} checks")]
    #[diagnostic(code(synth::smoke), help("{advice}"))]
    Smoke {
        failed: usize,
        checks: usize,
        /// First failed check.
        advice: String,
    },
    #[error("{message}")]
    #[diagnostic(code(synth::detached))]
    Detached {
        message: String,
        #[help]
        help: String,
    },
    #[error("a local stack with another {setting} is already running at {url}")]
    #[diagnostic(
        code(synth::other_cloud),
        help("stop it with `synth stop` (the data is kept) and deploy again")
    )]
    OtherLocalStack {
        url: String,
        /// Name of the differing setting, such as "port".
        setting: &'static str,
    },
    /// Another process has locked the state directory but has not recorded itself there, because
    /// its stack is starting or stopping.
    #[error("another process is starting or stopping a local stack here")]
    #[diagnostic(code(synth::busy), help("try again in a moment"))]
    Busy,
    #[error("the local stack did not stop within {grace_s} s")]
    #[diagnostic(code(synth::stop), help("{advice}"))]
    Stop {
        /// Time waited, in seconds.
        grace_s: u64,
        advice: String,
    },
    #[error("{0}")]
    #[diagnostic(code(synth::usage), help("`synth --help` shows examples"))]
    Usage(String),
    #[error(transparent)]
    #[diagnostic(transparent)]
    Maintenance(#[from] MaintenanceError),
    #[error("{action} was not confirmed")]
    #[diagnostic(code(synth::unconfirmed), help("answer `yes`, or pass --yes"))]
    Unconfirmed {
        /// Action name, such as "the deployment".
        action: &'static str,
    },
    #[error("stack {stack} is protected from deletion, and deleting it was not confirmed")]
    #[diagnostic(
        code(synth::protected_stack),
        help(
            "nothing was changed; to turn the protection off and delete the stack, run `synth destroy` \
             and answer `yes`, or pass --yes"
        )
    )]
    ProtectedStack { stack: String },
    #[error(transparent)]
    #[diagnostic(transparent)]
    Aws(#[from] AwsError),
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
        stack: String,
        account_and_region: String,
        /// Hint that is shown if the last deployment used another account or region.
        elsewhere: Option<String>,
    },
    #[error("stack {stack} is being changed: {status}")]
    #[diagnostic(
        code(synth::stack_busy),
        help("wait until the change has finished, then run the same command again")
    )]
    StackBusy {
        stack: String,
        /// CloudFormation stack status.
        status: String,
    },
    #[error(
        "stack {stack} is stuck in {status}{}",
        cause.as_ref().map(|cause| format!(": {cause}")).unwrap_or_default()
    )]
    #[diagnostic(code(synth::stack_stuck), help("{help}"))]
    StackStuck {
        stack: String,
        status: String,
        /// The failed resource and the reason for the failure, if the stack events contain them.
        cause: Option<String>,
        help: String,
    },
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
        stack: String,
        /// Account and region.
        account_and_region: String,
    },
    /// The change continues in AWS.
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
        stack: String,
        /// Name of the command to rerun, without `synth`.
        command: &'static str,
        cause: AwsError,
    },
    #[error("the deployment would delete or replace resources that hold data: {ids}")]
    #[diagnostic(
        code(synth::data_would_be_lost),
        help("nothing was changed; to allow it, pass --allow-data-loss LOGICAL_ID for each")
    )]
    DataWouldBeLost {
        /// Logical ids of the resources, separated by commas.
        ids: String,
    },
    #[error("plan {} not found", path.display())]
    #[diagnostic(code(synth::no_plan), help("create it with `synth plan -o FILE`"))]
    NoPlan { path: PathBuf },
    #[error("{} is invalid: {why}", path.display())]
    #[diagnostic(code(cellar::file_malformed), help("create a new plan with `synth plan -o FILE`"))]
    InvalidPlan {
        path: PathBuf,
        /// Description of what is invalid in the file.
        why: String,
    },
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
    #[error("interrupted: {}", phase.stack_after_interrupt(stack))]
    #[diagnostic(code(synth::interrupted), help("{}", phase.advice_after_interrupt(stack)))]
    Interrupted {
        stack: String,
        /// The phase that was interrupted.
        phase: DeploymentPhase,
    },
    #[error(transparent)]
    #[diagnostic(transparent)]
    Restore(#[from] RestoreError),
    #[error("{resource} could not be {done}: {reason}")]
    #[diagnostic(code(synth::deploy_failed), help("{help}"))]
    DeployFailed {
        /// Description of the failed resource or, if no resource failed, of the stack.
        resource: String,
        /// Past participle of the failed operation, such as "deployed".
        done: &'static str,
        reason: String,
        /// Suggested remedy, and the state of the stack.
        help: String,
    },
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
    #[error("table {table} still exists {} s after its deletion began", waited.as_secs())]
    #[diagnostic(
        code(synth::table_not_deleted),
        help("the stack was not deleted; wait a few minutes, then run the same command again")
    )]
    TableNotDeleted {
        table: String,
        /// Time since the deletion began.
        waited: Duration,
    },
    #[error("stack output {output} not found")]
    #[diagnostic(
        code(synth::no_output),
        help("check that `stack` in cellar.yaml is the name of a Cellar stack")
    )]
    NoOutput {
        /// Name of the output.
        output: &'static str,
    },
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
    #[error("cannot render the text: {0}")]
    #[diagnostic(code(synth::text))]
    Text(#[from] handlebars::RenderError),
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

fn unknown_cellar_help(commit: Option<&str>) -> String {
    let push =
        "nothing was written; push your copy of Cellar to a repository on GitHub, and name both";
    match commit {
        Some(commit) => format!("{push}: synth ci init --cellar OWNER/NAME@{commit}"),
        None => format!(
            "{push}: synth ci init --cellar OWNER/NAME@COMMIT, with the full commit id that `git rev-parse HEAD` prints"
        ),
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
