//! `cellar list`

use cellar_api::{wire::SpreadsheetStatus, wire::SpreadsheetView};
use serde_json::json;

use super::args::{self, ListStatus};
use super::context::Context;
use super::error::CliError;
use super::output::{Output, count};
use super::time::utc;
use crate::table::escape;
use crate::{Client, SpreadsheetsQuery};

/// Between two columns.
const GAP: &str = "   ";

pub(super) async fn run(
    context: &Context,
    output: &Output,
    args: args::List,
) -> Result<(), CliError> {
    let mut listed = all(&context.client()?, query(args)).await?;
    listed.sort_by_cached_key(|one| (one.name.to_lowercase(), one.name.clone(), one.id));
    output.result(&json!({ "spreadsheets": listed }))?;
    for line in lines(&listed) {
        output.say(line)?;
    }
    output.note(match listed.is_empty() {
        true => "No such spreadsheet. To make one: cellar create --name NAME".to_owned(),
        false => {
            let count = count(listed.len(), "spreadsheet", "spreadsheets");
            format!("{count}. To work with one: cellar use ID")
        }
    });
    Ok(())
}

fn query(args: args::List) -> SpreadsheetsQuery {
    let args::List { name, mine, shared, status } = args;
    let status = match status {
        ListStatus::Active => SpreadsheetStatus::Active,
        ListStatus::Archived => SpreadsheetStatus::Archived,
        ListStatus::Deleted => SpreadsheetStatus::Deleted,
    };
    let mine = (mine || shared).then_some(mine);
    SpreadsheetsQuery { name, mine, status: Some(status), ..SpreadsheetsQuery::default() }
}

/// All pages.
async fn all(
    client: &Client,
    mut query: SpreadsheetsQuery,
) -> Result<Vec<SpreadsheetView>, CliError> {
    let mut listed = Vec::new();
    loop {
        let page = client.spreadsheets(&query).await?;
        listed.extend(page.spreadsheets);
        // A page that does not go on would be asked for again for ever.
        let next = page.next.filter(|next| query.cursor.is_none_or(|after| *next > after));
        if next.is_none() {
            return Ok(listed);
        }
        query.cursor = next;
    }
}

fn lines(listed: &[SpreadsheetView]) -> Vec<String> {
    let name = |one: &SpreadsheetView| match one.name.as_str() {
        "" => "(no name)".to_owned(),
        name => escape(name),
    };
    let width = listed.iter().map(|one| name(one).chars().count()).max().unwrap_or(0);
    let line = |one: &SpreadsheetView| {
        let since = one.status_since_s.map(|since_s| format!("{GAP}since {}", utc(since_s)));
        let (name, role) = (name(one), one.role.to_string());
        format!("{}{GAP}{name:<width$}{GAP}{role:<6}{}", one.id, since.unwrap_or_default())
    };
    listed.iter().map(|one| line(one).trim_end().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use cellar_catalog::access::Role;

    use super::*;

    #[test]
    fn names_are_shown_whatever_is_in_them() {
        let one = |name: &str, status_since_s| SpreadsheetView {
            id: "00000000-0000-0000-0000-000000000007".parse().unwrap(),
            name: name.to_owned(),
            role: Role::Owner,
            status: SpreadsheetStatus::Active,
            status_since_s,
            created_s: 1,
        };
        let lines = lines(&[one("a\u{1b}[2J", None), one("", Some(0))]);
        let id = "00000000-0000-0000-0000-000000000007";
        assert!(!lines[0].contains('\u{1b}') && lines[0].starts_with(id), "{lines:?}");
        assert!(lines[1].contains("(no name)") && lines[1].ends_with("since 1970-01-01 00:00:00Z"));
    }
}
