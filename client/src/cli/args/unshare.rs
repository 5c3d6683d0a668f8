use clap::Args;

use super::share::parse_person;

#[derive(Debug, Args)]
#[command(after_help = "\
Access ends within 30 seconds. Every member can remove themselves; the last owner cannot be removed.

Examples:
  cellar unshare bob
  cellar unshare ann --issuer https://login.example.com")]
pub(in crate::cli) struct Unshare {
    /// Person: the name in their token (its claim `sub`)
    #[arg(value_parser = parse_person)]
    pub(in crate::cli) person: String,
    /// Issuer of their tokens [default: the issuer of your token]
    #[arg(long, value_name = "ISSUER")]
    pub(in crate::cli) issuer: Option<String>,
}
