use cellar_api::wire::{DetailsReply, SpreadsheetStatus, SpreadsheetView};
use cellar_base::identity::LogId;
use console::Alignment;
use serde_json::json;

use super::args::{self, ListStatus};
use super::catalog::now_s;
use super::context::Context;
use super::error::CliError;
use super::output::{Output, count, format_rows, grouped};
use crate::SpreadsheetsQuery;
use crate::text::escape;
use cellar_api::time::format_utc;

pub(super) async fn list_spreadsheets(
    context: &Context,
    output: &Output,
    args: args::List,
) -> Result<(), CliError> {
    let mut spreadsheets = context.client()?.spreadsheets(to_query(&args)).collect().await?;
    if args.forks {
        spreadsheets.retain(|view| view.source.is_some());
    }
    spreadsheets.sort_by_cached_key(|view| (view.name.to_lowercase(), view.name.clone(), view.id));
    let current = context.spreadsheet_id().ok();
    output.print_json(&json!({ "spreadsheets": to_json(&spreadsheets, current) }))?;
    output.print_lines(format_spreadsheets(&spreadsheets, current))?;
    output.print_note(describe_list(spreadsheets.len(), &args));
    if let Some(note) = describe_named(context.client()?.named_spreadsheets()) {
        output.print_note(note);
    }
    let lists_all = describe_filters(&args).is_empty() && args.status == ListStatus::Active;
    let is_listed = |id| spreadsheets.iter().any(|view| view.id == id);
    if let Some(current) = current
        && lists_all
        && !output.json
        && !is_listed(current)
    {
        let current = context.client()?.spreadsheet(current);
        let note = match current.details().await {
            Ok(details) => describe_unlisted(&details, now_s()),
            Err(_) => describe_unshared(current.head_at_or_after(None).await.is_ok()).to_owned(),
        };
        output.print_note(note);
    }
    Ok(())
}

/// The list contains only what is shared with the person, not the spreadsheets of the token.
fn describe_named(spreadsheets: &[LogId]) -> Option<String> {
    let first = spreadsheets.first()?;
    let others = match spreadsheets.len() {
        1 => String::new(),
        number => format!(" and {} more", grouped(number - 1)),
    };
    Some(format!(
        "Your token is for spreadsheet {first}{others}. Select it with: cellar use {first}"
    ))
}

/// A new spreadsheet is in the list long before this time has passed.
const LISTED_AFTER_S: u64 = 60;

fn describe_unshared(is_readable: bool) -> &'static str {
    if is_readable {
        "The current spreadsheet is not in the list, because you opened it with a link: it is not shared \
         with your name."
    } else {
        "The current spreadsheet is not in the list, because you have no access to it."
    }
}

fn describe_unlisted(details: &DetailsReply, now_s: u64) -> String {
    let DetailsReply { name, status, created_s, .. } = details;
    let is_new = created_s.is_none_or(|created_s| created_s.saturating_add(LISTED_AFTER_S) > now_s);
    let name = escape(name);
    match status {
        SpreadsheetStatus::Active if is_new => {
            format!("The current spreadsheet `{name}` will be in the list after a few seconds.")
        }
        SpreadsheetStatus::Active => format!(
            "The current spreadsheet `{name}` is not in the list: your token is limited to some \
             spreadsheets, or it was shared with you in the last seconds."
        ),
        SpreadsheetStatus::Archived => format!(
            "The current spreadsheet `{name}` is archived. List those with: cellar list --status archived"
        ),
        SpreadsheetStatus::Deleted => format!(
            "The current spreadsheet `{name}` is deleted. List those with: cellar list --status deleted"
        ),
    }
}

fn to_query(args: &args::List) -> SpreadsheetsQuery {
    let is_owned_by_caller = if args.mine || args.shared { Some(args.mine) } else { None };
    SpreadsheetsQuery {
        name: args.name.clone(),
        mine: is_owned_by_caller,
        status: Some(args.status.to_wire()),
        ..SpreadsheetsQuery::default()
    }
}

