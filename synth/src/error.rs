//! What can go wrong, and what to do about it.

use std::path::PathBuf;

use cellar::ClientError;
use cellar::files::FileError;
use cellar::profile::ProfileError;
use cellar_engine::feed::AuditError;
use cellar_engine::logs::LogError;
use cellar_engine::ports::PortError;
use cellar_engine::reprocess::RebuildRefusal;
use cellar_engine::retention::RetentionError;
use cellar_local::LocalError;
use cellar_runtime::token::MintError;
use cellar_stacks::difference::{DifferenceError, DocumentError};
use cellar_stacks::{CellarStackError, ConfigError};
use miette::Diagnostic;

use crate::aws::AwsError;
use crate::bundle::BundleError;
use crate::commands::Stage;
use crate::commands::purge::PurgeFailure;
use crate::commands::webhook::WebhookFailure;
use crate::deployment::{RestoreError, StalePlan};
use crate::project::{stage_fault, stage_help};

/// Why a command failed.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub(crate) enum SynthError {
    /// The configuration.
    #[error(transparent)]
    #[diagnostic(code(synth::config), help("`synth init --print` shows every field"))]
    Config(#[from] ConfigError),
    /// A configuration file that is no text.
    #[error("{} is not UTF-8 text", path.display())]
    #[diagnostic(
        code(synth::config_encoding),
        help("save the file as UTF-8; `synth init --force` overwrites it with the defaults")
    )]
    ConfigEncoding {
        /// The file.
        path: PathBuf,
    },
    /// A configuration file that was named and is not there.
    #[error("configuration file {} not found", path.display())]
    #[diagnostic(code(synth::no_config), help("create it with `synth init`"))]
    NoConfig {
        /// The file.
        path: PathBuf,
    },
    /// A configuration or a state folder that was found upwards, and that other accounts may write.
    #[error("refused: {0}")]
    #[diagnostic(
        code(synth::stranger),
        help(
            "the configuration decides whose tokens are accepted; check it, then pass it with \
             `--config FILE`, or restrict the file and its folder to your account"
        )
    )]
    Stranger(#[from] cellar::owner::UntrustedFile),
    /// No stage, where there are some, or one that is not there.
    #[error("{}", stage_fault(asked.as_deref()))]
    #[diagnostic(code(synth::stage), help("{}", stage_help(known)))]
    Stage {
        /// The stage that was asked for.
        asked: Option<String>,
        /// Those that there are.
        known: Vec<String>,
    },
    /// The stack.
    #[error(transparent)]
    #[diagnostic(code(synth::stack))]
    Stack(#[from] CellarStackError),
    /// The bundle.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Bundle(#[from] BundleError),
    /// A template that is compared with.
    #[error("{name}: {cause}")]
    #[diagnostic(
        code(synth::template),
        help("pass the output of `synth template`, or a template from CloudFormation")
    )]
    Template {
        /// Its name.
        name: String,
        /// The cause.
        cause: DocumentError,
    },
    /// A comparison.
    #[error(transparent)]
    #[diagnostic(code(synth::difference))]
    Difference(#[from] DifferenceError),
    /// A revision of git.
    #[error("cannot read {revision:?} from git: {message}")]
    #[diagnostic(
        code(synth::revision),
        help(
            "pass a revision such as main, or a file in a revision such as main:infra/template.json"
        )
    )]
    Revision {
        /// As it was given.
        revision: String,
        /// What git said.
        message: String,
    },
    /// A difference that is not to be.
    #[error("the change is {severity}")]
    #[diagnostic(
        code(synth::grave),
        help("see the output above; `--fail-on` sets the lowest severity that fails")
    )]
    Grave {
        /// How grave.
        severity: &'static str,
    },
    /// The local cloud.
    #[error("{cause}")]
    #[diagnostic(code(synth::local))]
    Local {
        /// The cause.
        cause: LocalError,
        /// What to do.
        #[help]
        help: Option<String>,
    },
    /// A file.
    #[error("cannot {what} {}: {cause}", path.display())]
    #[diagnostic(code(synth::file), help("check the permissions of the file and its folder"))]
    Io {
        /// What was tried.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        cause: std::io::Error,
    },
    /// A state file.
    #[error(transparent)]
    #[diagnostic(transparent)]
    File(#[from] FileError),
    /// The profile, or a token that is given without a URL.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Profile(#[from] ProfileError),
    /// A file that exists and is not overwritten.
    #[error("{} already exists", path.display())]
    #[diagnostic(code(synth::exists), help("nothing was changed; pass `--force` to overwrite it"))]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A call of the API.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Client(#[from] ClientError),
    /// A key or token.
    #[error(transparent)]
    #[diagnostic(
        code(synth::token),
        help("create a signing key with `synth token init`; `synth token --help` shows examples")
    )]
    Mint(#[from] MintError),
    /// No private key to sign with.
    #[error("signing key {} not found", path.display())]
    #[diagnostic(
        code(synth::no_key),
        help(
            "create it with `synth token init`, pass --key FILE, or pass `--local` for the local stack"
        )
    )]
    NoKey {
        /// Where it should be.
        path: PathBuf,
    },
    /// A public key that cannot be put into the configuration by itself.
    #[error("{} has a form that cannot be edited safely", path.display())]
    #[diagnostic(code(synth::edit), help("add this to it:\n{snippet}"))]
    Edit {
        /// The file.
        path: PathBuf,
        /// What to add.
        snippet: String,
    },
    /// Nothing is deployed that is known here.
    #[error(
        "no deployment found: .cellar/profile.json does not exist in this or a parent directory"
    )]
    #[diagnostic(
        code(synth::not_deployed),
        help("run `synth deploy --local`, or pass --url and --token")
    )]
    NotDeployed,
    /// An API that no token is known for.
    #[error("no token is configured for {url}")]
    #[diagnostic(
        code(synth::no_token),
        help(
            "pass --url and --token; create a token with `synth token create` (with --local for the local \
             stack). The saved token is sent only to its own URL"
        )
    )]
    NoToken {
        /// Its URL.
        url: String,
    },
    /// The smoke test failed.
    #[error("the smoke test failed: {failed} of {checks} checks")]
    #[diagnostic(code(synth::smoke), help("{advice}"))]
    Smoke {
        /// How many failed.
        failed: usize,
        /// How many there are.
        checks: usize,
        /// Where to look.
        advice: String,
    },
    /// The background process ended before it was ready.
    #[error("{message}")]
    #[diagnostic(code(synth::detached))]
    Detached {
        /// What it said.
        message: String,
        /// What to do.
        #[help]
        help: String,
    },
    /// The local cloud that runs is another one than was asked for.
    #[error("a local stack with another {what} is already running at {url}")]
    #[diagnostic(
        code(synth::other_cloud),
        help("stop it with `synth destroy --local` (the data is kept) and deploy again")
    )]
    OtherCloud {
        /// Its URL.
        url: String,
        /// What is different.
        what: &'static str,
    },
    /// Another process uses the state folder, and has not said who it is.
    #[error("another process is starting or stopping a local stack here")]
    #[diagnostic(code(synth::busy), help("try again in a moment"))]
    Busy,
    /// A process that does not end.
    #[error("the local stack did not stop within {grace_s} s")]
    #[diagnostic(code(synth::stop), help("{advice}"))]
    Stop {
        /// How long it was waited for.
        grace_s: u64,
        /// How to end it by hand.
        advice: String,
    },
    /// Wrong usage that the arguments alone do not show.
    #[error("{0}")]
    #[diagnostic(code(synth::usage), help("`synth --help` shows examples"))]
    Usage(String),
    /// The feed could not be compared or mended.
    #[error("the feed could not be verified or repaired: {0}")]
    #[diagnostic(
        code(synth::feed),
        help("the event streams were not changed; run the command again to resume")
    )]
    Feed(AuditError),
    /// A stack of an earlier Cellar.
    #[error("the stack has no Feed table: it was deployed by an earlier version")]
    #[diagnostic(code(synth::no_index), help("update it with `synth deploy`"))]
    NoIndex,
    /// The webhook.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Webhook(#[from] WebhookFailure),
    /// Some segments could not be offloaded.
    #[error("{failed} of {segments} segments were not offloaded: {first}")]
    #[diagnostic(code(synth::offload), help("nothing is lost; run the command again to resume"))]
    Offload {
        /// How many failed.
        failed: usize,
        /// Number of segments to offload.
        segments: usize,
        /// Why the first did.
        first: RetentionError,
    },
    /// Deleted spreadsheets that were not purged.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Purge(#[from] PurgeFailure),
    /// The survey of the segments failed.
    #[error("cannot read the tables: {0}")]
    #[diagnostic(code(synth::survey), help("nothing was changed; run the command again"))]
    Survey(RetentionError),
    /// What was lost could not be found out.
    #[error("cannot read the tables: {0}")]
    #[diagnostic(code(synth::reprocess_survey), help("nothing was changed; run the command again"))]
    Look(PortError),
    /// Something that was found and could not be mended.
    #[error("{failed} of {due} repairs failed: {first}")]
    #[diagnostic(code(synth::reprocess), help("nothing is lost; run the command again to resume"))]
    Reprocess {
        /// How many failed.
        failed: usize,
        /// How many were to be done.
        due: usize,
        /// Why the first did.
        first: PortError,
    },
    /// Something is lost that no message brings back.
    #[error("{lost} findings cannot be repaired by this command")]
    #[diagnostic(
        code(synth::lost),
        help(
            "see the report: restore bodies and offloaded segments from older versions of their objects, and \
             rebuild snapshots with `synth reprocess --rebuild --spreadsheet ID`"
        )
    )]
    Lost {
        /// How many.
        lost: usize,
    },
    /// Cells that were not all looked at, or not all replaced.
    #[error("not all cells were checked and replaced: {0}")]
    #[diagnostic(
        code(synth::lost_cells),
        help("fix the cause and run the command again; no cell is replaced twice")
    )]
    LostCells(LogError),
    /// A rebuild that was not begun, or not to its end.
    #[error("not all snapshots were rebuilt: {0}")]
    #[diagnostic(
        code(synth::rebuild),
        help("the log was not changed; fix the cause and run the command again")
    )]
    Rebuild(RebuildRefusal),
    /// Something that needs a yes and did not get one.
    #[error("{what} was not confirmed")]
    #[diagnostic(code(synth::unconfirmed), help("answer `yes`, or pass --yes"))]
    Unconfirmed {
        /// What.
        what: &'static str,
    },
    /// AWS.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Aws(#[from] AwsError),
    /// No such stack.
    #[error("stack {stack} does not exist in {place}")]
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
        /// Its name.
        stack: String,
        /// The account and the region.
        place: String,
        /// Where it may be instead, and what to do then.
        elsewhere: Option<String>,
    },
    /// A stack that somebody else is changing.
    #[error("stack {stack} is being changed: {status}")]
    #[diagnostic(
        code(synth::stack_busy),
        help("wait until the change has finished, then run `synth deploy` again")
    )]
    StackBusy {
        /// Its name.
        stack: String,
        /// Its status.
        status: String,
    },
    /// A stack that CloudFormation left half-way.
    #[error("the stack {stack} is stuck in {status}{}", cause.as_ref().map(|it| format!(": {it}")).unwrap_or_default())]
    #[diagnostic(code(synth::stack_stuck), help("{help}"))]
    StackStuck {
        /// Its name.
        stack: String,
        /// Its status.
        status: String,
        /// The resource at fault, and what AWS says of it, if the events know.
        cause: Option<String>,
        /// What to do.
        help: String,
    },
    /// A stack of that name that somebody else made for something else.
    #[error("stack {stack} in {place} does not belong to Cellar")]
    #[diagnostic(
        code(synth::foreign_stack),
        help(
            "it has neither the tag cellar:stack nor the outputs of a Cellar stack, and was not changed; \
             check account and region, or choose another name with `stack` in cellar.yaml, then run \
             the same command again"
        )
    )]
    ForeignStack {
        /// Its name.
        stack: String,
        /// The account and the region.
        place: String,
    },
    /// AWS goes on, and we do not see it.
    #[error("lost the connection to AWS while it changes stack {stack}: {cause}")]
    #[diagnostic(
        code(synth::lost_sight),
        help(
            "AWS continues the change; {}, then run `synth {command}` again: it waits for the change and \
             does what remains",
            cause.remedy()
        )
    )]
    LostSight {
        /// Its name.
        stack: String,
        /// The command that was running.
        command: &'static str,
        /// Why it cannot.
        cause: AwsError,
    },
    /// A deployment that would lose data.
    #[error("the deployment would delete or replace resources that hold data: {ids}")]
    #[diagnostic(
        code(synth::data_would_be_lost),
        help("nothing was changed; to allow it, pass --allow-data-loss LOGICAL_ID for each")
    )]
    DataWouldBeLost {
        /// Logical ids.
        ids: String,
    },
    /// A plan that is not there.
    #[error("plan {} not found", path.display())]
    #[diagnostic(code(synth::no_plan), help("create it with `synth plan -o FILE`"))]
    NoPlan {
        /// The file.
        path: PathBuf,
    },
    /// A plan that is about something else by now.
    #[error("plan {} was not applied: {cause}", path.display())]
    #[diagnostic(
        code(synth::stale_plan),
        help("nothing was changed; create a new plan with `synth plan`")
    )]
    StalePlan {
        /// The file.
        path: PathBuf,
        /// Why not.
        cause: StalePlan,
    },
    /// Somebody does not wait any longer.
    #[error("interrupted: {}", stage.left(stack))]
    #[diagnostic(code(synth::interrupted), help("{}", stage.next_step(stack)))]
    Interrupted {
        /// The stack's name.
        stack: String,
        /// How far it had come.
        stage: Stage,
    },
    /// A restore that cannot be done.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Restore(#[from] RestoreError),
    /// A deployment that failed.
    #[error("{what} could not be {done}: {reason}")]
    #[diagnostic(code(synth::deploy_failed), help("{help}"))]
    DeployFailed {
        /// The resource at fault.
        what: String,
        /// What was to be done: deployed, deleted.
        done: &'static str,
        /// What AWS says.
        reason: String,
        /// What to do, and how the stack is now.
        help: String,
    },
    /// A stack that is none of Cellar's.
    #[error("stack output {output} not found")]
    #[diagnostic(
        code(synth::no_output),
        help("is `stack` in cellar.yaml the name of another stack?")
    )]
    NoOutput {
        /// The output.
        output: &'static str,
    },
    /// A file that should name the resources of a stack.
    #[error("{} does not name the resources of a stack: {why}", path.display())]
    #[diagnostic(
        code(synth::resources),
        help("write it with `aws cloudformation describe-stack-resources --stack-name NAME`")
    )]
    Resources {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A template for people that does not render.
    #[error("cannot render the text: {0}")]
    #[diagnostic(code(synth::text))]
    Text(#[from] handlebars::RenderError),
    /// The process itself.
    #[error("the command cannot run: {0}")]
    #[diagnostic(code(synth::process))]
    Process(std::io::Error),
}
