//! `…/spreadsheets/{id}/details`, `…/members` and `…/links`: what the catalog says of a spreadsheet
//! (design `6-catalog-feed.md` §2).

use serde::{Deserialize, Serialize};

use cellar_base::identity::LogId;
use cellar_catalog::access::Role;
use cellar_catalog::stream::Dated;
use cellar_catalog::{
    spreadsheet::CatalogEvent, spreadsheet::Grantee, spreadsheet::Link, spreadsheet::LinkRole,
    spreadsheet::Listing, spreadsheet::Member, spreadsheet::Person, spreadsheet::Recipient,
    spreadsheet::Status,
};

/// What the catalog says of a spreadsheet, as far as whoever asks may know it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DetailsReply {
    /// The spreadsheet.
    pub id: LogId,
    /// What it is called; empty if it was never given a name.
    pub name: String,
    /// Whether it is in use.
    pub status: SpreadsheetStatus,
    /// Since when it is archived or deleted, Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_since_s: Option<u64>,
    /// When it was listed, Unix seconds; absent for what is not in the catalog.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_s: Option<u64>,
    /// What it is a fork of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<LogId>,
    /// How many changes of it there were: also the `ETag`, for `If-Match`. 0 for what is not in the
    /// catalog.
    pub version: u64,
    /// What whoever asks may do with it; absent if nothing any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// With whom it is shared; for editors and owners, but not for holders of a link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub members: Option<Vec<Member>>,
    /// Its links; for owners.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<Vec<LinkView>>,
}

/// Whether a spreadsheet is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum SpreadsheetStatus {
    /// It is.
    Active,
    /// It can be read and not changed.
    Archived,
    /// Owners can restore it for 30 days; nothing else can be done with it.
    Deleted,
}

/// A link as owners see it: its secret is not stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LinkView {
    /// What it is called by: 16 hexadecimal digits.
    pub id: String,
    /// What it allows.
    pub role: LinkRole,
    /// What it is for.
    pub label: String,
    /// When it ends or has ended, Unix seconds; absent if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_s: Option<u64>,
}

/// What is to be different in a spreadsheet's details; what is absent stays.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UpdateDetailsRequest {
    /// What it is called: one line of 1 to 256 bytes; for editors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// `archived`, `deleted`, or `active` to restore it; for owners.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<SpreadsheetStatus>,
}

/// A person, as identified by the tokens of an issuer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema, utoipa::IntoParams))]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
pub struct PersonRequest {
    /// The subject of their tokens.
    pub subject: String,
    /// The issuer of their tokens; without it that of the token of whoever asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
}

/// Share a spreadsheet with somebody, or change what they may do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ShareRequest {
    /// The subject of their tokens.
    pub subject: String,
    /// The issuer of their tokens; without it that of the token of whoever asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// What they may do.
    pub role: Role,
}

/// Make a link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LinkRequest {
    /// 16 random bytes in base64url without padding, made by the client: repeating the request finds
    /// the same link. Only its hash is stored.
    pub secret: String,
    /// What it allows.
    pub role: LinkRole,
    /// What it is for, one line of at most 128 bytes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// When it ends, Unix seconds; without it, it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_s: Option<u64>,
}

/// A link that there is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LinkReply {
    /// What it is called by: 16 hexadecimal digits.
    pub id: String,
    /// What its holders send in the place of a token.
    pub token: String,
}

/// What was done to a spreadsheet's details, the newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChangesReply {
    /// The changes.
    pub changes: Vec<ChangeView>,
    /// Ask for those below this number, if there are more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// One change of a spreadsheet's details.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChangeView {
    /// The how manieth it was, from 0.
    pub index: u64,
    /// When, Unix seconds.
    pub created_s: u64,
    /// Who did it.
    pub by: Person,
    /// What: `Created`, `Renamed`, `Shared`, `Unshared`, `Archived`,
    /// `Unarchived`, `Deleted`, `Undeleted` or `Purged`.
    pub kind: String,
    /// What it was called then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// With whom it was shared, or was not any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<Person>,
    /// What the link is called by that was made or ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// What that person, or whoever has that link, may do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
}

