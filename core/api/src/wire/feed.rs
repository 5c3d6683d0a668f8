//! Lists all catalog events (`GET /v1/feed`) or the caller's spreadsheets (`GET /v1/spreadsheets`).

use serde::{Deserialize, Serialize};

use super::{ChangeView, SpreadsheetStatus};
use cellar_base::identity::LogId;
use cellar_catalog::access::Role;
use cellar_catalog::feed::Span;
use cellar_catalog::{spreadsheet::ListEntry, spreadsheet::ListLine, spreadsheet::Name};

/// A page of the feed. The feed contains every event. The events of an event stream are in order
/// and without gaps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FeedReply {
    /// Generation of the feed, 16 hexadecimal digits. It changes when the feed is restored or
    /// rebuilt. Absent if the feed is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<String>,
    /// Items on the page, in feed order.
    pub items: Vec<FeedItemView>,
    /// Checkpoint after the last item. Consumers store it after they have processed the items.
    pub checkpoint: u64,
    /// Whether the page reaches the end of the feed.
    pub at_end: bool,
}

/// Events that were added to the feed together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FeedItemView {
    /// Checkpoint after this item. Consumers store it after they have processed the item.
    pub checkpoint: u64,
    /// Time at which the events were added to the feed, in milliseconds since the Unix epoch.
    pub indexed_ms: u64,
    /// Events of the item, grouped by event stream.
    pub spans: Vec<EventRange>,
}

/// Consecutive events of a single event stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EventRange {
    /// Name of the event stream. `Spreadsheet-{id}` contains the changes to the name, status,
    /// members and share links of a spreadsheet. `Log-{id}.{segment}` contains the entries of a log
    /// segment, where `{segment}` is a number of seven digits.
    pub stream: String,
    /// Index of the first event in the event stream. For a log segment, this is the number of an
    /// entry.
    pub first: u64,
    /// Kind of each event. The kinds of log entries are `Snapshot`, `Edits` and `EndSegment`. The
    /// kind is `Offloaded` if the entry was moved to S3 before it was added to the feed.
    pub kinds: Vec<String>,
    /// Payload of each event. Present if requested and if it fits into a response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<ChangeView>>,
}

impl From<Span> for EventRange {
    fn from(span: Span) -> Self {
        Self {
            stream: span.stream.to_string(),
            first: span.first,
            kinds: span.kinds.iter().map(|kind| kind.as_str().to_owned()).collect(),
            events: None,
        }
    }
}

/// A page of the spreadsheets that are shared with the caller, ordered by id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SpreadsheetsReply {
    /// Spreadsheets on the page. The list may be empty even if there are further pages.
    pub spreadsheets: Vec<SpreadsheetView>,
    /// Cursor of the next page. Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<LogId>,
}

/// A spreadsheet that is shared with the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SpreadsheetView {
    /// Spreadsheet id.
    pub id: LogId,
    /// Name of the spreadsheet, or an empty string if unnamed.
    pub name: String,
    /// The caller's role.
    pub role: Role,
    /// Status of the spreadsheet.
    pub status: SpreadsheetStatus,
    /// Time at which the spreadsheet was archived or deleted, in seconds since the Unix epoch.
    /// Absent if the spreadsheet is active.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_since_s: Option<u64>,
    /// Creation time in seconds since the Unix epoch.
    pub created_s: u64,
    /// Id of the source spreadsheet, if the spreadsheet is a fork.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<LogId>,
}

/// Filter for a spreadsheet list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListQuery {
    /// Substring of the name, ignoring case.
    pub name: Option<Name>,
    /// `true` selects spreadsheets that the caller owns, `false` selects spreadsheets that others
    /// own, and `None` selects both.
    pub mine: Option<bool>,
    /// Selects spreadsheets with this status. `None` selects active spreadsheets.
    pub status: Option<SpreadsheetStatus>,
}

