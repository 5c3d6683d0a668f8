use cellar_catalog::access::Role;
use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
A viewer can read, an editor can also edit and rename, an owner can also share, archive and delete. A person \
is identified by the subject of their tokens (`synth token create --subject NAME`).

Examples:
  cellar share bob                   # bob can read it
  cellar share bob --role editor     # bob can edit it
  cellar share ann --role owner --issuer https://login.example.com")]
pub(in crate::cli) struct Share {
    /// Person: the `sub` claim of their tokens
    pub(in crate::cli) person: String,
    /// Role
    #[arg(long, default_value = "viewer", value_name = "viewer|editor|owner")]
    pub(in crate::cli) role: Role,
    /// Issuer of their tokens [default: the issuer of your token]
    #[arg(long, value_name = "ISSUER")]
    pub(in crate::cli) issuer: Option<String>,
}
