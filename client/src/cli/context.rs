//! Determines a command's API URL, token and spreadsheet. Options take precedence over environment
//! variables, environment variables over the profile, and the profile over `cellar login`.

mod links;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use cellar_api::wire::{DetailsReply, Head};
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_catalog::spreadsheet::LinkToken;
use cellar_sheet::operation::SheetId;

use links::{Token, check_same_stack, with_link};

use super::args::{Command, Global};
use super::destination::Destination;
use super::error::CliError;
use super::logins::{Login, Logins};
use super::other_stack::check_nothing_lost;
use super::output::{Output, count};
use super::reference::{SPREADSHEET_VARIABLE, SpreadsheetReference, parse_spreadsheet_variable};
use super::resolve::{NamedSpreadsheet, SearchOrder, USABLE_FIRST, find_opened, find_spreadsheet};
use super::spreadsheet_link::SpreadsheetLink;
use crate::editor::Editor;
use crate::files::STATE_FOLDER;
use crate::live::LiveSheet;
use crate::profile::{Profile, is_same_url};
use crate::{Client, RequestCosts, Spreadsheet};

#[derive(Debug)]
pub(super) struct Context {
    overrides: Overrides,
    /// The directory whose `.cellar/` contains the local state.
    pub(super) directory: PathBuf,
    profile: Option<Profile>,
    login: Option<Login>,
    /// The file of all logins.
    logins: Option<PathBuf>,
    link_use: LinkUse,
    /// The spreadsheet of the option or the environment, once it was looked up.
    found: Option<NamedSpreadsheet>,
    client: OnceLock<Client>,
}

/// Values that take precedence over the profile.
#[derive(Debug)]
struct Overrides {
    spreadsheet: Option<SpreadsheetReference>,
    spreadsheet_variable: Option<SpreadsheetReference>,
    url: Option<String>,
    token: Option<Token>,
}

/// When a command uses the share link with which the current spreadsheet was selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LinkUse {
    /// The command applies to the current spreadsheet.
    First,
    /// Only if the user has no other token.
    Last,
    /// The command applies to another spreadsheet.
    Never,
}

/// Where a command runs.
struct Surroundings<'a> {
    spreadsheet_variable: Option<&'a str>,
    working_directory: &'a Path,
    /// `None` if the user has no folder for configuration.
    logins: Option<&'a Path>,
}

impl Context {
    pub(super) fn new(global: Global, command: &Command) -> Result<Self, CliError> {
        let variable = std::env::var(SPREADSHEET_VARIABLE).ok();
        let working_directory = std::env::current_dir()?;
        let logins = Logins::default_path();
        let surroundings = Surroundings {
            spreadsheet_variable: variable.as_deref(),
            working_directory: &working_directory,
            logins: logins.as_deref(),
        };
        let argument = command.named_spreadsheet();
        let mut context = Self::in_surroundings(global, argument, &surroundings)?;
        if context.link_use == LinkUse::First && !command.uses_selected_spreadsheet() {
            context.link_use = LinkUse::Last;
        }
        Ok(context)
    }