impl ListStatus {
    fn to_wire(self) -> SpreadsheetStatus {
        match self {
            Self::Active => SpreadsheetStatus::Active,
            Self::Archived => SpreadsheetStatus::Archived,
            Self::Deleted => SpreadsheetStatus::Deleted,
        }
    }

    fn adjective(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Archived => "archived",
            Self::Deleted => "deleted",
        }
    }
}

/// Says which spreadsheets were listed, and what to do next.
fn describe_list(spreadsheet_count: usize, args: &args::List) -> String {
    let status = args.status.adjective();
    let filters = describe_filters(args);
    let is_filtered = !filters.is_empty() || args.status != ListStatus::Active;
    match (spreadsheet_count, args.status) {
        (0, _) if is_filtered => format!(
            "No {status} spreadsheet{filters}. All active ones: cellar list. Others: cellar list --status archived, \
             or --status deleted"
        ),
        (0, _) => "No spreadsheets found. Create one with: cellar create NAME".to_owned(),
        (_, ListStatus::Deleted) => format!(
            "{}{filters}. Recover one with: cellar undelete -s NAME",
            count(spreadsheet_count, "deleted spreadsheet", "deleted spreadsheets")
        ),
        (_, ListStatus::Active | ListStatus::Archived) => {
            let spreadsheets = if spreadsheet_count == 1 { "spreadsheet" } else { "spreadsheets" };
            let total = grouped(spreadsheet_count);
            format!("{total} {status} {spreadsheets}{filters}. Select one with: cellar use NAME")
        }
    }
}

/// Starts with a space unless it is empty.
fn describe_filters(args: &args::List) -> String {
    let mut filters = Vec::new();
    if let Some(name) = &args.name {
        filters.push(format!("whose name contains `{}`", escape(name)));
    }
    let ownership = [(args.mine, "that you own"), (args.shared, "that others own")];
    for (is_set, filter) in ownership.into_iter().chain([(args.forks, "that is a fork")]) {
        if is_set {
            filters.push(filter.to_owned());
        }
    }
    if filters.is_empty() { String::new() } else { format!(" {}", filters.join(" and ")) }
}

fn to_json(spreadsheets: &[SpreadsheetView], current: Option<LogId>) -> serde_json::Value {
    let with_mark = |view: &SpreadsheetView| {
        let mut fields = json!(view);
        if let serde_json::Value::Object(fields) = &mut fields {
            fields.insert("current".to_owned(), json!(Some(view.id) == current));
        }
        fields
    };
    spreadsheets.iter().map(with_mark).collect()
}

fn format_spreadsheets(spreadsheets: &[SpreadsheetView], current: Option<LogId>) -> Vec<String> {
    let spreadsheet_columns = |view: &SpreadsheetView| {
        let [id, name, role, created] = candidate_columns(view);
        [id, name, role, created, describe_marks(view, spreadsheets, current)]
    };
    let rows: Vec<_> = spreadsheets.iter().map(spreadsheet_columns).collect();
    format_rows([Alignment::Left; 5], &rows)
}

/// Such as `current, fork of Budget 019ab3c2-…`.
fn describe_marks(
    view: &SpreadsheetView,
    spreadsheets: &[SpreadsheetView],
    current: Option<LogId>,
) -> String {
    let mut marks = Vec::new();
    if Some(view.id) == current {
        marks.push("current".to_owned());
    }
    if let Some(source) = view.source {
        let listed_source = spreadsheets.iter().find(|listed| listed.id == source);
        let name = listed_source.map(|listed| format!("{} ", display_name(listed)));
        marks.push(format!("fork of {}{source}", name.unwrap_or_default()));
    }
    if let Some(since_s) = view.status_since_s {
        let status = match view.status {
            SpreadsheetStatus::Deleted => "deleted",
            SpreadsheetStatus::Active | SpreadsheetStatus::Archived => "archived",
        };
        marks.push(format!("{status} since {}", format_utc(since_s)));
    }
    marks.join(", ")
}

/// Formats spreadsheets among which the user must choose.
pub(super) fn format_candidates(spreadsheets: &[&SpreadsheetView]) -> Vec<String> {
    let rows: Vec<_> = spreadsheets.iter().map(|view| candidate_columns(view)).collect();
    format_rows([Alignment::Left; 4], &rows)
}

