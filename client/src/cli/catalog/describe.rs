//! Formats a spreadsheet's details (name, status, members and share links) as text.

use cellar_api::wire::{ChangeView, DetailsReply, LinkView, SpreadsheetStatus};
use cellar_catalog::spreadsheet::{Member, Status};
use console::Alignment;

use crate::cli::output::{COLUMN_GAP, format_rows};
use crate::cli::spreadsheet_link::SpreadsheetLink;
use crate::text::escape;
use cellar_api::time::format_utc;

pub(super) fn format_details(
    details: &DetailsReply,
    link: &SpreadsheetLink,
    now_s: u64,
) -> Vec<String> {
    let name = match details.name.as_str() {
        "" => "(no name; set one with `cellar rename`)".to_owned(),
        name => escape(name),
    };
    let mut lines = vec![
        name,
        property_line("id", &details.id.to_string()),
        property_line("url", &link.to_string()),
        property_line("status", &describe_status(details)),
    ];
    if let Some(role) = details.role {
        lines.push(property_line("your role", &role.to_string()));
    }
    if let Some(created_s) = details.created_s {
        lines.push(property_line("created", &format_utc(created_s)));
    }
    if let Some(source) = details.source {
        lines.push(property_line("fork of", &source.to_string()));
    }
    for member in format_members(details.members.as_deref().unwrap_or_default()) {
        lines.push(property_line("shared", &member));
    }
    for link in format_links(details.links.as_deref().unwrap_or_default(), now_s) {
        lines.push(property_line("link", &link));
    }
    lines
}

fn format_members(members: &[Member]) -> Vec<String> {
    let member_columns = |member: &Member| {
        let role = format!("{:<6}", member.role.to_string());
        let issuer = format!("issuer {}", escape(&member.person.issuer));
        [escape(&member.person.subject), role, issuer]
    };
    let rows: Vec<_> = members.iter().map(member_columns).collect();
    format_rows([Alignment::Left; 3], &rows)
}

pub(super) fn format_links(links: &[LinkView], now_s: u64) -> Vec<String> {
    let link_columns = |link: &LinkView| {
        let expiry = match link.expires_s {
            None => "no expiry".to_owned(),
            Some(expires_s) if expires_s <= now_s => format!("expired {}", format_utc(expires_s)),
            Some(expires_s) => format!("until {}", format_utc(expires_s)),
        };
        let label = match link.label.as_str() {
            "" => String::new(),
            label => format!("label {}", escape(label)),
        };
        [link.id.clone(), link.role.role().to_string(), expiry, label]
    };
    let rows: Vec<_> = links.iter().map(link_columns).collect();
    format_rows([Alignment::Left; 4], &rows)
}

pub(super) fn format_changes(changes: &[ChangeView]) -> Vec<String> {
    let rows: Vec<_> = changes.iter().map(change_columns).collect();
    format_rows([Alignment::Left; 3], &rows)
}

pub(in crate::cli) fn format_change(change: &ChangeView) -> String {
    change_columns(change).join(COLUMN_GAP)
}

fn change_columns(change: &ChangeView) -> [String; 3] {
    [format_utc(change.created_s), escape(&change.by.subject), describe_change(change)]
}

fn describe_change(change: &ChangeView) -> String {
    let name = change.name.as_deref().filter(|name| !name.is_empty()).map(escape);
    let grantee = match (&change.person, &change.link) {
        (Some(person), _) => escape(&person.subject),
        (None, Some(link)) => format!("the link {}", escape(link)),
        (None, None) => String::new(),
    };
    let is_link = change.link.is_some();
    let role = change.role.map(|role| format!(": {role}")).unwrap_or_default();
    match (change.kind.as_str(), name) {
        ("Created", Some(name)) => format!("created the spreadsheet as {name}"),
        ("Created", None) => "created the spreadsheet".to_owned(),
        ("Renamed", Some(name)) => format!("renamed the spreadsheet to {name}"),
        ("Shared", _) => format!("shared the spreadsheet with {grantee}{role}"),
        ("Unshared", _) if is_link => format!("revoked {grantee}"),
        ("Unshared", _) => format!("revoked the access of {grantee}"),
        ("Archived", _) => "archived the spreadsheet".to_owned(),
        ("Unarchived", _) => "unarchived the spreadsheet".to_owned(),
        ("Deleted", _) => "deleted the spreadsheet".to_owned(),
        ("Undeleted", _) => "undeleted the spreadsheet".to_owned(),
        // A newer server may report kinds of changes that this version does not know.
        (unknown_kind, _) => escape(unknown_kind),
    }
}

fn property_line(name: &str, value: &str) -> String {
    format!("  {name:<9}{COLUMN_GAP}{value}").trim_end().to_owned()
}

