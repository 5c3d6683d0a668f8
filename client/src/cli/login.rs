//! The commands `cellar login` and `cellar logout`.

use std::io::{self, IsTerminal as _, Read as _};
use std::path::PathBuf;

use cellar_base::limits::MAX_TOKEN_BYTES;
use cellar_catalog::spreadsheet::LinkToken;
use serde_json::json;

use super::EXIT_SUCCESS;
use super::args;
use super::error::CliError;
use super::logins::Logins;
use super::output::Output;
use super::spreadsheet_link::SpreadsheetLink;
use crate::profile::{Profile, is_same_url, without_trailing_slashes};
use crate::text::escape;
use crate::{Client, SpreadsheetsQuery};

pub(super) async fn log_in(
    output: &Output,
    args: args::Login,
    token_option: Option<String>,
) -> Result<u8, CliError> {
    if token_option.is_some_and(|token| !token.is_empty()) {
        return Err(CliError::usage(
            "`cellar login` does not take the token from --token or CELLAR_TOKEN",
            "omit --token and unset CELLAR_TOKEN; enter the token at the prompt, or pass it on standard input",
        ));
    }
    refuse_share_link(&args.stack)?;
    let url = stack_url(&args.stack);
    // Report an invalid URL before asking for the token.
    Client::new(&url, None)?;
    let path = logins_path()?;
    let token = read_token(&url)?;
    if LinkToken::has_prefix(&token) {
        return Err(CliError::usage(
            "this is the token of a share link, which gives access to one spreadsheet only",
            "a share link needs no login: cellar use 'LINK', or cellar get -s 'LINK'",
        ));
    }
    let client = Client::new(&url, Some(&token))?;
    client.spreadsheets_page(&SpreadsheetsQuery::default().with_limit(1)).await?;
    Logins::change(&path, |logins| logins.insert(&url, &token))?;
    let author = client.author();
    output.print_json(&json!({ "stack": client.url(), "subject": author, "file": path }))?;
    let person = author.map(|author| format!(" as {}", escape(author))).unwrap_or_default();
    output.print_line(format!("logged in to {}{person}", client.url()))?;
    // The list contains only what is shared with the person, not the spreadsheets of the token.
    let next = match client.named_spreadsheets() {
        [] => "cellar list".to_owned(),
        [spreadsheet, ..] => format!("cellar use {spreadsheet}"),
    };
    output.print_note(format!("The token is saved in {}. Next: {next}", path.display()));
    print_profile_note(output, client.url())?;
    Ok(EXIT_SUCCESS)
}

/// A share link contains its own token.
fn refuse_share_link(text: &str) -> Result<(), CliError> {
    match text.parse::<SpreadsheetLink>() {
        Ok(SpreadsheetLink { secret: Some(_), .. }) => Err(CliError::usage(
            "a share link needs no login",
            "select its spreadsheet: cellar use 'LINK'; or pass the link to one command: cellar get -s 'LINK'",
        )),
        _ => Ok(()),
    }
}

/// Returns the URL of a stack. `text` may also be the URL of a spreadsheet in the stack.
fn stack_url(text: &str) -> String {
    match text.parse::<SpreadsheetLink>() {
        Ok(link) => link.url,
        Err(_) => without_trailing_slashes(text).to_owned(),
    }
}

fn logins_path() -> Result<PathBuf, CliError> {
    Logins::default_path().ok_or_else(|| {
        CliError::usage(
            "cannot locate the file of saved tokens: the home folder is unknown",
            "set HOME or XDG_CONFIG_HOME, or set CELLAR_URL and CELLAR_TOKEN instead",
        )
    })
}

