//! Arguments of `synth token`.

use std::path::PathBuf;
use std::time::Duration;

use cellar_core::access::Role;
use cellar_core::identity::LogId;
use cellar_core::limits::MAX_TOKEN_S;
use cellar_runtime::token::Spreadsheets;
use clap::{Args, Subcommand};

/// Arguments of `token`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  synth token init\n  \
                  synth token --sub alice --expires 30d          what is shared with alice, and her own\n  \
                  synth token --sub bob --spreadsheet ID --role viewer\n  \
                  synth token --all --role owner                 everything: for operators"
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
    /// Whose token it is: the author in the history, and whom spreadsheets are shared with; without it an
    /// operator's, for all
    #[arg(long, value_name = "NAME")]
    pub(crate) sub: Option<String>,
    /// A spreadsheet that it covers whatever is shared with them, again for more
    #[arg(long, short, value_name = "ID", conflicts_with = "all")]
    pub(crate) spreadsheet: Vec<LogId>,
    /// It covers all spreadsheets, whatever is shared with them
    #[arg(long)]
    pub(crate) all: bool,
    /// The most that it allows [default: owner for what is shared, otherwise editor]
    #[arg(long, value_name = "viewer|editor|owner")]
    pub(crate) role: Option<Role>,
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

impl MintArguments {
    /// Where it holds, and what it allows there at most.
    pub(crate) fn scope(&self) -> (Spreadsheets, Role) {
        let (spreadsheets, role) = match (&self.sub, self.all, self.spreadsheet.as_slice()) {
            (Some(_), false, []) => (Spreadsheets::shared(), Role::Owner),
            (_, _, []) => (Spreadsheets::all(), Role::Editor),
            (_, _, some) => (Spreadsheets::Only(some.to_vec()), Role::Editor),
        };
        (spreadsheets, self.role.unwrap_or(role))
    }
}

const MAX_LIFETIME: Duration = Duration::from_secs(MAX_TOKEN_S);

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

    #[derive(Debug, clap::Parser)]
    struct Cli {
        #[command(flatten)]
        token: MintArguments,
    }

    #[test]
    fn a_person_has_what_is_shared_and_an_operator_all() {
        let id = LogId::from_uuid(uuid::Uuid::from_bytes([7; 16]));
        let text = id.to_string();
        let scope = |arguments: &[&str]| {
            let arguments = [&["token"], arguments].concat();
            <Cli as clap::Parser>::try_parse_from(arguments).map(|cli| cli.token.scope())
        };
        for (arguments, spreadsheets, role) in [
            (&[][..], Spreadsheets::all(), Role::Editor),
            (&["--sub", "bob"], Spreadsheets::shared(), Role::Owner),
            (&["--sub", "bob", "--role", "viewer"], Spreadsheets::shared(), Role::Viewer),
            (&["--sub", "bob", "--all"], Spreadsheets::all(), Role::Editor),
            (&["--all", "--role", "owner"], Spreadsheets::all(), Role::Owner),
            (&["--sub", "bob", "-s", &text], Spreadsheets::Only(vec![id]), Role::Editor),
            (&["-s", &text], Spreadsheets::Only(vec![id]), Role::Editor),
        ] {
            assert_eq!(scope(arguments).unwrap(), (spreadsheets, role), "{arguments:?}");
        }
        assert!(scope(&["--all", "-s", &text]).is_err());
    }

    #[test]
    fn lifetimes_end_at_their_limits() {
        assert_eq!(parse_lifetime("30d"), Ok(Duration::from_secs(30 * 86_400)));
        assert_eq!(parse_lifetime("366d"), Ok(MAX_LIFETIME));
        for bad in ["0s", "366d 1s", "soon", "", "-1d"] {
            assert!(parse_lifetime(bad).is_err(), "{bad}");
        }
    }
}
