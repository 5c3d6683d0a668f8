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
        help("save it as UTF-8; `synth init --force` overwrites it with every default")
    )]
    ConfigEncoding {
        /// The file.
        path: PathBuf,
    },
    /// A configuration file that was named and is not there.
    #[error("there is no configuration file {}", path.display())]
    #[diagnostic(code(synth::no_config), help("`synth init` writes one with every default"))]
    NoConfig {
        /// The file.
        path: PathBuf,
    },
    /// A configuration or a state folder that was found upwards, and that other accounts may write.
    #[error("what was found here is not used: {0}")]
    #[diagnostic(
        code(synth::stranger),
        help(
            "a configuration says whose tokens are accepted: read it, and if it is right, name it \
             with `--config FILE`, or make it and its folder yours alone"
        )
    )]
    Stranger(#[from] cellar::owner::Stranger),
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
        help("give the output of `synth template`, or what CloudFormation has of a stack")
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
        help("name a revision such as main, or a file in one such as main:infra/template.json")
    )]
    Revision {
        /// As it was given.
        revision: String,
        /// What git said.
        message: String,
    },
    /// A difference that is not to be.
    #[error("the difference is {severity}")]
    #[diagnostic(
        code(synth::grave),
        help("it is shown above; `--fail-on` says from which severity on that is an error")
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
    #[diagnostic(code(synth::file), help("check that the file and its folder are yours to use"))]
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
    #[error("{} exists already", path.display())]
    #[diagnostic(code(synth::exists), help("nothing was changed; `--force` overwrites it"))]
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
        help(
            "a private key is a PEM file as `synth token init` writes it; `synth token --help` \
              shows examples"
        )
    )]
    Mint(#[from] MintError),
    /// No private key to sign with.
    #[error("there is no private key in {}", path.display())]
    #[diagnostic(
        code(synth::no_key),
        help(
            "for the local cloud pass `--local` (its key is made by `synth deploy --local`); for \
             stacks in AWS `synth token init` makes one; `--key FILE` names another"
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
    #[error("no deployment is known here")]
    #[diagnostic(
        code(synth::not_deployed),
        help("`synth deploy --local` makes one; or pass --url and --token")
    )]
    NotDeployed,
    /// An API that no token is known for.
    #[error("there is no token for {url}")]
    #[diagnostic(
        code(synth::no_token),
        help(
            "pass --url and --token: `synth token --local` makes one for the local cloud, `synth token` one \
             for a stack in AWS; the token that is remembered here goes to its own URL only"
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
    #[error("a local cloud runs at {url} already, with another {what}")]
    #[diagnostic(
        code(synth::other_cloud),
        help("end it with `synth destroy --local` (its data stays) and deploy again")
    )]
    OtherCloud {
        /// Its URL.
        url: String,
        /// What is different.
        what: &'static str,
    },
    /// Another process uses the state folder, and has not said who it is.
    #[error("another process starts or ends a local cloud here")]
    #[diagnostic(code(synth::busy), help("try again in a moment"))]
    Busy,
    /// A process that does not end.
    #[error("the local cloud did not end within {grace_s} s")]
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
    #[error("the feed could not be compared or mended: {0}")]
    #[diagnostic(
        code(synth::feed),
        help(
            "the streams themselves were not changed; run it again, which goes on where this one ended"
        )
    )]
    Feed(AuditError),
    /// A stack of an earlier Cellar.
    #[error("the stack has no Index table: it is of an earlier Cellar")]
    #[diagnostic(code(synth::no_index), help("deploy it again: `synth deploy`"))]
    NoIndex,
    /// The webhook.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Webhook(#[from] WebhookFailure),
    /// Old segments that could not be archived.
    #[error("{failed} of {segments} segments were not archived: {first}")]
    #[diagnostic(
        code(synth::archive),
        help("nothing is lost; run it again, which goes on where this one ended")
    )]
    Archive {
        /// How many failed.
        failed: usize,
        /// How many were to be archived.
        segments: usize,
        /// Why the first did.
        first: RetentionError,
    },
    /// Deleted spreadsheets that were not purged.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Purge(#[from] PurgeFailure),
    /// What is to be archived could not be found out.
    #[error("the tables could not be read: {0}")]
    #[diagnostic(code(synth::survey), help("nothing was changed; run it again"))]
    Survey(RetentionError),
    /// What was lost could not be found out.
    #[error("the tables could not be read: {0}")]
    #[diagnostic(code(synth::reprocess_survey), help("nothing was changed; run it again"))]
    Look(PortError),
    /// Something that was found and could not be mended.
    #[error("{failed} of {due} were not done: {first}")]
    #[diagnostic(
        code(synth::reprocess),
        help("nothing is lost; run it again, which goes on where this one ended")
    )]
    Reprocess {
        /// How many failed.
        failed: usize,
        /// How many were to be done.
        due: usize,
        /// Why the first did.
        first: PortError,
    },
    /// Something is lost that no message brings back.
    #[error("{lost} of what was found cannot be mended so")]
    #[diagnostic(
        code(synth::lost),
        help(
            "the report says of each what is wrong: bodies and archives are restored from older \
             versions of their objects, snapshots by `synth reprocess --rebuild --log ID`"
        )
    )]
    Lost {
        /// How many.
        lost: usize,
    },
    /// Cells that were not all looked at, or not all replaced.
    #[error("the cells were not all looked at and replaced: {0}")]
    #[diagnostic(
        code(synth::lost_cells),
        help(
            "run it again once this is mended: what was replaced stays so, and nothing happens twice"
        )
    )]
    LostCells(LogError),
    /// A rebuild that was not begun, or not to its end.
    #[error("the snapshots were not all made anew: {0}")]
    #[diagnostic(
        code(synth::rebuild),
        help("the log itself was not changed; run it again once this is mended")
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
    #[error("there is no stack {stack} in {place}")]
    #[diagnostic(
        code(synth::no_stack),
        help(
            "`synth deploy` makes it; {}",
            elsewhere.as_deref().unwrap_or(
                "AWS_PROFILE and AWS_REGION say where to look, `stack` in cellar.yaml for which"
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
    #[error("the stack {stack} is being changed: {status}")]
    #[diagnostic(
        code(synth::stack_busy),
        help("wait until that has ended, then run `synth deploy` again")
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
    #[error("the stack {stack} in {place} is none of Cellar's")]
    #[diagnostic(
        code(synth::foreign_stack),
        help(
            "it has neither the tag cellar:stack nor the outputs of one, and is left as it is; check \
             account and region, or choose another name with `stack` in cellar.yaml, then run the \
             same command again"
        )
    )]
    ForeignStack {
        /// Its name.
        stack: String,
        /// The account and the region.
        place: String,
    },
    /// AWS goes on, and we do not see it.
    #[error("AWS is at work on the stack {stack}, and cannot be watched any longer: {cause}")]
    #[diagnostic(
        code(synth::lost_sight),
        help(
            "AWS goes on by itself; {}, then run `synth {command}` again: it waits for that, and does \
             what is left to do",
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
    #[error("the deployment would replace or take out what holds data: {ids}")]
    #[diagnostic(
        code(synth::data_would_be_lost),
        help("nothing was changed; if it is meant, name each with --allow-loss LOGICAL_ID")
    )]
    DataWouldBeLost {
        /// Logical ids.
        ids: String,
    },
    /// A plan that is not there.
    #[error("there is no plan {}", path.display())]
    #[diagnostic(
        code(synth::no_plan),
        help("`synth plan -o FILE` writes one, if there is something to change")
    )]
    NoPlan {
        /// The file.
        path: PathBuf,
    },
    /// A plan that is about something else by now.
    #[error("the plan {} is not applied: {cause}", path.display())]
    #[diagnostic(
        code(synth::stale_plan),
        help("nothing was changed; `synth plan` makes a new one")
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
    #[error("the stack has no output {output}")]
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
    #[error("the text could not be rendered: {0}")]
    #[diagnostic(code(synth::text))]
    Text(#[from] handlebars::RenderError),
    /// The process itself.
    #[error("the command cannot run: {0}")]
    #[diagnostic(code(synth::process))]
    Process(std::io::Error),
}
