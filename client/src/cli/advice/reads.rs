//! Advice for errors when reading, exporting or replaying.

use std::borrow::Cow;

use super::{CommandAdvice, static_help};
use crate::export::ExportError;
use crate::reader::ReaderError;
use crate::replay::ReplayError;

impl CommandAdvice for ReaderError {
    fn code(&self) -> &'static str {
        match self {
            Self::Client(error) => error.code(),
            Self::Missing { .. } => "cellar::object_missing",
            Self::Damaged { .. } => "cellar::object_damaged",
            Self::LargeEntry { .. } => "cellar::large_entry_missing",
            Self::Changing { .. } => "cellar::changing",
            Self::Incomplete { .. } => "cellar::incomplete",
        }
    }

    fn help(&self) -> Option<Cow<'static, str>> {
        match self {
            Self::Client(error) => error.help(),
            Self::Missing { log, .. } | Self::Damaged { log, .. } => Some(Cow::Owned(format!(
                "rebuild the snapshots from the log, which is complete, with `synth reprocess --rebuild \
                 --spreadsheet {log}`"
            ))),
            Self::LargeEntry { .. } => static_help(
                "run the command again; if the error persists, the object was deleted from the bucket",
            ),
            Self::Changing { .. } | Self::Incomplete { .. } => static_help("run the command again"),
        }
    }
}

impl CommandAdvice for ExportError {
    fn code(&self) -> &'static str {
        match self {
            Self::Client(error) => error.code(),
            Self::Reader(error) => error.code(),
            Self::Exists { .. } => "cellar::export::exists",
            Self::Unwritable { .. } => "cellar::export::unwritable",
            Self::TooManyBlankFields { .. } => "cellar::export::too_wide",
            Self::Format { .. } => "cellar::export::format",
            Self::Pages { .. } => "cellar::export::pages",
        }
    }

    fn help(&self) -> Option<Cow<'static, str>> {
        match self {
            Self::Client(error) => error.help(),
            Self::Reader(error) => error.help(),
            Self::Exists { .. } => static_help("replace it with --force"),
            Self::Unwritable { .. } => {
                static_help("check the permissions of the folder and the free space of the disk")
            }
            Self::TooManyBlankFields { .. } => static_help(
                "clear cells that are far from the others, or export to .xlsx, which does not store blank cells",
            ),
            Self::Format { .. } | Self::Pages { .. } => None,
        }
    }
}

impl CommandAdvice for ReplayError {
    fn code(&self) -> &'static str {
        match self {
            Self::Client(error) => error.code(),
            Self::NotAFork { .. } => "cellar::replay::not_a_fork",
            Self::Onto { .. } => "cellar::replay::onto",
            Self::TooLarge { .. } => "cellar::replay::too_large",
            Self::NotUnderstood { .. } => "cellar::replay::not_understood",
        }
    }

    fn help(&self) -> Option<Cow<'static, str>> {
        static_help(match self {
            Self::Client(error) => return error.help(),
            Self::NotAFork { .. } => "`cellar forks -s ID` lists the forks of a spreadsheet",
            Self::Onto { .. } => {
                "pass a position in this range; `cellar history -s SOURCE` lists the positions of the source"
            }
            Self::TooLarge { .. } => {
                "export the fork and import the file instead: cellar export FILE.xlsx"
            }
            Self::NotUnderstood { .. } => {
                "check that client and server have the same version, then run the command again with the same --onto to \
                 resume"
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use cellar_api::wire::ProblemKind;
    use cellar_base::identity::LogId;

    use super::*;

    #[test]
    fn the_help_of_a_lost_object_names_the_command_that_rebuilds_it() {
        let log = LogId::from_uuid(uuid::Uuid::from_bytes([7; 16]));
        let key = format!("sheets/{log}/chunks/ab");
        let missing = ReaderError::Missing { log, key: key.clone() };
        let damaged = ReaderError::Damaged { log, key, why: "a bit".into() };
        for error in [missing, damaged] {
            let help = error.help().unwrap();
            assert!(help.contains(&format!("--rebuild --spreadsheet {log}`")), "{help}");
        }
        let unknown =
            ReaderError::from_problem(ProblemKind::SheetNotFound, "sheet `x` does not exist");
        assert!(unknown.help().unwrap().contains("cellar sheets"));
    }
}
