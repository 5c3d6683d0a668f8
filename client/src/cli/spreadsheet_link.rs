//! The URL of a spreadsheet, such as `https://example.com/#/s/ID`. The URL of a share link also
//! contains the secret: `https://example.com/#/s/ID?link=SECRET`. Id and secret are in the
//! fragment, which browsers do not send to the server.

use std::fmt;
use std::str::FromStr;

use cellar_base::identity::LogId;
use cellar_catalog::spreadsheet::{LinkSecret, LinkToken};

use crate::profile::without_trailing_slashes;

const ROUTE: &str = "/s/";
const SECRET_KEY: &str = "link=";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SpreadsheetLink {
    /// URL of the API, without a trailing slash.
    pub(super) url: String,
    pub(super) id: LogId,
    pub(super) secret: Option<LinkSecret>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadSpreadsheetLink {
    #[error(
        "the URL names no spreadsheet: it must look like https://HOST/#/s/ID. Put it in quotes, so that the shell \
         does not change it"
    )]
    NoSpreadsheet,
    #[error("the share link is incomplete; copy it in full: https://HOST/#/s/ID?link=SECRET")]
    Incomplete,
}

impl SpreadsheetLink {
    pub(super) fn new(url: &str, id: LogId) -> Self {
        Self { url: without_trailing_slashes(url).to_owned(), id, secret: None }
    }

    pub(super) fn of_share_link(url: &str, token: &LinkToken) -> Self {
        Self { secret: Some(token.secret), ..Self::new(url, token.log) }
    }

    /// Returns the bearer token of a share link.
    pub(super) fn token(&self) -> Option<String> {
        let secret = self.secret?;
        Some(LinkToken { log: self.id, secret }.to_string())
    }

    pub(super) fn is_url(text: &str) -> bool {
        text.starts_with("http://") || text.starts_with("https://")
    }
}

impl FromStr for SpreadsheetLink {
    type Err = BadSpreadsheetLink;

    fn from_str(text: &str) -> Result<Self, BadSpreadsheetLink> {
        let (url, fragment) = text.split_once('#').ok_or(BadSpreadsheetLink::NoSpreadsheet)?;
        let route = fragment.strip_prefix(ROUTE).ok_or(BadSpreadsheetLink::NoSpreadsheet)?;
        let (id, query) = match route.split_once('?') {
            Some((id, query)) => (id, Some(query)),
            None => (route, None),
        };
        let id = id.parse().map_err(|_| BadSpreadsheetLink::NoSpreadsheet)?;
        let link = Self::new(url, id);
        let Some(query) = query else { return Ok(link) };
        let secret = query.strip_prefix(SECRET_KEY).ok_or(BadSpreadsheetLink::Incomplete)?;
        let secret = secret.parse().map_err(|_| BadSpreadsheetLink::Incomplete)?;
        Ok(Self { secret: Some(secret), ..link })
    }
}

impl fmt::Display for SpreadsheetLink {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/#{ROUTE}{}", self.url, self.id)?;
        match self.secret {
            Some(secret) => write!(formatter, "?{SECRET_KEY}{secret}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id() -> LogId {
        LogId::from_uuid(uuid::Uuid::from_bytes([7; 16]))
    }

    #[test]
    fn links_round_trip() {
        let plain = SpreadsheetLink::new("https://example.com/", id());
        let token = LinkToken { log: id(), secret: LinkSecret([0xfb; 16]) };
        let shared = SpreadsheetLink::of_share_link("http://127.0.0.1:8480", &token);
        assert_eq!(
            plain.to_string(),
            "https://example.com/#/s/07070707-0707-0707-0707-070707070707"
        );
        for link in [&plain, &shared] {
            assert_eq!(link.to_string().parse().as_ref(), Ok(link));
        }
        assert_eq!((plain.token(), shared.token()), (None, Some(token.to_string())));
        let without_slash = format!("https://example.com#/s/{}", id());
        assert_eq!(without_slash.parse(), Ok(plain));
        assert!(!format!("{shared:?}").contains(&token.secret.to_string()));
    }

    #[test]
    fn other_urls_are_refused() {
        for text in ["https://example.com", "https://example.com/#/", "https://example.com/#/s/7"] {
            assert_eq!(text.parse::<SpreadsheetLink>(), Err(BadSpreadsheetLink::NoSpreadsheet));
        }
        for query in ["", "link=", "link=abc", "at=0.4"] {
            let text = format!("https://example.com/#/s/{}?{query}", id());
            let refused = text.parse::<SpreadsheetLink>();
            assert_eq!(refused, Err(BadSpreadsheetLink::Incomplete), "{query}");
        }
    }
}