pub(super) fn describe_status(details: &DetailsReply) -> String {
    let since_s = details.status_since_s;
    match details.status {
        SpreadsheetStatus::Active => "active".to_owned(),
        SpreadsheetStatus::Archived => append_time("archived", "since", since_s),
        SpreadsheetStatus::Deleted => {
            let deadline_s =
                since_s.and_then(|at_s| Status::Deleted { at_s }.undelete_deadline_s());
            append_time("deleted; owners can undelete it", "until", deadline_s)
        }
    }
}

/// Returns `text` unchanged if the time is unknown.
fn append_time(text: &str, preposition: &str, unix_s: Option<u64>) -> String {
    match unix_s {
        Some(unix_s) => format!("{text} {preposition} {}", format_utc(unix_s)),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use cellar_base::identity::LogId;
    use cellar_catalog::access::Role;
    use cellar_catalog::spreadsheet::{LinkRole, Member, Person};

    use super::*;

    fn details() -> DetailsReply {
        let member =
            |name: &str, role| Member { person: Person::new("cellar", name).unwrap(), role };
        let link = |id: &str, expires_s, label: &str| LinkView {
            id: id.to_owned(),
            role: LinkRole::Viewer,
            label: label.to_owned(),
            expires_s,
        };
        DetailsReply {
            id: LogId::from_uuid(uuid::Uuid::from_bytes([7; 16])),
            name: "Bud\u{1b}get".to_owned(),
            status: SpreadsheetStatus::Active,
            status_since_s: None,
            created_s: Some(0),
            source: None,
            version: 3,
            role: Some(Role::Owner),
            members: Some(vec![member("alice", Role::Owner), member("bo", Role::Viewer)]),
            links: Some(vec![
                link("0a", None, ""),
                link("0b", Some(9), "press"),
                link("0c", Some(11), ""),
            ]),
        }
    }

    fn link() -> SpreadsheetLink {
        SpreadsheetLink::new("http://h", details().id)
    }

    #[test]
    fn formats_details() {
        let lines = format_details(&details(), &link(), 10);
        assert!(!lines[0].contains('\u{1b}'), "{}", lines[0]);
        assert_eq!(
            lines[1..],
            [
                "  id          07070707-0707-0707-0707-070707070707",
                "  url         http://h/#/s/07070707-0707-0707-0707-070707070707",
                "  status      active",
                "  your role   owner",
                "  created     1970-01-01T00:00:00Z",
                "  shared      alice   owner    issuer cellar",
                "  shared      bo      viewer   issuer cellar",
                "  link        0a   viewer   no expiry",
                "  link        0b   viewer   expired 1970-01-01T00:00:09Z   label press",
                "  link        0c   viewer   until 1970-01-01T00:00:11Z",
            ]
        );
    }

    #[test]
    fn formats_changes() {
        let person = |name: &str| Person::new("cellar", name).unwrap();
        let change = |kind: &str| ChangeView {
            index: 0,
            created_s: 0,
            by: person("alice"),
            kind: kind.to_owned(),
            name: None,
            person: None,
            link: None,
            role: None,
        };
        let with = |name: &str, kind| ChangeView { person: Some(person(name)), ..change(kind) };
        let lines = format_changes(&[
            ChangeView {
                by: person("bo"),
                name: Some("Pl\u{1b}an".to_owned()),
                ..change("Renamed")
            },
            ChangeView { role: Some(Role::Editor), ..with("bo", "Shared") },
            with("bo", "Unshared"),
            ChangeView { link: Some("0a".to_owned()), ..change("Unshared") },
            change("Created"),
            change("Moved"),
        ]);
        let told = lines.iter().map(|line| line.trim_start_matches("1970-01-01T00:00:00Z   "));
        let told: Vec<_> = told.collect();
        assert!(
            told[0].starts_with("bo      renamed the spreadsheet to Pl")
                && !told[0].contains('\u{1b}')
        );
        assert_eq!(
            told[1..],
            [
                "alice   shared the spreadsheet with bo: editor",
                "alice   revoked the access of bo",
                "alice   revoked the link 0a",
                "alice   created the spreadsheet",
                "alice   Moved",
            ]
        );
    }

    #[test]
    fn describes_the_status_with_its_time() {
        let with = |status| DetailsReply { status, status_since_s: Some(0), ..details() };
        let archived = describe_status(&with(SpreadsheetStatus::Archived));
        assert_eq!(archived, "archived since 1970-01-01T00:00:00Z");
        let deleted = describe_status(&with(SpreadsheetStatus::Deleted));
        assert_eq!(deleted, "deleted; owners can undelete it until 1970-01-31T00:00:00Z");
        let unnamed = DetailsReply { name: String::new(), ..details() };
        assert!(format_details(&unnamed, &link(), 0)[0].contains("cellar rename"));
    }
}
