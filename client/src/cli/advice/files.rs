//! Advice for errors of local files.

use std::borrow::Cow;

use super::{CommandAdvice, static_help};
use crate::files::{FileError, StateFile};
use crate::profile::ProfileError;

impl CommandAdvice for FileError {
    fn code(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "cellar::file_unreadable",
            Self::Unwritable { .. } => "cellar::file_unwritable",
            Self::Malformed { .. } | Self::OtherVersion { .. } => "cellar::file_malformed",
            Self::Foreign { .. } => "cellar::file_foreign",
            Self::InUse { .. } => "cellar::file_locked",
        }
    }

    fn help(&self) -> Option<Cow<'static, str>> {
        static_help(match self {
            Self::Unreadable { .. } => "check the permissions of the file",
            Self::Unwritable { .. } => {
                "check the permissions of the folder and the free space of the disk"
            }
            Self::Malformed { contents, .. } => {
                return malformed_file_help(*contents).and_then(static_help);
            }
            Self::OtherVersion { .. } => "use the version of cellar that wrote the file",
            Self::Foreign { .. } => {
                "if you trust the file, change its owner and mode (chown, chmod go-w); otherwise use another \
                 folder, or pass --url and --token"
            }
            Self::InUse { .. } => "wait for the other command to finish, then run this one again",
        })
    }
}

fn malformed_file_help(contents: StateFile) -> Option<&'static str> {
    Some(match contents {
        StateFile::Profile => {
            "correct or delete the file; `cargo run -p synth -- deploy` (or \
             `deploy --local`) writes a new one"
        }
        StateFile::Logins => "delete the file, then log in again with `cellar login URL`",
        StateFile::UnsentEdits => {
            "the file contains edits that may not have been sent: check it, then move it elsewhere"
        }
        StateFile::UnsentLargeEdit => {
            "the file contains an edit that may not have been sent: restore its contents, or move \
             it and the .json file next to it elsewhere"
        }
        StateFile::FeedCheckpoint => {
            "the file is not a checkpoint of a feed; delete it to read the feed from its beginning"
        }
        StateFile::EditImport => {
            "start the import over with --restart; cells that are already imported are kept"
        }
        StateFile::SheetImport => {
            "start the import over with --restart; sheets that are already imported are kept"
        }
        StateFile::Other => return None,
    })
}

impl CommandAdvice for ProfileError {
    fn code(&self) -> &'static str {
        match self {
            Self::File(error) => error.code(),
            Self::TokenWithoutUrl { .. } => "cellar::token_without_url",
        }
    }

    fn help(&self) -> Option<Cow<'static, str>> {
        match self {
            Self::File(error) => error.help(),
            Self::TokenWithoutUrl { url, .. } => Some(Cow::Owned(format!(
                "if you trust this URL, pass it together with the token: --url {url} (or CELLAR_URL); to use the \
                 token of the profile, omit --token and unset CELLAR_TOKEN"
            ))),
        }
    }
}