impl From<Dated<CatalogEvent>> for ChangeView {
    fn from(dated: Dated<CatalogEvent>) -> Self {
        let Dated { index, time_ms, event } = dated;
        let (kind, by) = (event.kind().to_owned(), event.by().clone());
        let nothing = Self {
            index,
            created_s: time_ms / 1_000,
            by,
            kind,
            name: None,
            person: None,
            link: None,
            role: None,
        };
        match event {
            CatalogEvent::Created { name, .. } | CatalogEvent::Renamed { name, .. } => {
                Self { name: Some(name.to_string()), ..nothing }
            }
            CatalogEvent::Shared { with: Grantee::Member(Member { person, role }), .. } => {
                Self { person: Some(person), role: Some(role), ..nothing }
            }
            CatalogEvent::Shared { with: Grantee::Link(Link { hash, role, .. }), .. } => {
                Self { link: Some(hash.id().to_string()), role: Some(role.role()), ..nothing }
            }
            CatalogEvent::Unshared { from: Recipient::Member(person), .. } => {
                Self { person: Some(person), ..nothing }
            }
            CatalogEvent::Unshared { from: Recipient::Link(hash), .. } => {
                Self { link: Some(hash.id().to_string()), ..nothing }
            }
            CatalogEvent::Archived { .. }
            | CatalogEvent::Unarchived { .. }
            | CatalogEvent::Undeleted { .. }
            | CatalogEvent::Deleted { .. }
            | CatalogEvent::Purged { .. } => nothing,
        }
    }
}

impl From<Status> for SpreadsheetStatus {
    fn from(status: Status) -> Self {
        match status {
            Status::Active => Self::Active,
            Status::Archived { .. } => Self::Archived,
            Status::Deleted { .. } | Status::Purged { .. } => Self::Deleted,
        }
    }
}

impl From<&Link> for LinkView {
    fn from(link: &Link) -> Self {
        let Link { hash, role, label, expires_s } = link;
        Self { id: hash.id().to_string(), role: *role, label: label.clone(), expires_s: *expires_s }
    }
}

impl DetailsReply {
    /// Its `ETag`.
    #[must_use]
    pub fn etag(&self) -> String {
        Self::etag_of(self.version)
    }

    /// The `ETag` of details with so many changes.
    #[must_use]
    pub fn etag_of(changes: u64) -> String {
        format!("\"{changes}\"")
    }

    /// The number of changes that an `ETag` names; `None` if it is none.
    #[must_use]
    pub fn changes_of_etag(etag: &str) -> Option<u64> {
        let digits = etag.trim().strip_prefix('"')?.strip_suffix('"')?;
        let is_plain = digits.bytes().all(|digit| digit.is_ascii_digit());
        is_plain.then(|| digits.parse().ok()).flatten()
    }

    /// What somebody in this role may know of a spreadsheet; of one that is not in the catalog, that it
    /// exists.
    #[must_use]
    pub fn of(id: LogId, listing: Option<&Listing>, role: Option<Role>) -> Self {
        let members =
            |listing: &Listing| (role >= Some(Role::Editor)).then(|| listing.members.clone());
        let links = |listing: &Listing| {
            (role == Some(Role::Owner)).then(|| listing.links.iter().map(LinkView::from).collect())
        };
        let status = listing.map_or(Status::Active, |listing| listing.status);
        Self {
            id,
            name: listing.map(|listing| listing.name.to_string()).unwrap_or_default(),
            status: status.into(),
            status_since_s: status.since_s(),
            created_s: listing.map(|listing| listing.created_s),
            source: listing.and_then(|listing| listing.source),
            version: listing.map_or(0, |listing| listing.changes),
            role,
            members: listing.and_then(members),
            links: listing.and_then(links),
        }
    }
}
