//! Arguments of `synth token`.

use std::path::PathBuf;
use std::time::Duration;

use cellar_core::access::Role;
use cellar_core::identity::LogId;
use clap::{Args, Subcommand};

/// Arguments of `token`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  synth token init\n  \
                  synth token --sub alice --role editor --expires 30d\n  \
                  synth token --local --sub bob --role viewer --spreadsheet ID"
)]
pub(crate) struct TokenArguments {
    #[command(subcommand)]
    pub(crate) command: Option<TokenCommand>,
    #[command(flatten)]
    pub(crate) mint: MintArguments,
}

/// What to do about keys.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Make a key pair: the private half stays here, the public half goes into cellar.yaml
    #[command(after_help = "Examples:\n  synth token init\n\nRun again, it finishes what was \
                            interrupted; a key that exists is kept.")]
    Init,
}

/// Arguments of minting.
#[derive(Debug, Args)]
pub(crate) struct MintArguments {
    /// Whose token it is: the author in the history
    #[arg(long, value_name = "NAME", default_value = "operator")]
    pub(crate) sub: String,
    /// A spreadsheet that it covers, again for more [default: all]
    #[arg(long, short, value_name = "ID")]
    pub(crate) spreadsheet: Vec<LogId>,
    /// What it allows there
    #[arg(long, value_parser = parse_role, default_value = "editor",
          value_name = "viewer|editor|owner")]
    pub(crate) role: Role,
    /// How long it is valid, such as 30d or 12h
    #[arg(long, value_parser = parse_lifetime, default_value = "30d", value_name = "DURATION")]
    pub(crate) expires: Duration,
    /// Sign it for the local cloud
    #[arg(long)]
    pub(crate) local: bool,
    /// Private key file [default: .cellar/token-key.pem]
    #[arg(long, value_name = "FILE", conflicts_with = "local")]
    pub(crate) key: Option<PathBuf>,
}

fn parse_role(text: &str) -> Result<Role, String> {
    match text {
        "viewer" => Ok(Role::Viewer),
        "editor" => Ok(Role::Editor),
        "owner" => Ok(Role::Owner),
        _ => Err("the roles are viewer, editor and owner".to_owned()),
    }
}

/// Tokens cannot be taken back one by one: a year is the longest.
const MAX_LIFETIME: Duration = Duration::from_secs(366 * 24 * 60 * 60);

fn parse_lifetime(text: &str) -> Result<Duration, String> {
    let lifetime = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    if lifetime.as_secs() == 0 || lifetime > MAX_LIFETIME {
        return Err("a token is valid for 1 second to 366 days".to_owned());
    }
    Ok(lifetime)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lifetimes_end_at_their_limits() {
        assert_eq!(parse_lifetime("30d"), Ok(Duration::from_secs(30 * 86_400)));
        assert_eq!(parse_lifetime("366d"), Ok(MAX_LIFETIME));
        for bad in ["0s", "366d 1s", "soon", "", "-1d"] {
            assert!(parse_lifetime(bad).is_err(), "{bad}");
        }
    }
}
