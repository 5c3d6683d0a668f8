//! What can go wrong, and what to do about it.

use std::path::PathBuf;

use cellar::ClientError;
use cellar::files::FileError;
use cellar_local::LocalError;
use cellar_runtime::token::MintError;
use cellar_stacks::{CellarStackError, ConfigError};
use miette::Diagnostic;

/// Why a command failed.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub(crate) enum SynthError {
    /// The configuration.
    #[error(transparent)]
    #[diagnostic(code(synth::config), help("`synth init --print` shows every field"))]
    Config(#[from] ConfigError),
    /// A configuration file that was named and is not there.
    #[error("there is no configuration file {}", path.display())]
    #[diagnostic(code(synth::no_config), help("`synth init` writes one with every default"))]
    NoConfig {
        /// The file.
        path: PathBuf,
    },
    /// The stack.
    #[error(transparent)]
    #[diagnostic(code(synth::stack))]
    Stack(#[from] CellarStackError),
    /// The local cloud.
    #[error("{source}")]
    #[diagnostic(code(synth::local))]
    Local {
        /// The cause.
        source: LocalError,
        /// What to do.
        #[help]
        help: Option<String>,
    },
    /// A file.
    #[error("cannot {what} {}: {source}", path.display())]
    #[diagnostic(code(synth::file))]
    Io {
        /// What was tried.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A state file.
    #[error(transparent)]
    #[diagnostic(transparent)]
    File(#[from] FileError),
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
    #[diagnostic(code(synth::token))]
    Mint(#[from] MintError),
    /// No private key to sign with.
    #[error("there is no private key in {}", path.display())]
    #[diagnostic(
        code(synth::no_key),
        help(
            "`synth token init` makes one for stacks in AWS, `synth deploy --local` makes one for \
             the local cloud, `--key FILE` names another"
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
    #[error("the local cloud did not start: {why}")]
    #[diagnostic(code(synth::detached), help("its log is {}", log.display()))]
    Detached {
        /// What is known.
        why: String,
        /// Its log.
        log: PathBuf,
    },
    /// The local cloud that runs has another template.
    #[error("a local cloud runs at {url} with another template")]
    #[diagnostic(
        code(synth::other_template),
        help("end it with `synth destroy --local` (its data stays) and deploy again")
    )]
    OtherTemplate {
        /// Its URL.
        url: String,
    },
    /// A process that does not end.
    #[error("process {pid} does not end: {why}")]
    #[diagnostic(code(synth::stop))]
    Stop {
        /// The process.
        pid: u32,
        /// The cause.
        why: String,
    },
    /// Something that needs a yes and did not get one.
    #[error("{what} was not confirmed")]
    #[diagnostic(code(synth::unconfirmed), help("answer `yes`, or pass --yes"))]
    Unconfirmed {
        /// What.
        what: &'static str,
    },
    /// A part of Cellar that is not there yet.
    #[error("{what} is not part of this version")]
    #[diagnostic(code(synth::not_yet), help("{help}"))]
    NotYet {
        /// What.
        what: &'static str,
        /// What there is.
        help: &'static str,
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

impl From<LocalError> for SynthError {
    fn from(source: LocalError) -> Self {
        let help = source.help();
        Self::Local { source, help }
    }
}
