//! Advice for import errors.

use std::borrow::Cow;

use cellar_api::wire::ProblemKind;
use cellar_exchange::ReadError;

use super::{CommandAdvice, static_help};
use crate::ClientError;
use crate::import::ImportError;
use crate::text::escape;

const AS_NEW_SHEET: &str =
    "import the file as a new sheet, which can have any size: omit --sheet and --cell";
const MAX_LISTED_SHEETS: usize = 10;

impl CommandAdvice for ImportError {
    fn code(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "cellar::import::unreadable",
            Self::NotAFile { .. } => "cellar::import::no_file",
            Self::Read { .. } => "cellar::import::file",
            Self::Incomplete { .. } => "cellar::import::incomplete",
            Self::NotInFile { .. } => "cellar::import::not_in_file",
            Self::OneSheet { .. } => "cellar::import::one_sheet",
            Self::RowTooLarge { .. } => "cellar::import::row_too_large",
            Self::SheetTooLarge { .. } => "cellar::import::sheet_too_large",
            Self::TooManySheets { .. } => "cellar::import::too_many_sheets",
            Self::UnknownSheet { .. } => "cellar::import::unknown_sheet",
            Self::FileTooLarge { .. } => "cellar::import::file_too_large",
            Self::TooManyCells => "cellar::import::too_many_cells",
            Self::OutsideSheet => "cellar::import::outside_sheet",
            Self::EncodedTooLong { .. } => "cellar::import::encoded_too_long",
            Self::SheetDeleted { .. } => "cellar::import::sheet_deleted",
            Self::JournalDiffers { .. } => "cellar::import::journal_differs",
            Self::FileChanged { .. } => "cellar::import::file_changed",
            Self::File(error) => error.code(),
            Self::Interrupted { .. } => "cellar::import::interrupted",
            Self::NothingImported { .. } => "cellar::import::nothing_imported",
            Self::Uncertain { .. } => "cellar::import::uncertain",
            Self::Rejected { .. } => "cellar::import::refused",
        }
    }

    fn help(&self) -> Option<Cow<'static, str>> {
        match self {
            Self::File(error) => error.help(),
            Self::Read { source, .. } => read_error_help(source).and_then(static_help),
            Self::NotInFile { sheets, .. } => Some(Cow::Owned(list_file_sheets(sheets))),
            Self::UnknownSheet { sheets, .. } => Some(Cow::Owned(format!(
                "the spreadsheet has these sheets: {sheets}; `cellar sheets add NAME` adds a sheet"
            ))),
            Self::SheetDeleted { spreadsheet, .. } => Some(Cow::Owned(format!(
                "import the file into another sheet: --into {spreadsheet} --sheet NAME"
            ))),
            Self::FileChanged { spreadsheet } => Some(Cow::Owned(format!(
                "check with `cellar history -s {spreadsheet}` whether the import was committed; to import the \
                 current file, use --restart"
            ))),
            Self::Interrupted { was_sent: false, source, .. } => {
                static_help(nothing_sent_help(source))
            }
            Self::Interrupted { source, .. } => static_help(interrupted_help(source)),
            Self::NothingImported { source } => static_help(nothing_imported_help(source)),
            Self::Uncertain { source } => static_help(uncertain_help(source)),
            other => help_of_variant(other).and_then(static_help),
        }
    }
}

fn help_of_variant(error: &ImportError) -> Option<&'static str> {
    Some(match error {
        ImportError::Unreadable { .. } => "check the path and the permissions of the file",
        ImportError::NotAFile { .. } => {
            "write the data to a file first, then run cellar import FILE.csv"
        }
        ImportError::Incomplete { .. } => {
            "nothing was imported; omit --strict to import the file without these contents"
        }
        ImportError::OneSheet { .. } => "select one sheet with --sheets NAME",
        ImportError::RowTooLarge { .. } => "shorten the texts in the row, or split the row",
        ImportError::SheetTooLarge { .. } => "split the file and import the parts",
        ImportError::TooManySheets { .. } => {
            "import into a new spreadsheet, or select sheets with --sheets; nothing was imported"
        }
        ImportError::FileTooLarge { .. } | ImportError::TooManyCells => AS_NEW_SHEET,
        ImportError::OutsideSheet => "pass another cell with --cell",
        ImportError::EncodedTooLong { .. } => {
            "shorten the text, or remove control characters, which need six bytes each"
        }
        ImportError::JournalDiffers { .. } => {
            "another version of cellar started this import: finish it with that version, or start over \
             with --restart"
        }
        ImportError::Rejected { .. } => {
            "resolve the cause and import the sheet again; the preceding sheets were imported"
        }
        _ => return None,
    })
}

