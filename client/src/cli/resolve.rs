//! Looks up a spreadsheet in the caller's spreadsheet list by its name or a prefix of its id.

use std::path::Path;
use std::time::{Duration, Instant};

use cellar_api::wire::{SpreadsheetStatus, SpreadsheetView};
use cellar_base::identity::LogId;
use futures_util::future::try_join_all;

use super::error::CliError;
use super::list::{display_name, format_candidates};
use super::reference::SpreadsheetReference;
use crate::live::{LiveSheet, OpenedSpreadsheet};
use crate::text::escape;
use crate::{Client, ClientError, SpreadsheetsQuery};

/// Minimum length of an id prefix, in characters. It prevents short names from matching ids by
/// accident.
pub(super) const MIN_ID_PREFIX_CHARACTERS: usize = 4;
const MAX_LISTED_CANDIDATES: usize = 10;
/// Maximum time until a new spreadsheet appears in the list.
const LIST_DELAY: Duration = Duration::from_secs(3);
const POLL_INTERVAL: Duration = Duration::from_millis(300);

/// A spreadsheet, with its name if it is known. The name may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NamedSpreadsheet {
    pub(super) id: LogId,
    pub(super) name: Option<String>,
}

/// The statuses of spreadsheets in the order in which they are searched. Each group of statuses is
/// searched only if no spreadsheet in the preceding groups matches.
pub(super) type SearchOrder = &'static [&'static [SpreadsheetStatus]];

pub(super) const USABLE_FIRST: SearchOrder =
    &[&[SpreadsheetStatus::Active, SpreadsheetStatus::Archived], &[SpreadsheetStatus::Deleted]];
pub(super) const ARCHIVED_FIRST: SearchOrder =
    &[&[SpreadsheetStatus::Archived], &[SpreadsheetStatus::Active], &[SpreadsheetStatus::Deleted]];
pub(super) const DELETED_FIRST: SearchOrder =
    &[&[SpreadsheetStatus::Deleted], &[SpreadsheetStatus::Active, SpreadsheetStatus::Archived]];

