//! Which API, as whom, about which spreadsheet: flags, then the environment, then the profile.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

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
use crate::profile::{Profile, same_api};
use crate::{Client, Spent, author_of_token, subject_of_token};

/// The environment variable for the spreadsheet.
const SPREADSHEET_VARIABLE: &str = "CELLAR_SPREADSHEET";

/// Everything a command needs to know about where it is.
#[derive(Debug)]
pub(super) struct Context {
    given: Given,
    /// The directory whose `.cellar/` holds the state.
    pub(super) directory: PathBuf,
    profile: Option<Profile>,
    /// The one client of the command, which knows what it cost.
    client: OnceLock<Client>,
}

/// What the command line and the environment say.
#[derive(Debug)]
struct Given {
    spreadsheet: Option<LogId>,
    spreadsheet_variable: Option<LogId>,
    url: Option<String>,
    token: Option<Token>,
}

/// A token, kept out of debug output.
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
        // An empty variable is an unset one.
        let text = |value: Option<String>| value.filter(|value| !value.is_empty());
        let (url, token) = (text(global.url), text(global.token));
        let found = Profile::for_command(working_directory, url.as_deref(), token.as_deref())?;
        let (directory, profile) = match found {
            Some((directory, profile)) => (directory, Some(profile)),
            None => (working_directory.to_owned(), None),
        };
        let given = Given {
            spreadsheet: global.spreadsheet,
            spreadsheet_variable: spreadsheet_variable
                .filter(|id| !id.is_empty())
                .map(parse_variable)
                .transpose()?,
            url,
            token: token.map(Token),
        };
        Ok(Self { given, directory, profile, client: OnceLock::new() })
    }

    /// The profile, if it is about the API that is called.
    fn profile_in_use(&self) -> Option<&Profile> {
        let given = self.given.url.as_deref();
        self.profile.as_ref().filter(|profile| given.is_none_or(|url| same_api(&profile.url, url)))
    }

    fn url(&self) -> Result<&str, CliError> {
        let given = self.given.url.as_deref();
        given.or_else(|| Some(self.profile_in_use()?.url.as_str())).ok_or(CliError::NoUrl)
    }

    /// The token: one from the profile is for the profile's API and never sent to another.
    fn token(&self) -> Option<&str> {
        let given = self.given.token.as_ref().map(|token| token.0.as_str());
        given.or_else(|| self.profile_in_use()?.token.as_deref())
    }

    pub(super) fn client(&self) -> Result<Client, CliError> {
        if let Some(client) = self.client.get() {
            return Ok(client.clone());
        }
        let identity = self.profile_in_use().and_then(|profile| profile.identity.as_deref());
        let client = Client::new(self.url()?, self.token())?.with_identity(identity);
        Ok(self.client.get_or_init(|| client).clone())
    }

    /// What the command cost so far: nothing if it has not come to call the API.
    pub(super) fn cost(&self) -> Spent {
        self.client.get().map(Client::cost).unwrap_or_default()
    }

    /// The spreadsheet to be seen and edited whether or not anybody answers.
    pub(super) async fn live(&self, spreadsheet: LogId) -> Result<LiveSheet, CliError> {
        let (client, token) = (self.client()?, self.token());
        Ok(LiveSheet::open(client, token, spreadsheet, &self.directory).await?)
    }

    /// Who the token belongs to, for state that must not be mixed up.
    pub(super) fn subject(&self) -> String {
        subject_of_token(self.token())
    }

    /// The author on the entries of whoever the token belongs to, if the token says.
    pub(super) fn author(&self) -> Option<String> {
        author_of_token(self.token())
    }

    /// The spreadsheet from `-s`, if one is given there.
    pub(super) fn given_spreadsheet(&self) -> Option<LogId> {
        self.given.spreadsheet
    }

    pub(super) fn spreadsheet(&self) -> Result<LogId, CliError> {
        // Without an API, that is what is missing first.
        self.url()?;
        let remembered = || self.profile_in_use()?.spreadsheet;
        let given = self.given.spreadsheet.or(self.given.spreadsheet_variable);
        let link = self.token().filter(|token| LinkToken::has_prefix(token));
        // A link is to one.
        let link = link.map(str::parse::<LinkToken>).transpose().map_err(|_| {
            CliError::usage(
                "the share link is incomplete",
                "copy it in full: cellar-link.ID.SECRET",
            )
        })?;
        let given = given.or(link.map(|link| link.log));
        given.or_else(remembered).ok_or(CliError::NoSpreadsheet)
    }

    pub(super) fn editor(&self, client: &Client, spreadsheet: LogId) -> Editor {
        Editor::new(client.clone(), spreadsheet, &self.subject(), &self.directory)
    }

    /// The highest position seen of a spreadsheet: reads are never older. Reading goes on
    /// without it.
    pub(super) fn seen(&self, client: &Client, spreadsheet: LogId) -> Option<Position> {
        self.editor(client, spreadsheet).seen().ok().flatten()
    }

    /// Whether there is a folder for local state.
    pub(super) fn keeps_state(&self) -> bool {
        self.directory.join(STATE_FOLDER).is_dir()
    }

    /// Remembers what was seen, where state is kept at all; a failure is left to the next edit.
    pub(super) fn saw(
        &self,
        client: &Client,
        spreadsheet: LogId,
        (position, incarnation): (Position, u32),
        first_sheet: Option<SheetId>,
    ) {
        if self.keeps_state() {
            let _ = self.editor(client, spreadsheet).saw(position, incarnation, first_sheet);
        }
    }

    /// Says that edits are kept which a reader may miss in what is shown: of single commands, and of
    /// `cellar edit`. Reading goes on where that cannot be found out.
    pub(super) fn note_unsent(&self, client: &Client, spreadsheet: LogId, output: &Output) {
        let single = self.editor(client, spreadsheet).unsent().unwrap_or(0);
        let live = LiveSheet::unsent(client.clone(), self.token(), spreadsheet, &self.directory);
        for (unsent, of, sends) in [
            (single, "", "the next edit"),
            (live.unwrap_or(0), " of `cellar edit`", "the next `cellar edit`"),
        ] {
            if unsent > 0 {
                let (are, them) = if unsent == 1 { ("is", "it") } else { ("are", "them") };
                let edits = count(unsent, "edit", "edits");
                output.note(format!("{edits}{of} {are} not sent yet: {sends} sends {them}"));
            }
        }
    }

    /// Makes a spreadsheet the current one. A profile about another API is left as it is.
    pub(super) fn remember(&mut self, spreadsheet: LogId, output: &Output) -> Result<(), CliError> {
        let url = self.url()?.to_owned();
        let profile = match (self.profile_in_use(), &self.profile) {
            (Some(profile), _) => profile.clone(),
            (None, None) => Profile::new(url),
            (None, Some(_)) => {
                output.note(format!(
                    "{} is about another API and was left as it is: give -s {spreadsheet}",
                    Profile::path(&self.directory).display()
                ));
                return Ok(());
            }
        };
        let profile = Profile { spreadsheet: Some(spreadsheet), ..profile };
        profile.save(&self.directory)?;
        self.profile = Some(profile);
        Ok(())
    }
}

