use cellar_api::wire::{SpreadsheetStatus, SpreadsheetView};
use console::Alignment;
use serde_json::json;

use super::args::{self, ListStatus};
use super::context::Context;
use super::error::CliError;
use super::output::{Output, count, format_rows};
use super::time::format_utc;
use crate::SpreadsheetsQuery;
use crate::text::escape;

pub(super) async fn list_spreadsheets(
    context: &Context,
    output: &Output,
    args: args::List,
) -> Result<(), CliError> {
    let mut spreadsheets = context.client()?.spreadsheets(to_query(args)).collect().await?;
    spreadsheets.sort_by_cached_key(|view| (view.name.to_lowercase(), view.name.clone(), view.id));
    output.print_json(&json!({ "spreadsheets": spreadsheets }))?;
    output.print_lines(format_spreadsheets(&spreadsheets))?;
    output.print_note(if spreadsheets.is_empty() {
        "No spreadsheets found. Create one with: cellar create --name NAME".to_owned()
    } else {
        let spreadsheet_count = count(spreadsheets.len(), "spreadsheet", "spreadsheets");
        format!("{spreadsheet_count}. Select one with: cellar use ID")
    });
    Ok(())
}

fn to_query(args: args::List) -> SpreadsheetsQuery {
    let args::List { name, mine, shared, status } = args;
    let status = match status {
        ListStatus::Active => SpreadsheetStatus::Active,
        ListStatus::Archived => SpreadsheetStatus::Archived,
        ListStatus::Deleted => SpreadsheetStatus::Deleted,
    };
    let is_owned_by_caller = if mine || shared { Some(mine) } else { None };
    SpreadsheetsQuery {
        name,
        mine: is_owned_by_caller,
        status: Some(status),
        ..SpreadsheetsQuery::default()
    }
}

fn format_spreadsheets(spreadsheets: &[SpreadsheetView]) -> Vec<String> {
    let spreadsheet_columns = |view: &SpreadsheetView| {
        let since = view.status_since_s.map(|since_s| format!("since {}", format_utc(since_s)));
        let role = view.role.to_string();
        [view.id.to_string(), display_name(view), role, since.unwrap_or_default()]
    };
    let rows: Vec<_> = spreadsheets.iter().map(spreadsheet_columns).collect();
    format_rows([Alignment::Left; 4], &rows)
}

fn display_name(view: &SpreadsheetView) -> String {
    match view.name.as_str() {
        "" => "(no name)".to_owned(),
        name => escape(name),
    }
}

#[cfg(test)]
mod tests {
    use cellar_catalog::access::Role;

    use super::*;

    #[test]
    fn escapes_names() {
        let one = |name: &str, status_since_s| SpreadsheetView {
            id: "00000000-0000-0000-0000-000000000007".parse().unwrap(),
            name: name.to_owned(),
            role: Role::Owner,
            status: SpreadsheetStatus::Active,
            status_since_s,
            created_s: 1,
        };
        let lines = format_spreadsheets(&[one("a\u{1b}[2J", None), one("", Some(0))]);
        let id = "00000000-0000-0000-0000-000000000007";
        assert!(!lines[0].contains('\u{1b}') && lines[0].starts_with(id), "{lines:?}");
        assert!(lines[1].contains("(no name)") && lines[1].ends_with("since 1970-01-01T00:00:00Z"));
    }
}