    fn in_surroundings(
        global: Global,
        argument: Option<&SpreadsheetReference>,
        surroundings: &Surroundings<'_>,
    ) -> Result<Self, CliError> {
        let spreadsheet_variable = match surroundings.spreadsheet_variable {
            None | Some("") => None,
            Some(text) => Some(parse_spreadsheet_variable(text)?),
        };
        // Treat an empty option or environment variable as unset.
        let url = global.url.filter(|url| !url.is_empty());
        let token = global.token.filter(|token| !token.is_empty());
        let named = [argument, global.spreadsheet.as_ref(), spreadsheet_variable.as_ref()];
        let named = named.into_iter().flatten().next().cloned();
        let link = named.as_ref().and_then(SpreadsheetReference::link);
        let (url, token) = with_link(url, token, link)?;
        let token_text = token.as_ref().map(|token| token.text.as_str());
        let working_directory = surroundings.working_directory;
        let nearest_profile = Profile::for_command(working_directory, url.as_deref(), token_text)?;
        let (directory, profile) = match nearest_profile {
            Some((directory, profile)) => (directory, Some(profile)),
            None => (working_directory.to_owned(), None),
        };
        let login = match (surroundings.logins, &token) {
            // The URL of a login gets only the token of that login.
            (None, _) | (_, Some(_)) => None,
            (Some(path), None) => {
                let profile_url = profile.as_ref().map(|profile| profile.url.as_str());
                Logins::read(path)?.find(url.as_deref().or(profile_url))
            }
        };
        let link_use = match &named {
            None => LinkUse::First,
            Some(named) => {
                let current = profile.as_ref().and_then(|profile| profile.spreadsheet);
                if named.id() == current { LinkUse::Last } else { LinkUse::Never }
            }
        };
        let overrides =
            Overrides { spreadsheet: global.spreadsheet, spreadsheet_variable, url, token };
        let logins = surroundings.logins.map(Path::to_owned);
        let (found, client) = (None, OnceLock::new());
        Ok(Self { overrides, directory, profile, login, logins, link_use, found, client })
    }

    /// Returns the profile if it belongs to the selected API URL.
    fn matching_profile(&self) -> Option<&Profile> {
        let profile = self.profile.as_ref()?;
        match &self.overrides.url {
            Some(url) if !is_same_url(&profile.url, url) => None,
            _ => Some(profile),
        }
    }

    /// Returns the profile if both URL and token come from it, and it identifies the stack. A client
    /// may then follow the profile to another URL.
    pub(super) fn followed_profile(&self) -> Option<&Profile> {
        let is_overridden = self.overrides.url.is_some() || self.overrides.token.is_some();
        let profile = self.profile.as_ref().filter(|_| !is_overridden)?;
        let uses_link = self.link_use == LinkUse::First && profile.link.is_some();
        let has_both = profile.identity.is_some() && profile.token.is_some();
        (has_both && !uses_link).then_some(profile)
    }

    fn url(&self) -> Result<&str, CliError> {
        let profile_url = self.profile.as_ref().map(|profile| &profile.url);
        let login_url = self.login.as_ref().map(|login| &login.url);
        let url = self.overrides.url.as_ref().or(profile_url).or(login_url);
        url.map(String::as_str).ok_or(CliError::NoUrl)
    }

    /// Returns the token from the options, the environment, the profile or the login, in this order.
    /// The tokens of the profile and of the login are used only for their URLs.
    fn token(&self) -> Option<&str> {
        if let Some(token) = &self.overrides.token {
            return Some(&token.text);
        }
        let link = self.matching_profile().and_then(|profile| profile.link.as_deref());
        match self.link_use {
            LinkUse::First => link.or_else(|| self.own_token()),
            LinkUse::Last => self.own_token().or(link),
            LinkUse::Never => self.own_token(),
        }
    }

