//! Tokens of commands, and links that name their spreadsheets. A token is not sent to the URL of a link
//! that may come from untrusted people.

use crate::cli::error::CliError;
use crate::cli::spreadsheet_link::SpreadsheetLink;
use crate::profile::is_same_url;
use crate::text::escape;

/// A token that `Debug` does not print.
pub(super) struct Token {
    pub(super) text: String,
    /// Whether the token is that of a share link whose URL the user passed.
    pub(super) is_of_link: bool,
}

impl std::fmt::Debug for Token {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a token")
    }
}

/// Returns the URL and token of a command whose spreadsheet is named by `link`. A token that the
/// user passed is sent to the URL of a link only if the user passed this URL as well, because links
/// may come from untrusted people.
pub(super) fn with_link(
    url: Option<String>,
    token: Option<String>,
    link: Option<&SpreadsheetLink>,
) -> Result<(Option<String>, Option<Token>), CliError> {
    let is_of_link = false;
    if token.as_deref().is_some_and(SpreadsheetLink::is_url) {
        return Err(CliError::usage(
            "the token is a URL",
            "name the spreadsheet with it: -s URL; a token comes from `synth token create`",
        ));
    }
    let Some(link) = link else { return Ok((url, token.map(|text| Token { text, is_of_link }))) };
    match &url {
        Some(url) => check_same_stack(url, link)?,
        None if token.is_some() => {
            return Err(CliError::usage(
                format!("refused to send the token to {}, the URL of the link", escape(&link.url)),
                "pass the URL together with the token (--url or CELLAR_URL), or omit --token and unset CELLAR_TOKEN",
            ));
        }
        None => {}
    }
    let link_token = link.token().map(|text| Token { text, is_of_link: true });
    let token = token.map(|text| Token { text, is_of_link }).or(link_token);
    Ok((url.or_else(|| Some(link.url.clone())), token))
}

pub(super) fn check_same_stack(url: &str, link: &SpreadsheetLink) -> Result<(), CliError> {
    if is_same_url(url, &link.url) {
        return Ok(());
    }
    Err(CliError::usage(
        format!("the link belongs to {}, but the command uses {}", escape(&link.url), escape(url)),
        "omit --url and unset CELLAR_URL, or name a spreadsheet of that stack",
    ))
}