impl ListQuery {
    /// Returns the spreadsheet as seen by a caller whose token limits roles to `max_role`. Returns
    /// `None` if the filter excludes it or the caller may not see it.
    #[must_use]
    pub fn view(&self, entry: &ListEntry, max_role: Role, now_s: u64) -> Option<SpreadsheetView> {
        let line = entry.line.as_ref()?;
        let role = line.role.min(max_role);
        // A deleted spreadsheet is visible only to its owners, until it is purged.
        let is_deleted = line.status.undelete_deadline_s().is_some();
        let is_hidden =
            is_deleted && (role < Role::Owner || line.status.undelete_deadline_has_passed(now_s));
        if is_hidden || !self.matches(line) {
            return None;
        }
        Some(SpreadsheetView {
            id: entry.log,
            name: line.name.to_string(),
            role,
            status: SpreadsheetStatus::from(line.status),
            status_since_s: line.status.since_s(),
            created_s: line.created_s,
            source: line.source,
        })
    }

    fn matches(&self, line: &ListLine) -> bool {
        let requested_status = self.status.unwrap_or(SpreadsheetStatus::Active);
        let is_mine = line.role == Role::Owner;
        let lowercase_name = line.name.as_str().to_lowercase();
        requested_status == SpreadsheetStatus::from(line.status)
            && self.mine.is_none_or(|mine| mine == is_mine)
            && self.name.as_ref().is_none_or(|searched_name| {
                lowercase_name.contains(&searched_name.as_str().to_lowercase())
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellar_base::limits::DELETED_KEPT_S;
    use cellar_catalog::spreadsheet::ListLine;
    use cellar_catalog::spreadsheet::Status;

    fn entry(role: Role, status: Status) -> ListEntry {
        let name = Name::new("Überblick").unwrap();
        let line = ListLine { name, role, status, created_s: 1, source: None };
        let log = LogId::from_uuid(uuid::Uuid::from_u128(1));
        ListEntry { log, version: 1, line: Some(line) }
    }

    fn sees(query: &ListQuery, entry: &ListEntry) -> bool {
        query.view(entry, Role::Owner, 10).is_some()
    }

    #[test]
    fn filters_by_name_status_and_owner() {
        let any = ListQuery::default();
        let named = |name| ListQuery { name: Some(Name::new(name).unwrap()), ..any.clone() };
        let mine = |mine| ListQuery { mine: Some(mine), ..any.clone() };
        let owned = entry(Role::Owner, Status::Active);
        let shared = entry(Role::Viewer, Status::Active);
        for (query, owned_is, shared_is) in [
            (any.clone(), true, true),
            (named("über"), true, true),
            (named("BLICK"), true, true),
            (named("budget"), false, false),
            (mine(true), true, false),
            (mine(false), false, true),
        ] {
            assert_eq!((sees(&query, &owned), sees(&query, &shared)), (owned_is, shared_is));
        }
        let state = |status| ListQuery { status: Some(status), ..any.clone() };
        let archived = entry(Role::Viewer, Status::Archived { at_s: 3 });
        assert!(!sees(&any, &archived));
        let seen = state(SpreadsheetStatus::Archived).view(&archived, Role::Owner, 10).unwrap();
        assert_eq!((seen.status, seen.status_since_s), (SpreadsheetStatus::Archived, Some(3)));
        assert!(!sees(&state(SpreadsheetStatus::Archived), &owned));
    }

    #[test]
    fn deleted_spreadsheets_are_listed_for_owners_until_purged() {
        let query = ListQuery { status: Some(SpreadsheetStatus::Deleted), ..ListQuery::default() };
        let deleted = |role| entry(role, Status::Deleted { at_s: 3 });
        let view = |role, cap, now_s| query.view(&deleted(role), cap, now_s).is_some();
        assert!(view(Role::Owner, Role::Owner, 3 + DELETED_KEPT_S - 1));
        assert!(!view(Role::Owner, Role::Owner, 3 + DELETED_KEPT_S));
        assert!(!view(Role::Editor, Role::Owner, 3));
        assert!(!view(Role::Owner, Role::Editor, 3), "the token is not an owner's");
        assert!(!sees(&query, &ListEntry { line: None, ..deleted(Role::Owner) }));
    }
}
