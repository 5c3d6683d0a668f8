//! Determines a command's API URL, token and spreadsheet. Options take precedence over environment
//! variables, and environment variables over the profile.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use cellar_api::wire::Head;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_catalog::spreadsheet::LinkToken;
use cellar_sheet::operation::SheetId;

use super::args::Global;
use super::error::CliError;
use super::output::{Output, count};
use crate::editor::Editor;
use crate::files::STATE_FOLDER;
use crate::live::LiveSheet;
use crate::profile::{Profile, is_same_url};
use crate::text::escape;
use crate::{Client, RequestCosts, Spreadsheet};

const SPREADSHEET_VARIABLE: &str = "CELLAR_SPREADSHEET";

#[derive(Debug)]
pub(super) struct Context {
    overrides: Overrides,
    /// The directory whose `.cellar/` contains the local state.
    pub(super) directory: PathBuf,
    profile: Option<Profile>,
    client: OnceLock<Client>,
}

/// Values that take precedence over the profile.
#[derive(Debug)]
struct Overrides {
    spreadsheet: Option<LogId>,
    spreadsheet_variable: Option<LogId>,
    url: Option<String>,
    token: Option<Token>,
}

/// A token that `Debug` does not print.
struct Token(String);

impl std::fmt::Debug for Token {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a token")
    }
}

impl Context {
    pub(super) fn new(global: Global) -> Result<Self, CliError> {
        let variable = std::env::var(SPREADSHEET_VARIABLE).ok();
        Self::in_directory(global, variable.as_deref(), &std::env::current_dir()?)
    }

    fn in_directory(
        global: Global,
        spreadsheet_variable: Option<&str>,
        working_directory: &Path,
    ) -> Result<Self, CliError> {
        // Treat an empty option or environment variable as unset.
        let url = global.url.filter(|url| !url.is_empty());
        let token = global.token.filter(|token| !token.is_empty());
        let nearest_profile =
            Profile::for_command(working_directory, url.as_deref(), token.as_deref())?;
        let (directory, profile) = match nearest_profile {
            Some((directory, profile)) => (directory, Some(profile)),
            None => (working_directory.to_owned(), None),
        };
        let overrides = Overrides {
            spreadsheet: global.spreadsheet,
            spreadsheet_variable: match spreadsheet_variable {
                None | Some("") => None,
                Some(id) => Some(parse_spreadsheet_variable(id)?),
            },
            url,
            token: token.map(Token),
        };
        Ok(Self { overrides, directory, profile, client: OnceLock::new() })
    }

    /// Returns the profile if it belongs to the selected API URL.
    fn matching_profile(&self) -> Option<&Profile> {
        let profile = self.profile.as_ref()?;
        match &self.overrides.url {
            Some(url) if !is_same_url(&profile.url, url) => None,
            _ => Some(profile),
        }
    }

    fn url(&self) -> Result<&str, CliError> {
        if let Some(url) = &self.overrides.url {
            return Ok(url);
        }
        self.profile.as_ref().map(|profile| profile.url.as_str()).ok_or(CliError::NoUrl)
    }

    /// Returns the token from the options, the environment or the profile, in this order. The
    /// profile's token is used only for the profile's URL.
    fn token(&self) -> Option<&str> {
        if let Some(token) = &self.overrides.token {
            return Some(&token.0);
        }
        self.matching_profile()?.token.as_deref()
    }

    pub(super) fn client(&self) -> Result<Client, CliError> {
        if let Some(client) = self.client.get() {
            return Ok(client.clone());
        }
        let identity = self.matching_profile().and_then(|profile| profile.identity.as_deref());
        let client = Client::new(self.url()?, self.token())?
            .with_identity(identity)
            .with_folder(&self.directory);
        Ok(self.client.get_or_init(|| client).clone())
    }

    pub(super) fn cost(&self) -> RequestCosts {
        self.client.get().map(Client::cost).unwrap_or_default()
    }

    pub(super) fn spreadsheet(&self) -> Result<Spreadsheet, CliError> {
        let id = self.spreadsheet_id()?;
        Ok(self.client()?.spreadsheet(id))
    }

    pub(super) fn spreadsheet_option(&self) -> Option<LogId> {
        self.overrides.spreadsheet
    }

    /// The option `-s` takes precedence over the environment, the environment over a share link,
    /// and a share link over the profile.
    pub(super) fn spreadsheet_id(&self) -> Result<LogId, CliError> {
        // Report a missing URL before a missing spreadsheet.
        self.url()?;
        let shared_spreadsheet = self.share_link()?.map(|link| link.log);
        let profile_spreadsheet = self.matching_profile().and_then(|profile| profile.spreadsheet);
        self.overrides
            .spreadsheet
            .or(self.overrides.spreadsheet_variable)
            .or(shared_spreadsheet)
            .or(profile_spreadsheet)
            .ok_or(CliError::NoSpreadsheet)
    }

