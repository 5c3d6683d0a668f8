//! `/v1/feed` and the list of `/v1/spreadsheets` (design `6-catalog-feed.md` §2-3).

use serde::{Deserialize, Serialize};

use super::{ChangeView, SpreadsheetStatus};
use cellar_base::identity::LogId;
use cellar_catalog::access::Role;
use cellar_catalog::feed::Span;
use cellar_catalog::{spreadsheet::ListEntry, spreadsheet::Name};

/// Some of the feed: what was appended to the stack's streams, in an order in which each stream's events
/// follow each other without a gap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FeedReply {
    /// Which feed it is: 16 hexadecimal digits. A stack has another one after a restore or a rebuild; absent
    /// as long as nothing was indexed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<String>,
    /// What was appended.
    pub items: Vec<FeedItemView>,
    /// The checkpoint behind all of them: ask for what is after it.
    pub checkpoint: u64,
    /// Whether there was nothing more.
    pub at_end: bool,
}

/// What one batch appended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FeedItemView {
    /// The checkpoint behind it: keep it once it is handled.
    pub checkpoint: u64,
    /// When it was indexed, Unix milliseconds.
    pub indexed_ms: u64,
    /// The events, by stream.
    pub spans: Vec<EventRange>,
}

/// Events of one stream that follow each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EventRange {
    /// The stream: `Spreadsheet-` and an id; or, if the entries of logs are in the feed, `Log-`, an id, a dot
    /// and the number of a log segment, with seven digits.
    pub stream: String,
    /// Index of the first of them; of a log segment the number of the entry.
    pub first: u64,
    /// The kind of each: of entries `Snapshot`, `Edits`, `EndSegment`, or `Archived` for those that were moved
    /// into an archive before they were indexed.
    pub kinds: Vec<String>,
    /// What each says, if that was asked for and is not too much for one reply.
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

/// Some of the spreadsheets that are shared with whoever asks, in the order of their ids.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SpreadsheetsReply {
    /// The spreadsheets: none of a page may be what was asked for.
    pub spreadsheets: Vec<SpreadsheetView>,
    /// Ask for those after this one, if there are more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<LogId>,
}

/// A spreadsheet in somebody's list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SpreadsheetView {
    /// The spreadsheet.
    pub id: LogId,
    /// What it is called; empty if it was never given a name.
    pub name: String,
    /// What they may do with it.
    pub role: Role,
    /// Whether it is in use.
    pub status: SpreadsheetStatus,
    /// Since when it is archived or deleted, Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_since_s: Option<u64>,
    /// When it was listed, Unix seconds.
    pub created_s: u64,
}

/// Which spreadsheets of a list are asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListQuery {
    /// Those whose name has this in it, whatever the case.
    pub name: Option<Name>,
    /// Those of which they are an owner, or those of which they are not.
    pub mine: Option<bool>,
    /// Those in this state; without it those in use.
    pub status: Option<SpreadsheetStatus>,
}

impl ListQuery {
    /// What a list says of a spreadsheet to somebody whose token allows at most `cap`; `None` if it is not
    /// asked for, or cannot be seen.
    #[must_use]
    pub fn view(&self, entry: &ListEntry, cap: Role, now_s: u64) -> Option<SpreadsheetView> {
        let line = entry.line.as_ref()?;
        let role = line.role.min(cap);
        if line.status.kept_until_s().is_some_and(|until_s| role < Role::Owner || until_s <= now_s)
        {
            return None;
        }
        let status = SpreadsheetStatus::from(line.status);
        let is_mine = line.role == Role::Owner;
        let named =
            |name: &Name| line.name.as_str().to_lowercase().contains(&name.as_str().to_lowercase());
        let is_asked_for = self.status.unwrap_or(SpreadsheetStatus::Active) == status
            && self.mine.is_none_or(|mine| mine == is_mine)
            && self.name.as_ref().is_none_or(named);
        is_asked_for.then(|| SpreadsheetView {
            id: entry.log,
            name: line.name.to_string(),
            role,
            status,
            status_since_s: line.status.since_s(),
            created_s: line.created_s,
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
        let line = ListLine { name, role, status, created_s: 1 };
        let log = LogId::from_uuid(uuid::Uuid::from_u128(1));
        ListEntry { log, version: 1, line: Some(line) }
    }

    fn sees(query: &ListQuery, entry: &ListEntry) -> bool {
        query.view(entry, Role::Owner, 10).is_some()
    }

    #[test]
    fn lists_are_asked_by_name_state_and_owner() {
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
    fn what_is_deleted_is_listed_for_owners_until_it_is_gone() {
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
