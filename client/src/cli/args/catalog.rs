//! Arguments of the commands for details, sharing and share links.

use std::time::Duration;

use cellar_catalog::access::Role;
use cellar_catalog::{
    spreadsheet::BadLink, spreadsheet::Link as Listed, spreadsheet::LinkId, spreadsheet::LinkRole,
    spreadsheet::Name,
};
use clap::{Args, Subcommand};

use super::name;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cellar details
  cellar details --changes           # changes with author and time
  cellar details --json")]
pub(in crate::cli) struct Details {
    /// List changes of the details, newest first
    #[arg(long)]
    pub(in crate::cli) changes: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cellar rename 'Budget 2026'")]
pub(in crate::cli) struct Rename {
    /// New name: one line of at most 256 bytes
    #[arg(value_parser = name)]
    pub(in crate::cli) name: Name,
}

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

#[derive(Debug, Args)]
#[command(after_help = "\
Access ends within 30 seconds. Every member can remove themselves; the last owner cannot be removed.

Examples:
  cellar unshare bob
  cellar unshare ann --issuer https://login.example.com")]
pub(in crate::cli) struct Unshare {
    /// Person: the `sub` claim of their tokens
    pub(in crate::cli) person: String,
    /// Issuer of their tokens [default: the issuer of your token]
    #[arg(long, value_name = "ISSUER")]
    pub(in crate::cli) issuer: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A share link is used as a token: pass it to --token, with the --url of the API.

Examples:
  cellar links                       # list the links
  cellar links create --expires-in 30d      # a read-only link
  cellar links create --role editor --label 'the team'
  cellar --url https://… --token LINK get   # use a link; it names the spreadsheet
  cellar links revoke 0de57f1649649296")]
pub(in crate::cli) struct Links {
    #[command(subcommand)]
    pub(in crate::cli) command: Option<Link>,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum Link {
    /// Create a share link; it is shown only once
    #[command(after_help = "\
Examples:
  cellar links create
  cellar links create --expires-in 30d
  cellar links create --role editor --label 'the team'")]
    Create {
        /// Role that the link grants
        #[arg(long, value_parser = link_role, default_value = "viewer", value_name = "viewer|editor")]
        role: LinkRole,
        /// Label, to recognise the link
        #[arg(long, value_parser = label, default_value = "", hide_default_value = true)]
        label: String,
        /// Lifetime, such as 30d or 12h [default: no expiry]
        #[arg(long, value_parser = lifetime, value_name = "DURATION")]
        expires_in: Option<Duration>,
    },
    /// Revoke a share link
    #[command(after_help = "\
Examples:
  cellar links                       # list the links
  cellar links revoke 0de57f1649649296")]
    Revoke {
        /// Id of the link, from `cellar links`
        id: LinkId,
    },
}

fn link_role(text: &str) -> Result<LinkRole, String> {
    match text {
        "viewer" => Ok(LinkRole::Viewer),
        "editor" => Ok(LinkRole::Editor),
        _ => Err("a link can grant the role viewer or editor".to_owned()),
    }
}

fn label(text: &str) -> Result<String, BadLink> {
    Listed::check_label(text).map(|()| text.to_owned())
}

fn lifetime(text: &str) -> Result<Duration, String> {
    let lifetime = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    match lifetime.as_secs() {
        0 => Err("the lifetime must be at least one second".to_owned()),
        _ => Ok(lifetime),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_invalid_roles_labels_and_lifetimes() {
        assert_eq!(lifetime("30d"), Ok(Duration::from_secs(30 * 86_400)));
        for bad in ["0s", "soon", "", "-1d"] {
            assert!(lifetime(bad).is_err(), "{bad}");
        }
        assert!("admin".parse::<Role>().is_err() && link_role("owner").is_err());
        assert!(label(&"x".repeat(1_000)).is_err() && label("a\nb").is_err());
        assert!(name(&"x".repeat(10_000)).is_err());
    }
}