    fn share_link(&self) -> Result<Option<LinkToken>, CliError> {
        let Some(token) = self.token().filter(|token| LinkToken::has_prefix(token)) else {
            return Ok(None);
        };
        match token.parse::<LinkToken>() {
            Ok(link) => Ok(Some(link)),
            Err(_) => Err(CliError::usage(
                "the share link is incomplete",
                "copy it in full: cellar-link.ID.SECRET",
            )),
        }
    }

    pub(super) fn editor(&self, spreadsheet: &Spreadsheet) -> Editor {
        Editor::new(spreadsheet.clone(), &self.directory)
    }

    /// Later commands must read at this position or a later one, so that the user never sees an
    /// older state. Returns `None` if the position is unknown or its file cannot be read.
    pub(super) fn seen_position(&self, spreadsheet: &Spreadsheet) -> Option<Position> {
        self.editor(spreadsheet).seen_position().ok().flatten()
    }

    pub(super) fn has_state_folder(&self) -> bool {
        self.directory.join(STATE_FOLDER).is_dir()
    }

    /// No-op if the folder `.cellar/` does not exist. Write errors are ignored, because the next
    /// edit reports them.
    pub(super) fn record_seen(
        &self,
        spreadsheet: &Spreadsheet,
        read_at: Head,
        first_sheet: Option<SheetId>,
    ) {
        if self.has_state_folder() {
            let Head { head: position, incarnation } = read_at;
            let _ = self.editor(spreadsheet).record_seen(position, incarnation, first_sheet);
        }
    }

    pub(super) fn print_unsent_note(&self, spreadsheet: &Spreadsheet, output: &Output) {
        let command_edit_count = self.editor(spreadsheet).count_unsent_edits().unwrap_or(0);
        if command_edit_count > 0 {
            let edits = count(command_edit_count, "edit is", "edits are");
            output.print_note(format!("{edits} not sent yet; the next edit sends them first."));
        }
        let live_edit_count =
            LiveSheet::count_unsent_edits(spreadsheet.clone(), &self.directory).unwrap_or(0);
        if live_edit_count > 0 {
            let edits =
                count(live_edit_count, "edit of `cellar edit` is", "edits of `cellar edit` are");
            output.print_note(format!("{edits} not sent yet; the next `cellar edit` sends them."));
        }
    }

    /// If the profile belongs to another URL, prints a note instead of changing it.
    pub(super) fn select(&mut self, spreadsheet: LogId, output: &Output) -> Result<(), CliError> {
        let url = self.url()?.to_owned();
        let mut profile = match self.matching_profile() {
            Some(matching_profile) => matching_profile.clone(),
            None if self.profile.is_none() => Profile::new(url),
            None => {
                output.print_note(format!(
                    "{} belongs to another URL and was not changed; select the spreadsheet with -s {spreadsheet}",
                    Profile::path(&self.directory).display()
                ));
                return Ok(());
            }
        };
        profile.spreadsheet = Some(spreadsheet);
        profile.save(&self.directory)?;
        self.profile = Some(profile);
        Ok(())
    }
}

