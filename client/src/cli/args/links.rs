use std::ops::RangeInclusive;
use std::time::Duration;

use cellar_base::duration::{DurationFault, DurationUnit, parse_duration};
use cellar_catalog::spreadsheet::{BadLink, Link as ListedLink, LinkId, LinkRole};
use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(after_help = "\
A share link is a URL. The command accepts it wherever it accepts a spreadsheet. --json also prints the bearer \
token of the link, for the HTTP API.

Examples:
  cellar links                       # list the links
  cellar links create --expires-in 30d      # a read-only link
  cellar links create --role editor --label 'the team'
  cellar get -s 'https://example.com/#/s/ID?link=SECRET'   # use a link
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
        #[arg(long, value_parser = parse_link_role, default_value = "viewer", value_name = "viewer|editor")]
        role: LinkRole,
        /// Label, to recognise the link
        #[arg(long, value_parser = parse_label, default_value = "", hide_default_value = true)]
        label: String,
        /// Lifetime, such as 30d or 12h [default: no expiry]
        #[arg(long, value_parser = parse_lifetime, value_name = "DURATION")]
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

/// Accepted range of `--expires-in`, in seconds: up to a century.
const LIFETIME_S: RangeInclusive<u64> = 1..=36_525 * 86_400;

fn parse_link_role(text: &str) -> Result<LinkRole, String> {
    match text {
        "viewer" => Ok(LinkRole::Viewer),
        "editor" => Ok(LinkRole::Editor),
        _ => Err("a link can grant the role viewer or editor".to_owned()),
    }
}

fn parse_label(text: &str) -> Result<String, BadLink> {
    ListedLink::check_label(text).map(|()| text.to_owned())
}

fn parse_lifetime(text: &str) -> Result<Duration, DurationFault> {
    parse_duration(text, DurationUnit::Seconds, &LIFETIME_S).map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use cellar_catalog::access::Role;
    use cellar_catalog::spreadsheet::Name;

    use super::*;

    #[test]
    fn rejects_invalid_roles_labels_and_lifetimes() {
        assert_eq!(parse_lifetime("36525d"), Ok(Duration::from_secs(*LIFETIME_S.end())));
        assert_eq!(parse_lifetime("30d"), Ok(Duration::from_secs(30 * 86_400)));
        for bad in ["0s", "soon", "", "-1d", "30", "36526d"] {
            assert!(parse_lifetime(bad).is_err(), "{bad}");
        }
        assert!("admin".parse::<Role>().is_err());
        assert!(parse_link_role("owner").is_err());
        assert!(parse_label(&"x".repeat(1_000)).is_err());
        assert!(parse_label("a\nb").is_err());
        assert!(Name::new(&"x".repeat(10_000)).is_err());
    }
}