/// Finds the spreadsheet whose name is `text` or whose id starts with it. If none matches, retries
/// until a new spreadsheet would have appeared in the list.
///
/// # Errors
/// Returns an error if no spreadsheet or more than one spreadsheet matches.
pub(super) async fn find_spreadsheet(
    client: &Client,
    text: &str,
    order: SearchOrder,
) -> Result<NamedSpreadsheet, CliError> {
    let started = Instant::now();
    loop {
        let mut similar = Vec::new();
        for statuses in order {
            let spreadsheets = list_spreadsheets(client, statuses).await?;
            match matches(&spreadsheets, text).as_slice() {
                [] => similar.extend(similar_names(&spreadsheets, text)),
                [found] => {
                    return Ok(NamedSpreadsheet { id: found.id, name: Some(found.name.clone()) });
                }
                candidates => return Err(ambiguous(text, candidates)),
            }
        }
        if started.elapsed() >= LIST_DELAY {
            let is_short_id = is_too_short_for_id(text);
            return Err(CliError::UnknownSpreadsheet { text: escape(text), is_short_id, similar });
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

async fn list_spreadsheets(
    client: &Client,
    statuses: &[SpreadsheetStatus],
) -> Result<Vec<SpreadsheetView>, ClientError> {
    let lists = statuses.iter().map(|status| {
        client.spreadsheets(SpreadsheetsQuery::default().with_status(*status)).collect()
    });
    Ok(try_join_all(lists).await?.into_iter().flatten().collect())
}

/// Whether `text` may be the beginning of an id, but is too short.
fn is_too_short_for_id(text: &str) -> bool {
    text.chars().count() < MIN_ID_PREFIX_CHARACTERS
        && text.chars().all(|character| character.is_ascii_hexdigit())
}

/// Finds a spreadsheet among those that were opened with `cellar edit` in this folder.
///
/// # Errors
/// Returns an error that contains `offline` if none of them or more than one matches.
pub(super) fn find_opened(
    client: &Client,
    directory: &Path,
    reference: &SpreadsheetReference,
    offline: CliError,
) -> Result<NamedSpreadsheet, CliError> {
    let SpreadsheetReference::Text(text) = reference else { return Err(offline) };
    let opened = LiveSheet::list_opened(client, directory);
    let is_match = |opened: &&OpenedSpreadsheet| {
        matches_text(opened.name.as_deref().unwrap_or_default(), opened.id, text)
    };
    match opened.iter().filter(is_match).collect::<Vec<_>>().as_slice() {
        [OpenedSpreadsheet { id, name }] => Ok(NamedSpreadsheet { id: *id, name: name.clone() }),
        _ => Err(CliError::UnknownOffline {
            text: escape(text),
            opened: opened.iter().map(describe_opened).collect(),
            source: Box::new(offline),
        }),
    }
}

fn describe_opened(opened: &OpenedSpreadsheet) -> String {
    match &opened.name {
        Some(name) => format!("{} ({})", opened.id, escape(name)),
        None => opened.id.to_string(),
    }
}

/// Returns the spreadsheets whose name is `text` or whose id starts with it. A matching name takes
/// no precedence over a matching id. Otherwise, anyone could share a spreadsheet whose name is a
/// prefix of another spreadsheet's id and receive edits intended for that spreadsheet.
fn matches<'a>(spreadsheets: &'a [SpreadsheetView], text: &str) -> Vec<&'a SpreadsheetView> {
    spreadsheets.iter().filter(|view| matches_text(&view.name, view.id, text)).collect()
}

fn matches_text(name: &str, id: LogId, text: &str) -> bool {
    let lowercase = text.to_lowercase();
    let is_prefix = lowercase.chars().count() >= MIN_ID_PREFIX_CHARACTERS;
    name.to_lowercase() == lowercase || (is_prefix && id.to_string().starts_with(&lowercase))
}

fn similar_names(spreadsheets: &[SpreadsheetView], text: &str) -> Vec<String> {
    let lowercase = text.to_lowercase();
    let is_similar = |view: &&SpreadsheetView| {
        let name = view.name.to_lowercase();
        name.contains(&lowercase) || is_misspelling(&lowercase, &name)
    };
    let mut names: Vec<String> = spreadsheets.iter().filter(is_similar).map(display_name).collect();
    names.sort_unstable();
    names.truncate(MAX_LISTED_CANDIDATES);
    names
}

/// Returns whether few letters differ: one of up to five letters, two of more.
fn is_misspelling(text: &str, name: &str) -> bool {
    const LETTERS_WITH_ONE_ERROR: usize = 5;
    let is_short = text.chars().count() <= LETTERS_WITH_ONE_ERROR;
    let allowed = if is_short { 1 } else { 2 };
    let is_replaced = text.chars().count() <= allowed || name.chars().count() <= allowed;
    !is_replaced && strsim::osa_distance(text, name) <= allowed
}

fn ambiguous(text: &str, candidates: &[&SpreadsheetView]) -> CliError {
    let listed: Vec<&SpreadsheetView> =
        candidates.iter().copied().take(MAX_LISTED_CANDIDATES).collect();
    let mut lines = format_candidates(&listed);
    if candidates.len() > listed.len() {
        lines.push(format!("and {} more", candidates.len() - listed.len()));
    }
    CliError::usage(
        format!("{} spreadsheets match `{}`", candidates.len(), escape(text)),
        format!("pass the id of one of them, or more characters of it:\n{}", lines.join("\n")),
    )
}

#[cfg(test)]
mod tests {
    use cellar_catalog::access::Role;

    use super::*;

    fn spreadsheet(id: &str, name: &str) -> SpreadsheetView {
        SpreadsheetView {
            id: id.parse().unwrap(),
            name: name.to_owned(),
            role: Role::Owner,
            status: SpreadsheetStatus::Active,
            status_since_s: None,
            created_s: 0,
            source: None,
        }
    }

    fn listed() -> [SpreadsheetView; 4] {
        [
            spreadsheet("abcd0000-0000-0000-0000-000000000001", "Budget"),
            spreadsheet("abcd0000-0000-0000-0000-000000000002", "budget"),
            spreadsheet("abce0000-0000-0000-0000-000000000003", "Ärger"),
            spreadsheet("00000000-0000-0000-0000-000000000004", "ABCE0"),
        ]
    }

    fn found(text: &str) -> Vec<usize> {
        let listed = listed();
        let ids: Vec<LogId> = matches(&listed, text).iter().map(|view| view.id).collect();
        (1..).zip(&listed).filter(|(_, view)| ids.contains(&view.id)).map(|(at, _)| at).collect()
    }

    #[test]
    fn names_match_regardless_of_case_and_ids_by_their_beginning() {
        assert_eq!(found("äRGER"), [3]);
        assert_eq!(found("BUDGET"), [1, 2]);
        assert_eq!(found("abcd"), [1, 2]);
        assert_eq!(found("ABCD0000-0000-0000-0000-000000000002"), [2]);
        assert_eq!(found("Budge"), [0; 0]);
        assert_eq!(found("0001"), [0; 0], "the end of an id");
    }

    #[test]
    fn the_beginning_of_an_id_has_a_minimum_length() {
        let prefix = |length: usize| found("0000000000".split_at(length).0);
        assert_eq!(prefix(MIN_ID_PREFIX_CHARACTERS), [4]);
        assert_eq!(prefix(MIN_ID_PREFIX_CHARACTERS - 1), [0; 0]);
        assert!(is_too_short_for_id("0b8") && is_too_short_for_id("A"));
        assert!(!is_too_short_for_id("0b8f") && !is_too_short_for_id("Bob"));
    }

    #[test]
    fn a_name_never_hides_the_id_that_begins_like_it() {
        assert_eq!(found("abce0"), [3, 4]);
    }

    #[test]
    fn candidates_are_listed_up_to_a_maximum() {
        let error = |count: usize| {
            let views: Vec<_> = (0..count)
                .map(|number| spreadsheet(&format!("{number:032x}"), "Budget\u{1b}"))
                .collect();
            let error = ambiguous("Budget", &views.iter().collect::<Vec<_>>());
            assert_eq!(error.exit_code(), super::super::EXIT_USAGE);
            let CliError::Usage { why, advice } = error else { panic!("not refused") };
            assert!(why.contains(&format!("{count} spreadsheets match `Budget`")), "{why}");
            advice.unwrap()
        };
        let most = error(MAX_LISTED_CANDIDATES);
        assert_eq!(most.lines().count(), 1 + MAX_LISTED_CANDIDATES, "{most}");
        assert!(!most.contains('\u{1b}') && most.contains("00000000-0000-0000-0000-000000000009"));
        assert!(error(MAX_LISTED_CANDIDATES + 1).ends_with("\nand 1 more"));
    }

    #[test]
    fn similar_names_contain_the_text_and_are_sorted() {
        let mut spreadsheets = listed();
        assert_eq!(similar_names(&spreadsheets, "UDG"), ["Budget", "budget"]);
        spreadsheets.reverse();
        assert_eq!(similar_names(&spreadsheets, "UDG"), ["Budget", "budget"]);
        assert!(similar_names(&spreadsheets, "x").is_empty());
        for text in ["Budgt", "Budegt", "Bugdet", "budgets", "rbudgets"] {
            assert_eq!(similar_names(&spreadsheets, text), ["Budget", "budget"], "{text}");
        }
        assert!(similar_names(&spreadsheets, "Bdgt").is_empty(), "two of four letters");
    }
}
