//! The name, status, members and share links of a spreadsheet: `…/spreadsheets/{id}/details`,
//! `…/members` and `…/links`.

use serde::{Deserialize, Serialize};

use cellar_base::identity::LogId;
use cellar_catalog::access::Role;
use cellar_catalog::stream::Dated;
use cellar_catalog::{
    spreadsheet::CatalogEvent, spreadsheet::Grantee, spreadsheet::Link, spreadsheet::LinkRole,
    spreadsheet::Listing, spreadsheet::Member, spreadsheet::Person, spreadsheet::Recipient,
    spreadsheet::Status,
};

/// Details of a spreadsheet. Only the fields that the caller's role may see are set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DetailsReply {
    /// Spreadsheet id.
    pub id: LogId,
    /// Name of the spreadsheet, or an empty string if unnamed.
    pub name: String,
    /// Status of the spreadsheet.
    pub status: SpreadsheetStatus,
    /// Time at which the spreadsheet was archived or deleted, in seconds since the Unix epoch.
    /// Absent if the spreadsheet is active.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_since_s: Option<u64>,
    /// Creation time in seconds since the Unix epoch. Absent if the spreadsheet is not in the
    /// catalog.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_s: Option<u64>,
    /// Id of the source spreadsheet, if the spreadsheet is a fork.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<LogId>,
    /// Version of the details, which is also the `ETag`. Each change increments it. It is 0 if the
    /// spreadsheet is not in the catalog.
    pub version: u64,
    /// Role of the caller. Absent if the caller has lost access to the spreadsheet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Members of the spreadsheet. Visible to editors and owners, but not to holders of a share
    /// link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub members: Option<Vec<Member>>,
    /// Share links of the spreadsheet. Visible only to owners.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<Vec<LinkView>>,
}

/// Status of a spreadsheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum SpreadsheetStatus {
    /// The spreadsheet is editable.
    Active,
    /// The spreadsheet is read-only.
    Archived,
    /// The spreadsheet is hidden. An owner can undelete it within 30 days.
    Deleted,
}

/// A share link without its secret, which the server does not know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LinkView {
    /// Id of the link, 16 hexadecimal digits.
    pub id: String,
    /// Role that the link grants.
    pub role: LinkRole,
    /// Label by which users recognize the link.
    pub label: String,
    /// Expiry time of the link in seconds since the Unix epoch. Absent if the link does not expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_s: Option<u64>,
}

/// Changes to the details of a spreadsheet. A detail whose field is absent remains unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UpdateDetailsRequest {
    /// New name, a single line of 1 to 256 bytes. Only editors and owners can set it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// New status. Only owners can set it. `active` unarchives or undeletes the spreadsheet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<SpreadsheetStatus>,
}

/// A user, identified by the issuer and subject of their tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema, utoipa::IntoParams))]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
pub struct PersonRequest {
    /// Subject of the user's tokens.
    pub subject: String,
    /// Issuer of the user's tokens. If absent, the issuer of the caller's token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
}

/// Shares a spreadsheet with a user, or changes the user's role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ShareRequest {
    /// Subject of the user's tokens.
    pub subject: String,
    /// Issuer of the user's tokens. If absent, the issuer of the caller's token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// Role to grant.
    pub role: Role,
}

/// Creates a share link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LinkRequest {
    /// Secret of the link, chosen by the client: 16 random bytes in base64url without padding. The
    /// server stores only a hash of the secret. A repeated request with the same secret returns the
    /// existing link.
    pub secret: String,
    /// Role that the link grants.
    pub role: LinkRole,
    /// Label of the link, a single line of at most 128 bytes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// Expiry time of the link in seconds since the Unix epoch. Absent if the link does not expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_s: Option<u64>,
}

/// The created share link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LinkReply {
    /// Id of the link, 16 hexadecimal digits.
    pub id: String,
    /// Token of the share link. Anyone who has it can send it as a bearer token to access the
    /// spreadsheet.
    pub token: String,
}