fn parse_spreadsheet_variable(id: &str) -> Result<LogId, CliError> {
    id.parse().map_err(|_| {
        CliError::usage(
            format!("{SPREADSHEET_VARIABLE} is not the id of a spreadsheet: `{}`", escape(id)),
            format!("unset {SPREADSHEET_VARIABLE}, or set it to an id that `cellar list` prints"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(byte: u8) -> LogId {
        LogId::from_uuid(uuid::Uuid::from_bytes([byte; 16]))
    }

    fn global(url: Option<&str>, token: Option<&str>, spreadsheet: Option<LogId>) -> Global {
        Global {
            spreadsheet,
            url: url.map(str::to_owned),
            token: token.map(str::to_owned),
            json: true,
            cost: false,
        }
    }

    fn profile() -> Profile {
        Profile {
            url: "http://127.0.0.1:8080".into(),
            identity: Some("local-1".into()),
            stack: None,
            token: Some("profile-token".into()),
            spreadsheet: Some(id(1)),
        }
    }

    fn context(given: Global, profile: Option<&Profile>) -> (tempfile::TempDir, Context) {
        let folder = tempfile::tempdir().unwrap();
        if let Some(profile) = profile {
            profile.save(folder.path()).unwrap();
        }
        let context = Context::in_directory(given, None, folder.path()).unwrap();
        (folder, context)
    }

    #[test]
    fn without_url_or_spreadsheet_the_error_says_so() {
        let (_folder, context) = context(global(None, None, None), None);
        assert!(matches!(context.client(), Err(CliError::NoUrl)));
        assert!(matches!(context.spreadsheet_id(), Err(CliError::NoUrl)));
        let only_url = Profile::new("http://h");
        let (_folder, context) = super::tests::context(global(None, None, None), Some(&only_url));
        assert!(matches!(context.spreadsheet_id(), Err(CliError::NoSpreadsheet)));
    }

    #[test]
    fn options_override_the_profile() {
        let (_folder, from_profile) = context(global(None, None, None), Some(&profile()));
        assert_eq!(from_profile.token(), Some("profile-token"));
        assert_eq!(from_profile.spreadsheet_id().unwrap(), id(1));
        let given = global(Some("http://127.0.0.1:8080/"), Some("given"), Some(id(2)));
        let (_folder, given) = context(given, Some(&profile()));
        assert_eq!(given.token(), Some("given"));
        assert_eq!(given.spreadsheet_id().unwrap(), id(2));
        let (_folder, empty) = context(global(Some(""), Some(""), None), Some(&profile()));
        assert_eq!(empty.token(), Some("profile-token"));
    }

    #[test]
    fn a_share_link_selects_its_spreadsheet() {
        let link =
            LinkToken { log: id(6), secret: cellar_catalog::spreadsheet::LinkSecret([1; 16]) };
        let given = |spreadsheet| {
            global(Some("http://127.0.0.1:8080"), Some(&link.to_string()), spreadsheet)
        };
        let (_folder, of_link) = context(given(None), Some(&profile()));
        assert_eq!(of_link.spreadsheet_id().unwrap(), id(6));
        let (_folder, other) = context(given(Some(id(7))), Some(&profile()));
        assert_eq!(other.spreadsheet_id().unwrap(), id(7));
    }

    #[test]
    fn the_identity_is_used_only_for_the_url_of_the_profile() {
        let identity = |url: Option<&str>, profile: &Profile| {
            let (_folder, context) = context(global(url, None, None), Some(profile));
            context.client().unwrap().identity().to_owned()
        };
        assert_eq!(identity(None, &profile()), "local-1");
        assert_eq!(identity(Some("http://127.0.0.1:8080/"), &profile()), "local-1");
        assert_eq!(identity(Some("http://127.0.0.1:8081"), &profile()), "http://127.0.0.1:8081");
        for without in [None, Some(String::new())] {
            let profile = Profile { identity: without, ..profile() };
            assert_eq!(identity(None, &profile), "http://127.0.0.1:8080");
        }
    }

    #[test]
    fn the_spreadsheet_variable_is_not_used_for_imports() {
        let folder = tempfile::tempdir().unwrap();
        profile().save(folder.path()).unwrap();
        let with = |flag, variable: &str| {
            Context::in_directory(global(None, None, flag), Some(variable), folder.path())
        };
        let variable = with(None, &id(8).to_string()).unwrap();
        assert_eq!(variable.spreadsheet_id().unwrap(), id(8));
        assert_eq!(variable.spreadsheet_option(), None);
        let both = with(Some(id(9)), &id(8).to_string()).unwrap();
        assert_eq!(both.spreadsheet_id().unwrap(), id(9));
        assert_eq!(both.spreadsheet_option(), Some(id(9)));
        assert_eq!(with(None, "").unwrap().spreadsheet_id().unwrap(), id(1));
        assert!(matches!(with(None, "x"), Err(CliError::Usage { .. })));
    }

    #[test]
    fn token_and_spreadsheet_of_the_profile_are_used_only_for_its_url() {
        let elsewhere = global(Some("https://example.com"), None, None);
        let (folder, mut context) = context(elsewhere, Some(&profile()));
        assert_eq!(context.token(), None);
        assert!(matches!(context.spreadsheet_id(), Err(CliError::NoSpreadsheet)));
        context.select(id(3), &Output::new(true)).unwrap();
        let (_, unchanged) = Profile::find(folder.path()).unwrap().unwrap();
        assert_eq!(unchanged, profile());
    }

    #[test]
    fn select_keeps_the_profile_and_never_stores_a_passed_token() {
        let given = global(Some("http://127.0.0.1:8080"), Some("given"), None);
        let (folder, mut known) = context(given, Some(&profile()));
        known.select(id(4), &Output::new(true)).unwrap();
        let (_, saved) = Profile::find(folder.path()).unwrap().unwrap();
        assert_eq!(saved, Profile { spreadsheet: Some(id(4)), ..profile() });
        assert_eq!(known.spreadsheet_id().unwrap(), id(4));

        let fresh = global(Some("http://h"), Some("given"), None);
        let (folder, mut fresh) = context(fresh, None);
        fresh.select(id(5), &Output::new(true)).unwrap();
        let (_, saved) = Profile::find(folder.path()).unwrap().unwrap();
        let expected = Profile { spreadsheet: Some(id(5)), ..Profile::new("http://h") };
        assert_eq!(saved, expected);
    }
}