fn parse_variable(id: &str) -> Result<LogId, CliError> {
    id.parse().map_err(|_| {
        CliError::usage(
            format!("{SPREADSHEET_VARIABLE} is not the id of a spreadsheet"),
            "unset it, or set it to an id such as `cellar create` prints",
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
    fn without_anything_the_error_says_how_to_begin() {
        let (_folder, context) = context(global(None, None, None), None);
        assert!(matches!(context.client(), Err(CliError::NoUrl)));
        assert!(matches!(context.spreadsheet(), Err(CliError::NoUrl)));
        let only_url = Profile::new("http://h");
        let (_folder, context) = super::tests::context(global(None, None, None), Some(&only_url));
        assert!(matches!(context.spreadsheet(), Err(CliError::NoSpreadsheet)));
    }

    #[test]
    fn what_is_given_comes_before_the_profile() {
        let (_folder, from_profile) = context(global(None, None, None), Some(&profile()));
        assert_eq!(from_profile.token(), Some("profile-token"));
        assert_eq!(from_profile.spreadsheet().unwrap(), id(1));
        let given = global(Some("http://127.0.0.1:8080/"), Some("given"), Some(id(2)));
        let (_folder, given) = context(given, Some(&profile()));
        assert_eq!(given.token(), Some("given"));
        assert_eq!(given.spreadsheet().unwrap(), id(2));
        let (_folder, empty) = context(global(Some(""), Some(""), None), Some(&profile()));
        assert_eq!(empty.token(), Some("profile-token"));
    }

    #[test]
    fn a_link_is_to_its_spreadsheet() {
        let link =
            LinkToken { log: id(6), secret: cellar_catalog::spreadsheet::LinkSecret([1; 16]) };
        let given = |spreadsheet| {
            global(Some("http://127.0.0.1:8080"), Some(&link.to_string()), spreadsheet)
        };
        let (_folder, of_link) = context(given(None), Some(&profile()));
        assert_eq!(of_link.spreadsheet().unwrap(), id(6));
        let (_folder, other) = context(given(Some(id(7))), Some(&profile()));
        assert_eq!(other.spreadsheet().unwrap(), id(7));
    }

    #[test]
    fn a_cloud_is_known_by_its_identity_only_at_the_url_of_its_profile() {
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
    fn a_spreadsheet_in_the_environment_is_for_reading_and_editing_not_for_imports() {
        let folder = tempfile::tempdir().unwrap();
        profile().save(folder.path()).unwrap();
        let with = |flag, variable: &str| {
            Context::in_directory(global(None, None, flag), Some(variable), folder.path())
        };
        let variable = with(None, &id(8).to_string()).unwrap();
        assert_eq!(variable.spreadsheet().unwrap(), id(8));
        assert_eq!(variable.given_spreadsheet(), None);
        let both = with(Some(id(9)), &id(8).to_string()).unwrap();
        assert_eq!(both.spreadsheet().unwrap(), id(9));
        assert_eq!(both.given_spreadsheet(), Some(id(9)));
        assert_eq!(with(None, "").unwrap().spreadsheet().unwrap(), id(1));
        assert!(matches!(with(None, "x"), Err(CliError::Usage { .. })));
    }

    #[test]
    fn a_profiles_token_and_spreadsheet_are_for_its_own_api() {
        let elsewhere = global(Some("https://example.com"), None, None);
        let (folder, mut context) = context(elsewhere, Some(&profile()));
        assert_eq!(context.token(), None);
        assert!(matches!(context.spreadsheet(), Err(CliError::NoSpreadsheet)));
        context.remember(id(3), &Output::new(true)).unwrap();
        let (_, unchanged) = Profile::find(folder.path()).unwrap().unwrap();
        assert_eq!(unchanged, profile());
    }

    #[test]
    fn remembering_keeps_the_profile_and_never_stores_a_given_token() {
        let given = global(Some("http://127.0.0.1:8080"), Some("given"), None);
        let (folder, mut known) = context(given, Some(&profile()));
        known.remember(id(4), &Output::new(true)).unwrap();
        let (_, saved) = Profile::find(folder.path()).unwrap().unwrap();
        assert_eq!(saved, Profile { spreadsheet: Some(id(4)), ..profile() });
        assert_eq!(known.spreadsheet().unwrap(), id(4));

        let fresh = global(Some("http://h"), Some("given"), None);
        let (folder, mut fresh) = context(fresh, None);
        fresh.remember(id(5), &Output::new(true)).unwrap();
        let (_, saved) = Profile::find(folder.path()).unwrap().unwrap();
        let expected = Profile { spreadsheet: Some(id(5)), ..Profile::new("http://h") };
        assert_eq!(saved, expected);
    }
}
