//! Arguments of `synth token`.

use std::path::PathBuf;
use std::time::Duration;

use cellar_base::duration::{DurationFault, DurationUnit, parse_duration};
use cellar_base::identity::LogId;
use cellar_base::limits::MAX_TOKEN_S;
use cellar_catalog::access::Role;
use cellar_runtime::token::Spreadsheets;
use clap::{Args, Subcommand};

use super::parse_spreadsheet_id;

/// Arguments of `token`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
                  synth token create --local --subject alice            for the local stack\n  \
                  synth token init                                      once, for a stack in AWS\n  \
                  synth token create --subject alice --expires-in 30d   her own and shared spreadsheets\n  \
                  synth token create --role owner                       an operator token")]
pub(crate) struct TokenArguments {
    #[command(subcommand)]
    pub(crate) command: TokenCommand,
}

/// Commands of `synth token`.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Create a signing key pair and add its public key to cellar.yaml
    #[command(
        after_help = "Examples:\n  synth token init\n\nAn existing key is kept. If the command is \
                            interrupted, run it again."
    )]
    Init,
    /// Create a token
    #[command(after_help = "Examples:\n  \
                      synth token create --local --subject alice            for the local stack\n  \
                      synth token create --subject alice --expires-in 30d   for a stack in AWS\n  \
                      synth token create --subject bob --spreadsheet ID --role viewer\n  \
                      synth token create --role owner                       an operator token for all spreadsheets")]
    Create(TokenCreateArguments),
}

/// Arguments of `token create`.
#[derive(Debug, Args)]
pub(crate) struct TokenCreateArguments {
    /// Person for whom the token is (`sub` claim); without it, an operator token is created
    #[arg(long, value_name = "NAME")]
    pub(crate) subject: Option<String>,
    /// Limit the token to this spreadsheet, which it opens even without sharing (repeatable)
    #[arg(long, short, value_name = "ID", value_parser = parse_spreadsheet_id, conflicts_with = "all")]
    pub(crate) spreadsheet: Vec<LogId>,
    /// Open all spreadsheets, even without sharing
    #[arg(long)]
    pub(crate) all: bool,
    /// Maximum role [default: owner for a person, editor for an operator token or named spreadsheets]
    #[arg(long, value_name = "viewer|editor|owner")]
    pub(crate) role: Option<Role>,
    /// Lifetime, such as 30d or 12h
    #[arg(long, value_parser = parse_lifetime, default_value = "30d", value_name = "DURATION")]
    pub(crate) expires_in: Duration,
    /// Create a token for the local stack, signed with its key
    #[arg(long)]
    pub(crate) local: bool,
    /// Private key file [default: .cellar/token-key.pem]
    #[arg(long, value_name = "FILE", conflicts_with = "local")]
    pub(crate) key: Option<PathBuf>,
}

impl TokenCreateArguments {
    /// Returns the spreadsheets to which the token grants access, and its maximum role.
    pub(crate) fn scope(&self) -> (Spreadsheets, Role) {
        let (spreadsheets, default_role) =
            match (&self.subject, self.all, self.spreadsheet.as_slice()) {
                (Some(_), false, []) => (Spreadsheets::shared(), Role::Owner),
                (_, _, []) => (Spreadsheets::all(), Role::Editor),
                (_, _, ids) => (Spreadsheets::Only(ids.to_vec()), Role::Editor),
            };
        (spreadsheets, self.role.unwrap_or(default_role))
    }
}

fn parse_lifetime(text: &str) -> Result<Duration, DurationFault> {
    parse_duration(text, DurationUnit::Seconds, &(1..=MAX_TOKEN_S)).map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, clap::Parser)]
    struct Cli {
        #[command(flatten)]
        token: TokenCreateArguments,
    }

    #[test]
    fn a_person_gets_shared_spreadsheets_and_an_operator_all() {
        let id = LogId::from_uuid(uuid::Uuid::from_bytes([7; 16]));
        let text = id.to_string();
        let scope = |arguments: &[&str]| {
            let arguments = [&["token"], arguments].concat();
            <Cli as clap::Parser>::try_parse_from(arguments).map(|cli| cli.token.scope())
        };
        for (arguments, spreadsheets, role) in [
            (&[][..], Spreadsheets::all(), Role::Editor),
            (&["--subject", "bob"], Spreadsheets::shared(), Role::Owner),
            (&["--subject", "bob", "--role", "viewer"], Spreadsheets::shared(), Role::Viewer),
            (&["--subject", "bob", "--all"], Spreadsheets::all(), Role::Editor),
            (&["--all", "--role", "owner"], Spreadsheets::all(), Role::Owner),
            (&["--subject", "bob", "-s", &text], Spreadsheets::Only(vec![id]), Role::Editor),
            (&["-s", &text], Spreadsheets::Only(vec![id]), Role::Editor),
        ] {
            assert_eq!(scope(arguments).unwrap(), (spreadsheets, role), "{arguments:?}");
        }
        assert!(scope(&["--all", "-s", &text]).is_err());
        let error = scope(&["-s", "Budget"]).unwrap_err().to_string();
        assert!(error.contains("`cellar list` prints the ids"), "{error}");
    }

    #[test]
    fn lifetimes_are_bounded() {
        assert_eq!(parse_lifetime("30d"), Ok(Duration::from_secs(30 * 86_400)));
        assert_eq!(parse_lifetime("366d"), Ok(Duration::from_secs(MAX_TOKEN_S)));
        for bad in ["0s", "366d 1s", "soon", "", "-1d", "30"] {
            assert!(parse_lifetime(bad).is_err(), "{bad}");
        }
    }
}