/// Changes to a spreadsheet's details, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChangesReply {
    /// One page of changes.
    pub changes: Vec<ChangeView>,
    /// Cursor of the next page. Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// A change to a spreadsheet's details.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChangeView {
    /// Index of the change, counted from 0.
    pub index: u64,
    /// Time of the change in seconds since the Unix epoch.
    pub created_s: u64,
    /// User who made the change.
    pub by: Person,
    /// Kind of change: `Created`, `Renamed`, `Shared`, `Unshared`, `Archived`, `Unarchived`,
    /// `Deleted`, `Undeleted` or `Purged`.
    pub kind: String,
    /// The new name, if the kind is `Created` or `Renamed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// User whose access changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<Person>,
    /// Id of the share link that was created or revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// New role of the user or share link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
}

impl From<Dated<CatalogEvent>> for ChangeView {
    fn from(dated: Dated<CatalogEvent>) -> Self {
        let Dated { index, time_ms, event } = dated;
        let mut view = Self {
            index,
            created_s: time_ms / 1_000,
            by: event.by().clone(),
            kind: event.kind().to_owned(),
            name: None,
            person: None,
            link: None,
            role: None,
        };
        match event {
            CatalogEvent::Created { name, .. } | CatalogEvent::Renamed { name, .. } => {
                view.name = Some(name.to_string());
            }
            CatalogEvent::Shared { with: Grantee::Member(member), .. } => {
                view.person = Some(member.person);
                view.role = Some(member.role);
            }
            CatalogEvent::Shared { with: Grantee::Link(link), .. } => {
                view.link = Some(link.hash.id().to_string());
                view.role = Some(link.role.role());
            }
            CatalogEvent::Unshared { from: Recipient::Member(person), .. } => {
                view.person = Some(person);
            }
            CatalogEvent::Unshared { from: Recipient::Link(link_hash), .. } => {
                view.link = Some(link_hash.id().to_string());
            }
            CatalogEvent::Archived { .. }
            | CatalogEvent::Unarchived { .. }
            | CatalogEvent::Undeleted { .. }
            | CatalogEvent::Deleted { .. }
            | CatalogEvent::Purged { .. } => {}
        }
        view
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
    /// Returns the `ETag` of these details.
    #[must_use]
    pub fn etag(&self) -> String {
        Self::etag_of(self.version)
    }

    /// Returns the `ETag` for this version of the details.
    #[must_use]
    pub fn etag_of(version: u64) -> String {
        format!("\"{version}\"")
    }

    /// Returns the version in an `ETag` of the details, or `None` if the `ETag` is malformed.
    #[must_use]
    pub fn version_of_etag(etag: &str) -> Option<u64> {
        let digits = etag.trim().strip_prefix('"')?.strip_suffix('"')?;
        let is_plain = digits.bytes().all(|digit| digit.is_ascii_digit());
        if is_plain { digits.parse().ok() } else { None }
    }

    /// Returns the details that a caller with the role `role` may see. `listing` is the catalog
    /// record of the spreadsheet, or `None` if the spreadsheet is not in the catalog.
    #[must_use]
    pub fn of(id: LogId, listing: Option<&Listing>, role: Option<Role>) -> Self {
        let mut details = Self {
            id,
            name: String::new(),
            status: SpreadsheetStatus::Active,
            status_since_s: None,
            created_s: None,
            source: None,
            version: 0,
            role,
            members: None,
            links: None,
        };
        let Some(listing) = listing else { return details };
        details.name = listing.name.to_string();
        details.status = listing.status.into();
        details.status_since_s = listing.status.since_s();
        details.created_s = Some(listing.created_s);
        details.source = listing.source;
        details.version = listing.changes;
        if role >= Some(Role::Editor) {
            details.members = Some(listing.members.clone());
        }
        if role == Some(Role::Owner) {
            details.links = Some(listing.links.iter().map(LinkView::from).collect());
        }
        details
    }
}