fn candidate_columns(view: &SpreadsheetView) -> [String; 4] {
    let created = format!("created {}", format_utc(view.created_s));
    [view.id.to_string(), display_name(view), view.role.to_string(), created]
}

pub(super) fn display_name(view: &SpreadsheetView) -> String {
    match view.name.as_str() {
        "" => "(no name)".to_owned(),
        name => escape(name),
    }
}

#[cfg(test)]
mod tests {
    use cellar_catalog::access::Role;

    use super::*;

    fn view(number: u128, name: &str) -> SpreadsheetView {
        SpreadsheetView {
            id: LogId::from_uuid(uuid::Uuid::from_u128(number)),
            name: name.to_owned(),
            role: Role::Owner,
            status: SpreadsheetStatus::Active,
            status_since_s: None,
            created_s: 1,
            source: None,
        }
    }

    #[test]
    fn a_line_has_name_role_date_and_marks() {
        let source = view(7, "a\u{1b}[2J");
        let fork = SpreadsheetView { source: Some(source.id), ..view(8, "b") };
        let stranger = SpreadsheetView { source: Some(view(1, "").id), ..view(9, "c") };
        let archived = SpreadsheetView {
            status: SpreadsheetStatus::Archived,
            status_since_s: Some(0),
            ..view(10, "")
        };
        let current = Some(fork.id);
        let lines = format_spreadsheets(&[source, fork, stranger, archived], current);
        let id = "00000000-0000-0000-0000-0000000000";
        let expected = [
            format!("{id}07   a\\u{{1b}}[2J   owner   created 1970-01-01T00:00:01Z"),
            format!(
                "{id}08   b            owner   created 1970-01-01T00:00:01Z   current, fork of a\\u{{1b}}[2J {id}07"
            ),
            format!("{id}09   c            owner   created 1970-01-01T00:00:01Z   fork of {id}01"),
            format!(
                "{id}0a   (no name)    owner   created 1970-01-01T00:00:01Z   archived since 1970-01-01T00:00:00Z"
            ),
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn json_marks_the_current_spreadsheet() {
        let views = [view(7, "a"), view(8, "b")];
        let json = to_json(&views, Some(views[1].id));
        assert_eq!((&json[0]["current"], &json[1]["current"]), (&json!(false), &json!(true)));
        assert_eq!(json[1]["name"], "b");
    }

    #[test]
    fn the_note_says_what_was_filtered() {
        let all = args::List {
            name: None,
            mine: false,
            shared: false,
            forks: false,
            status: ListStatus::Active,
        };
        let named = args::List { name: Some("bud".into()), mine: true, ..all };
        let deleted = args::List { status: ListStatus::Deleted, ..all.clone() };
        for (found, args, start) in [
            (0, &all, "No spreadsheets found. Create one"),
            (2, &all, "2 active spreadsheets. Select one"),
            (0, &named, "No active spreadsheet whose name contains `bud` and that you own. All"),
            (1, &named, "1 active spreadsheet whose name contains `bud` and that you own. Select"),
            (0, &deleted, "No deleted spreadsheet. All active ones"),
            (1, &deleted, "1 deleted spreadsheet. Recover one"),
        ] {
            let note = describe_list(found, args);
            assert!(note.starts_with(start), "{note}");
        }
    }

    #[test]
    fn only_a_new_spreadsheet_will_be_listed() {
        let details = DetailsReply {
            id: LogId::from_uuid(uuid::Uuid::from_u128(1)),
            name: "Budget".to_owned(),
            status: SpreadsheetStatus::Active,
            status_since_s: None,
            created_s: Some(1_000),
            source: None,
            version: 1,
            role: None,
            members: None,
            links: None,
        };
        for (now_s, is_new) in [(1_000 + LISTED_AFTER_S - 1, true), (1_000 + LISTED_AFTER_S, false)]
        {
            let note = describe_unlisted(&details, now_s);
            assert_eq!(note.contains("will be in the list"), is_new, "{note}");
            assert_eq!(note.contains("your token is limited"), !is_new, "{note}");
        }
    }
}