    fn own_token(&self) -> Option<&str> {
        let profile_token = self.matching_profile().and_then(|profile| profile.token.as_deref());
        profile_token.or(self.login.as_ref().map(|login| login.token.as_str()))
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

    pub(super) fn spreadsheet_option(&self) -> Option<&SpreadsheetReference> {
        self.overrides.spreadsheet.as_ref()
    }

    /// Looks up the spreadsheet that the option or the environment names, if the command uses it.
    /// Must be called before [`Context::spreadsheet_id`].
    pub(super) async fn look_up_selected(&mut self, command: &Command) -> Result<(), CliError> {
        if command.uses_selected_spreadsheet()
            && let Some(reference) = self.selecting_reference().cloned()
        {
            let found = match self.find_in(&reference, command.search_order()).await {
                Err(error) if error.is_offline() && matches!(command, Command::Edit(_)) => {
                    find_opened(&self.client()?, &self.directory, &reference, error)?
                }
                found => found?,
            };
            self.found = Some(found);
        }
        Ok(())
    }

    fn selecting_reference(&self) -> Option<&SpreadsheetReference> {
        let Overrides { spreadsheet, spreadsheet_variable, .. } = &self.overrides;
        spreadsheet.as_ref().or(spreadsheet_variable.as_ref())
    }

    /// Looks up a spreadsheet that an argument names.
    pub(super) async fn find(
        &self,
        reference: &SpreadsheetReference,
    ) -> Result<NamedSpreadsheet, CliError> {
        self.find_in(reference, USABLE_FIRST).await
    }

    async fn find_in(
        &self,
        reference: &SpreadsheetReference,
        order: SearchOrder,
    ) -> Result<NamedSpreadsheet, CliError> {
        match reference {
            SpreadsheetReference::Id(id) => Ok(NamedSpreadsheet { id: *id, name: None }),
            SpreadsheetReference::Link(link) => {
                check_same_stack(self.url()?, link)?;
                Ok(NamedSpreadsheet { id: link.id, name: None })
            }
            SpreadsheetReference::Text(text) => {
                find_spreadsheet(&self.client()?, text, order).await
            }
        }
    }

    /// The option `-s` takes precedence over the environment, the environment over a share link,
    /// and a share link over the profile.
    pub(super) fn spreadsheet_id(&self) -> Result<LogId, CliError> {
        // Report a missing URL before a missing spreadsheet.
        self.url()?;
        let found = self.found.as_ref().map(|found| found.id);
        let named = self.selecting_reference().and_then(SpreadsheetReference::id);
        let shared_spreadsheet = self.share_link()?.map(|link| link.log);
        let profile_spreadsheet = self.matching_profile().and_then(|profile| profile.spreadsheet);
        found
            .or(named)
            .or(shared_spreadsheet)
            .or(profile_spreadsheet)
            .ok_or(CliError::NoSpreadsheet)
    }

    /// Returns whether a command without `-s` uses this spreadsheet.
    pub(super) fn is_current(&self, id: LogId) -> bool {
        let is_overridden = self.overrides.url.is_some() || self.selecting_reference().is_some();
        !is_overridden
            || self.matching_profile().is_some_and(|profile| profile.spreadsheet == Some(id))
    }

    /// Describes the selected spreadsheet and its stack.
    pub(super) fn selected_destination(&self) -> Result<Destination, CliError> {
        let id = self.spreadsheet_id()?;
        let found_name = self.found.as_ref().and_then(|found| found.name.clone());
        self.destination(NamedSpreadsheet { id, name: found_name })
    }

    /// If the name is unknown, it is that of the profile.
    pub(super) fn destination(
        &self,
        spreadsheet: NamedSpreadsheet,
    ) -> Result<Destination, CliError> {
        let profile = self.matching_profile();
        let NamedSpreadsheet { id, name } = spreadsheet;
        let saved_name = profile
            .filter(|profile| profile.spreadsheet == Some(id))
            .and_then(|profile| profile.spreadsheet_name.clone());
        Ok(Destination {
            spreadsheet: NamedSpreadsheet { id, name: name.or(saved_name) },
            stack: profile.and_then(|profile| profile.stack.clone()),
            link: SpreadsheetLink::new(self.url()?, id),
        })
    }

    /// Updates the name in the profile if it is that of the current spreadsheet. Write errors are
    /// ignored, because the name is only for messages.
    pub(super) fn remember_name(&mut self, details: &DetailsReply) {
        let Some(profile) = self.matching_profile() else { return };
        let is_known = profile.spreadsheet_name.as_ref() == Some(&details.name);
        if profile.spreadsheet != Some(details.id) || is_known {
            return;
        }
        let renamed = Profile::update(&self.directory, |current| {
            let current = current.filter(|current| current.spreadsheet == Some(details.id))?;
            Some(Profile { spreadsheet_name: Some(details.name.clone()), ..current })
        });
        self.profile = renamed.ok().flatten().or(self.profile.take());
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
            let them = pronoun(command_edit_count);
            output.print_note(format!(
                "{edits} not sent yet; `cellar sync` or the next edit sends {them}."
            ));
        }
        let live_edit_count =
            LiveSheet::count_unsent_edits(spreadsheet.clone(), &self.directory).unwrap_or(0);
        if live_edit_count > 0 {
            let edits =
                count(live_edit_count, "edit of `cellar edit` is", "edits of `cellar edit` are");
            let them = pronoun(live_edit_count);
            output.print_note(format!(
                "{edits} not sent yet; `cellar sync` or the next `cellar edit` sends {them}."
            ));
        }
    }