fn read_error_help(error: &ReadError) -> Option<&'static str> {
    match error {
        ReadError::Ragged { .. } => Some(
            "fill short rows with `--ragged pad`, or set the field separator with `--delimiter`",
        ),
        ReadError::NotUtf8 { .. } => Some(
            "if an older program on Windows wrote the file, pass `--encoding windows-1252`; otherwise name \
             the encoding of the file",
        ),
        ReadError::NotInEncoding { .. } => Some(
            "name the encoding of the file with `--encoding`; a byte order mark in the file takes precedence",
        ),
        _ => None,
    }
}

fn nothing_sent_help(error: &ClientError) -> &'static str {
    match error.problem_kind() {
        Some(ProblemKind::NotFound) => {
            "nothing was sent; check the id (--into or -s), and whether the token grants access to the spreadsheet"
        }
        Some(ProblemKind::Unauthorized | ProblemKind::Forbidden) => {
            "nothing was sent; run the command again with a token that grants the role editor (--url and --token)"
        }
        _ => "nothing was sent; resolve the error and run the command again",
    }
}

fn interrupted_help(error: &ClientError) -> &'static str {
    match error.problem_kind() {
        Some(ProblemKind::UnknownBase | ProblemKind::ReloadRequired | ProblemKind::MutationGap) => {
            "the spreadsheet was restored to an earlier time; check which cells were imported, then start over with --restart"
        }
        Some(ProblemKind::NotFound) => {
            "check the token and the id; if the spreadsheet was deleted, start over with --restart"
        }
        Some(ProblemKind::Unauthorized | ProblemKind::Forbidden) => {
            "run the command again with a token that grants the role editor (--url and --token) to resume the import"
        }
        _ => "run the command again to resume the import; no cell is imported twice",
    }
}

fn nothing_imported_help(error: &ClientError) -> &'static str {
    match error.problem_kind() {
        Some(ProblemKind::NotFound) => {
            "check the id (--into or -s), and whether the token grants access to the spreadsheet"
        }
        Some(ProblemKind::Unauthorized | ProblemKind::Forbidden) => {
            "run the command again with a token that grants the role editor (--url and --token)"
        }
        Some(ProblemKind::UnknownBase | ProblemKind::ReloadRequired | ProblemKind::MutationGap) => {
            "the spreadsheet was restored to an earlier time; check what was imported before, then start over with --restart"
        }
        _ => {
            "resolve the error and run the command again; uploaded objects expire after three days"
        }
    }
}

fn uncertain_help(error: &ClientError) -> &'static str {
    match error.problem_kind() {
        Some(ProblemKind::UnknownBase | ProblemKind::ReloadRequired | ProblemKind::MutationGap) => {
            "the spreadsheet was restored to an earlier time; check with `cellar history` whether the import was committed, and \
             start over with --restart if not"
        }
        Some(ProblemKind::NotFound) => {
            "check the token and the id; if the spreadsheet was deleted, start over with --restart"
        }
        _ => "run the command again to resume the import; no sheet is imported twice",
    }
}

fn list_file_sheets(sheets: &[String]) -> String {
    let mut names: Vec<String> =
        sheets.iter().take(MAX_LISTED_SHEETS).map(|name| escape(name)).collect();
    if sheets.len() > MAX_LISTED_SHEETS {
        names.push("…".to_owned());
    }
    match sheets {
        [] => "a csv file has a single sheet, which has no name; omit --sheets".to_owned(),
        _ => format!("the sheets are: {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_of_a_ragged_file_names_the_options() {
        let source = Box::new(ReadError::Ragged { line: 2, fields: 1, expected: 2 });
        let error = ImportError::Read { path: "ragged.csv".into(), source };
        assert!(error.help().unwrap().contains("--ragged pad"));
    }
}
