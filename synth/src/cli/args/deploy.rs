//! Arguments of what makes, checks and ends a stack.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `deploy`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  synth deploy                      into the account that AWS_PROFILE names\n  \
                        synth deploy --yes                without asking, as a pipeline does\n  \
                        synth deploy --local --detach     on this machine\n  \
                        synth deploy --local --port 9000\n  \
                        synth deploy --endpoint-url http://127.0.0.1:4566"
)]
pub(crate) struct DeployArguments {
    /// Run the stack on this machine, on 127.0.0.1, with its data under .cellar/
    #[arg(long)]
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
    /// Deploy into an emulator of AWS at this URL
    #[arg(long, value_name = "URL", conflicts_with = "local")]
    pub(crate) endpoint_url: Option<String>,
    /// The functions, built and zipped before
    #[arg(long, value_name = "FILE", conflicts_with = "local")]
    pub(crate) bundle: Option<PathBuf>,
    /// Bucket for bundles and templates [default: one of Cellar's in this account and region]
    #[arg(long, value_name = "NAME", conflicts_with = "local")]
    pub(crate) artifact_bucket: Option<String>,
    /// Let this resource be replaced or taken out though it holds data; may be given several times
    #[arg(long, value_name = "LOGICAL_ID", conflicts_with = "local")]
    pub(crate) allow_loss: Vec<String>,
    /// Do not ask
    #[arg(long, short, conflicts_with = "local")]
    pub(crate) yes: bool,
}

/// Arguments of `smoke`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  synth smoke\n  \
                        synth smoke --url https://… --token \"$CELLAR_TOKEN\"")]
pub(crate) struct SmokeArguments {
    /// URL of the API [default: that of the last deployment]
    #[arg(long, env = "CELLAR_URL")]
    pub(crate) url: Option<String>,
    /// Token with the role editor for all spreadsheets [default: that of the last deployment]
    #[arg(long, env = "CELLAR_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<String>,
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