/// Reads the token from a prompt without echo, or from standard input if that is not a terminal.
fn read_token(url: &str) -> Result<String, CliError> {
    let text = if io::stdin().is_terminal() {
        let terminal = console::Term::stderr();
        terminal.write_str(&format!("Token for {}: ", escape(url)))?;
        terminal.read_secure_line()?
    } else {
        read_piped_token(io::stdin().lock())?
    };
    match text.trim() {
        "" => Err(CliError::usage("no token was entered", "`synth token create` creates a token")),
        token => Ok(token.to_owned()),
    }
}

/// Reads a token from `input`. Reads at most twice the maximum length of a token, which leaves room
/// for surrounding white space. A token that is too long is rejected when it is used.
fn read_piped_token(input: impl io::Read) -> io::Result<String> {
    let max_bytes = u64::try_from(2 * MAX_TOKEN_BYTES).unwrap_or(u64::MAX);
    let mut text = String::new();
    input.take(max_bytes).read_to_string(&mut text)?;
    Ok(text)
}

/// Prints a note if a profile makes commands in the current folder ignore the login.
fn print_profile_note(output: &Output, url: &str) -> Result<(), CliError> {
    // An invalid profile is reported by the commands that need it.
    let Ok(Some((folder, profile))) = Profile::find(&std::env::current_dir()?) else {
        return Ok(());
    };
    let path = Profile::path(&folder);
    let path = path.display();
    if !is_same_url(&profile.url, url) {
        let other = escape(&profile.url);
        output.print_note(format!(
            "In this folder, {path} selects another stack, {other}. Use this one here: cellar use --url {url} NAME"
        ));
    } else if profile.token.is_some() {
        output.print_note(format!(
            "In this folder, commands use the token in {path} instead: delete it there to use yours"
        ));
    }
    Ok(())
}

pub(super) fn log_out(output: &Output, args: &args::Logout) -> Result<u8, CliError> {
    let url = args.stack.as_deref().map(stack_url);
    let path = logins_path()?;
    let removed = Logins::change(&path, |logins| logins.remove(url.as_deref()))?;
    let link_url = remove_link(url.as_deref())?;
    let is_link_removed = link_url.is_some();
    let Some(stack) = removed.clone().or(link_url) else {
        return Err(CliError::usage(
            "no token is saved for this stack",
            format!(
                "{} contains the saved tokens; name the stack: cellar logout URL",
                path.display()
            ),
        ));
    };
    output.print_json(&json!({ "stack": stack, "link_removed": is_link_removed }))?;
    if removed.is_some() {
        output.print_line(format!("logged out of {stack}"))?;
        output.print_note("The token itself stays valid until it expires.");
    }
    if is_link_removed {
        output.print_line("removed the share link of the current spreadsheet")?;
    }
    Ok(EXIT_SUCCESS)
}

/// Removes the share link that `cellar use` has saved for this folder, if it belongs to the stack at
/// `url` or if `url` is `None`. Returns the URL of its stack.
fn remove_link(url: Option<&str>) -> Result<Option<String>, CliError> {
    let Some((folder, profile)) = Profile::find(&std::env::current_dir()?)? else {
        return Ok(None);
    };
    let is_named = url.is_none_or(|url| is_same_url(&profile.url, url));
    if profile.link.is_none() || !is_named {
        return Ok(None);
    }
    Profile::update(&folder, |current| Some(Profile { link: None, ..current? }))?;
    Ok(Some(profile.url))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_of_a_spreadsheet_names_its_stack() {
        let id = "07070707-0707-0707-0707-070707070707";
        assert_eq!(stack_url(&format!("https://h/#/s/{id}")), "https://h");
        assert_eq!(stack_url(" https://h/ "), "https://h");
    }

    #[test]
    fn a_long_input_is_not_read_to_its_end() {
        let text = read_piped_token(io::repeat(b'x')).unwrap();
        assert_eq!(text.len(), 2 * MAX_TOKEN_BYTES);
        assert_eq!(read_piped_token(&b"abc\n"[..]).unwrap(), "abc\n");
        assert!(read_piped_token(&b"\xff"[..]).is_err());
    }
}