    fn is_profile_of_another_url(&self) -> bool {
        self.profile.is_some() && self.matching_profile().is_none()
    }

    /// Fails if something would be lost when [`Context::leave_other_stack`] drops the profile.
    pub(super) fn check_other_stack_can_be_left(&self) -> Result<(), CliError> {
        match &self.profile {
            Some(profile) if self.is_profile_of_another_url() => {
                check_nothing_lost(&self.directory, profile, self.logins.as_deref())
            }
            _ => Ok(()),
        }
    }

    /// Lets [`Context::select`] replace a profile of another URL. Returns that URL.
    pub(super) fn leave_other_stack(&mut self) -> Option<String> {
        let is_other = self.is_profile_of_another_url();
        self.profile.take_if(|_| is_other).map(|profile| profile.url)
    }

    /// If the profile belongs to another URL, prints a note instead of changing it. The link with
    /// which the user named the spreadsheet is saved, because the selection is useless without it.
    pub(super) fn select(
        &mut self,
        spreadsheet: &NamedSpreadsheet,
        output: &Output,
    ) -> Result<(), CliError> {
        let url = self.url()?.to_owned();
        if self.is_profile_of_another_url() {
            output.print_note(format!(
                "{} belongs to another URL and was not changed; select the spreadsheet with -s '{}'",
                Profile::path(&self.directory).display(),
                SpreadsheetLink::new(&url, spreadsheet.id)
            ));
            return Ok(());
        }
        let known_profile = self.matching_profile().cloned().unwrap_or_else(|| Profile::new(url));
        self.profile = Profile::update(&self.directory, |current| {
            // A deployment may have changed the URL and the token since this command started.
            let current = current.filter(|current| current.is_of_same_stack(&known_profile));
            let mut profile = current.unwrap_or(known_profile);
            profile.link = self.link_of(spreadsheet.id, profile.link.take());
            profile.spreadsheet = Some(spreadsheet.id);
            profile.spreadsheet_name.clone_from(&spreadsheet.name);
            Some(profile)
        })?;
        Ok(())
    }

    /// Returns the share link to keep for a spreadsheet: the link that the user passed, or the
    /// saved one if the user has no other token.
    fn link_of(&self, id: LogId, saved: Option<String>) -> Option<String> {
        let passed = self.overrides.token.as_ref().filter(|token| token.is_of_link);
        let passed = passed.map(|token| token.text.clone());
        let saved = saved.filter(|_| self.own_token().is_none());
        passed.or(saved).filter(|token| is_link_of(token, id))
    }

    /// Returns the file that keeps the share link of the current spreadsheet.
    pub(super) fn link_file(&self) -> Option<PathBuf> {
        let has_link = self.matching_profile().is_some_and(|profile| profile.link.is_some());
        has_link.then(|| Profile::path(&self.directory))
    }
}

/// Returns whether the token is that of a share link of the spreadsheet.
fn is_link_of(token: &str, id: LogId) -> bool {
    token.parse::<LinkToken>().is_ok_and(|link| link.log == id)
}

fn pronoun(count: usize) -> &'static str {
    if count == 1 { "it" } else { "them" }
}

#[cfg(test)]
mod tests;
