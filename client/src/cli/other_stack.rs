//! Lets `cellar use` move a folder from the stack of its profile to another stack.

use std::path::Path;

use super::error::CliError;
use super::logins::Logins;
use super::output::count;
use crate::files::FileError;
use crate::profile::Profile;
use crate::stack_files::StackFiles;
use crate::text::escape;

/// Fails if something would be lost without the profile in `directory`: edits that were not sent, or
/// a token that is saved nowhere else.
pub(super) fn check_nothing_lost(
    directory: &Path,
    profile: &Profile,
    logins: Option<&Path>,
) -> Result<(), CliError> {
    let url = escape(&profile.url);
    let file = Profile::path(directory);
    let file = file.display();
    let identity = profile.identity.as_deref().unwrap_or(&profile.url);
    let unsent = StackFiles::find(directory, identity)?.count_unsent_edits();
    if unsent > 0 {
        let edits = count(unsent, "edit of this folder is", "edits of this folder are");
        return Err(CliError::usage(
            format!("{edits} not sent to {url} yet; nothing was selected"),
            "send them with `cellar sync --all`, without --url; or run `cellar use` in another folder",
        ));
    }
    if is_token_kept_only_here(profile, logins)? {
        return Err(CliError::usage(
            format!("the token for {url} is kept only in {file}; nothing was selected"),
            format!(
                "save the token with `cellar login {url}` and repeat the command; if that stack is gone, delete the \
                 file; or run `cellar use` in another folder"
            ),
        ));
    }
    Ok(())
}

fn is_token_kept_only_here(profile: &Profile, logins: Option<&Path>) -> Result<bool, FileError> {
    let Some(token) = &profile.token else { return Ok(false) };
    let Some(logins) = logins else { return Ok(true) };
    let saved = Logins::read(logins)?.find(Some(&profile.url));
    Ok(saved.is_none_or(|login| login.token != *token))
}

#[cfg(test)]
mod tests {
    use cellar_base::identity::LogId;
    use cellar_base::position::Position;
    use cellar_sheet::operation::{Operation, Undo};

    use super::*;
    use crate::files::STATE_FOLDER;
    use crate::outbox::{EditPayload, Outbox, OutboxState, new_client_id};
    use crate::{Client, live};

    #[test]
    fn a_folder_with_unsent_edits_stays_with_its_stack() {
        let folder = tempfile::tempdir().unwrap();
        let profile = Profile::new("http://127.0.0.1:1");
        let client = Client::new(&profile.url, Some("mine")).unwrap();
        let spreadsheet = client.spreadsheet(LogId::from_uuid(uuid::Uuid::from_bytes([7; 16])));
        let outbox = Outbox::new(spreadsheet, &folder.path().join(STATE_FOLDER).join(live::FOLDER));
        let mut state = OutboxState::new(outbox.key(), new_client_id(), 0, Position::FIRST);
        let undo = Operation::Undo(Undo { position: Position::FIRST });
        let (payload, object) = EditPayload::encode(undo).unwrap();
        outbox.add_edit(&mut state, payload, object).unwrap();
        let refused = check_nothing_lost(folder.path(), &profile, None).unwrap_err();
        let text = refused.to_string();
        assert!(
            text.contains("1 edit of this folder is not sent to http://127.0.0.1:1 yet"),
            "{text}"
        );
        let other = Profile::new("http://127.0.0.1:2");
        assert!(check_nothing_lost(folder.path(), &other, None).is_ok());
    }

    #[test]
    fn a_token_may_be_dropped_only_if_a_login_has_saved_it() {
        let folder = tempfile::tempdir().unwrap();
        let logins = folder.path().join("cellar/tokens.json");
        let profile = Profile { token: Some("mine".into()), ..Profile::new("https://one") };
        let check = |profile: &Profile| check_nothing_lost(folder.path(), profile, Some(&logins));
        let text = check(&profile).unwrap_err().to_string();
        assert!(text.contains("https://one is kept only in") && !text.contains("mine"), "{text}");
        assert!(check_nothing_lost(folder.path(), &profile, None).is_err());
        Logins::change(&logins, |logins| logins.insert("https://one", "other")).unwrap();
        assert!(check(&profile).is_err(), "the login has another token");
        Logins::change(&logins, |logins| logins.insert("https://one/", "mine")).unwrap();
        assert!(check(&profile).is_ok());
        assert!(check_nothing_lost(folder.path(), &Profile::new("https://one"), None).is_ok());
    }
}
