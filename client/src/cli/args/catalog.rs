//! Arguments of the commands for the catalog: names, people and links.

use std::time::Duration;

use cellar_core::access::Role;
use cellar_core::catalog::{BadLink, Link as Listed, LinkId, LinkRole, Name};
use clap::{Args, Subcommand};

use super::name;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cellar details
  cellar details --changes           # who named, shared, archived it, and when
  cellar details --json")]
pub(in crate::cli) struct Details {
    /// Show who changed them, the newest first
    #[arg(long)]
    pub(in crate::cli) changes: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cellar rename 'Budget 2026'")]
pub(in crate::cli) struct Rename {
    /// The new name: one line of at most 256 bytes
    #[arg(value_parser = name)]
    pub(in crate::cli) name: Name,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A viewer reads; an editor changes cells and the name, too; an owner shares, archives and deletes. People are \
named as their tokens name them (`synth token --sub NAME`).

Examples:
  cellar share bob                   # bob may read it
  cellar share bob --role editor     # and now edit it
  cellar share ann --role owner --issuer https://login.example.com")]
pub(in crate::cli) struct Share {
    /// Whom to share it with
    pub(in crate::cli) person: String,
    /// What they may do
    #[arg(long, default_value = "viewer", value_name = "viewer|editor|owner")]
    pub(in crate::cli) role: Role,
    /// Whose tokens they have; without it the same as yours
    #[arg(long, value_name = "ISSUER")]
    pub(in crate::cli) issuer: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
It is hidden from them within 30 seconds. Everybody may leave; the last owner stays.

Examples:
  cellar unshare bob
  cellar unshare ann --issuer https://login.example.com")]
pub(in crate::cli) struct Unshare {
    /// Whom not to share it with any longer
    pub(in crate::cli) person: String,
    /// Whose tokens they have; without it the same as yours
    #[arg(long, value_name = "ISSUER")]
    pub(in crate::cli) issuer: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A link is used in place of a token: give it to --token, beside the --url of the API.

Examples:
  cellar links                       # which there are
  cellar links add --expires 30d     # a new one, to read
  cellar links add --role editor --label 'the team'
  cellar --url https://… --token LINK get   # the link says which spreadsheet
  cellar links remove 0de57f1649649296")]
pub(in crate::cli) struct Links {
    #[command(subcommand)]
    pub(in crate::cli) command: Option<Link>,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum Link {
    /// Make a link and print it: nobody can look it up later
    #[command(after_help = "\
Examples:
  cellar links add
  cellar links add --expires 30d
  cellar links add --role editor --label 'the team'")]
    Add {
        /// What it allows
        #[arg(long, value_parser = link_role, default_value = "viewer", value_name = "viewer|editor")]
        role: LinkRole,
        /// What it is for
        #[arg(long, value_parser = label, default_value = "", hide_default_value = true)]
        label: String,
        /// When it ends, such as 30d or 12h; without it, it does not
        #[arg(long, value_parser = lifetime, value_name = "DURATION")]
        expires: Option<Duration>,
    },
    /// End a link
    #[command(after_help = "\
Examples:
  cellar links                       # which there are
  cellar links remove 0de57f1649649296")]
    Remove {
        /// What `cellar links` calls it by
        id: LinkId,
    },
}

fn link_role(text: &str) -> Result<LinkRole, String> {
    match text {
        "viewer" => Ok(LinkRole::Viewer),
        "editor" => Ok(LinkRole::Editor),
        _ => Err("a link is for a viewer or an editor".to_owned()),
    }
}

fn label(text: &str) -> Result<String, BadLink> {
    Listed::check_label(text).map(|()| text.to_owned())
}

fn lifetime(text: &str) -> Result<Duration, String> {
    let lifetime = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    match lifetime.as_secs() {
        0 => Err("a link is there for a second at least".to_owned()),
        _ => Ok(lifetime),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_none_is_refused_before_anything_is_sent() {
        assert_eq!(lifetime("30d"), Ok(Duration::from_secs(30 * 86_400)));
        for bad in ["0s", "soon", "", "-1d"] {
            assert!(lifetime(bad).is_err(), "{bad}");
        }
        assert!("admin".parse::<Role>().is_err() && link_role("owner").is_err());
        assert!(label(&"x".repeat(1_000)).is_err() && label("a\nb").is_err());
        assert!(name(&"x".repeat(10_000)).is_err());
    }
}
