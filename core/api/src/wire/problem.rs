//! Error responses of the API in the format of RFC 9457 (problem details).

use std::fmt;

use serde::{Deserialize, Serialize};

/// Error response with the content type `application/problem+json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Problem {
    /// URN of the problem type, of the form `urn:cellar:problem:…`. URNs never change.
    #[serde(rename = "type")]
    pub kind: ProblemKind,
    /// Short summary of the problem type.
    pub title: String,
    /// HTTP status of the response.
    pub status: u16,
    /// Description of this case of the problem and of how to correct it.
    pub detail: String,
}

macro_rules! problem_kinds {
    ($($(#[$doc:meta])* $name:ident = $urn:literal, $status:literal, $title:literal;)*) => {
        /// Type of a problem. Each type has a fixed HTTP status.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum ProblemKind {
            $($(#[$doc])* #[serde(rename = $urn)] $name,)*
        }

        impl ProblemKind {
            /// All problem types.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Returns the HTTP status of the problem type.
            #[must_use]
            pub fn status(self) -> u16 {
                match self { $(Self::$name => $status),* }
            }

            /// Returns the short summary of the problem type.
            #[must_use]
            pub fn title(self) -> &'static str {
                match self { $(Self::$name => $title),* }
            }

            /// Returns the URN of the problem type.
            #[must_use]
            pub fn urn(self) -> &'static str {
                match self { $(Self::$name => $urn),* }
            }
        }
    };
}

problem_kinds! {
    /// The request is malformed.
    BadRequest = "urn:cellar:problem:bad-request", 400, "Malformed request";
    /// The bearer token is missing or was rejected.
    Unauthorized = "urn:cellar:problem:unauthorized", 401, "Missing or invalid token";
    /// The share link is malformed, unknown, expired or revoked.
    InvalidLink = "urn:cellar:problem:invalid-link", 401, "Invalid share link";
    /// The token or the caller's role does not allow the request.
    Forbidden = "urn:cellar:problem:forbidden", 403, "Permission denied";
    /// The resource does not exist, or the token does not grant access to it.
    NotFound = "urn:cellar:problem:not-found", 404, "Not found";
    /// No route has the path of the request.
    UnknownRoute = "urn:cellar:problem:unknown-route", 404, "No such route";
    /// The requested position does not exist in the spreadsheet.
    UnknownPosition = "urn:cellar:problem:unknown-position", 422, "Position not found";
    /// The requested sheet does not exist in the spreadsheet.
    SheetNotFound = "urn:cellar:problem:sheet-not-found", 404, "Sheet not found";
    /// This deployment does not send change hints. Clients must poll instead.
    PokesUnsupported = "urn:cellar:problem:pokes-unsupported", 404, "Pokes not supported";
    /// The path does not support the request method.
    MethodNotAllowed = "urn:cellar:problem:method-not-allowed", 405, "Method not allowed";
    /// The base position of a mutation is not in the log.
    UnknownBase = "urn:cellar:problem:unknown-base", 409, "Unknown base position";
    /// The mutation ids do not directly follow the last mutation id of the client in the log.
    MutationGap = "urn:cellar:problem:mutation-gap", 409, "Gap in mutation ids";
    /// Some of the mutations in the uploaded object are already in the log.
    MutationOverlap =
        "urn:cellar:problem:mutation-overlap", 409, "Mutations already committed";
    /// The idempotency key was already used for a different request.
    NonceReused = "urn:cellar:problem:nonce-reused", 409, "Nonce already used";
    /// The undo or revert would change nothing, and the request asked to refuse it in this case.
    NothingToReverse =
        "urn:cellar:problem:nothing-to-reverse", 409, "Nothing to undo or revert";
    /// The spreadsheet is archived and therefore read-only.
    Archived = "urn:cellar:problem:archived", 409, "Spreadsheet is archived";
    /// The client's state is too old, or the tables were restored. The client must reload the
    /// spreadsheet.
    ReloadRequired = "urn:cellar:problem:reload-required", 410, "Reload required";
    /// The checkpoint belongs to an earlier feed that was replaced. The consumer must read the feed
    /// from the start.
    FeedGenerationChanged =
        "urn:cellar:problem:feed-generation-changed", 410, "Feed generation changed";
    /// The spreadsheet is deleted. An owner may be able to undelete it.
    Deleted = "urn:cellar:problem:deleted", 410, "Spreadsheet is deleted";
    /// The details have changed since the version in `If-Match`.
    PreconditionFailed =
        "urn:cellar:problem:precondition-failed", 412, "Precondition failed";
    /// The request body or a part of it exceeds a limit.
    TooLarge = "urn:cellar:problem:too-large", 413, "Request too large";
    /// The content type of the request body is not JSON.
    UnsupportedMediaType =
        "urn:cellar:problem:unsupported-media-type", 415, "Unsupported media type";
    /// The request is well-formed, but can never succeed.
    InvalidRequest = "urn:cellar:problem:invalid-request", 422, "Invalid request";
    /// The members or share links cannot be changed as requested.
    InvalidSharing = "urn:cellar:problem:invalid-sharing", 422, "Invalid sharing change";
    /// The event stream that stores the spreadsheet's details is full.
    TooManyChanges = "urn:cellar:problem:too-many-changes", 422, "Too many changes";
    /// The spreadsheet cannot be merged.
    CannotMerge = "urn:cellar:problem:cannot-merge", 422, "Cannot merge";
    /// The uploaded object cannot be added to the log.
    InvalidUpload = "urn:cellar:problem:invalid-upload", 422, "Invalid upload";
    /// Chunks of the import are missing or have not been checked.
    IncompleteImport = "urn:cellar:problem:incomplete-import", 422, "Incomplete import";
    /// A chunk of the import is invalid.
    InvalidImport = "urn:cellar:problem:invalid-import", 422, "Invalid import chunk";
    /// The requested range contains too many cells.
    RangeTooLarge = "urn:cellar:problem:range-too-large", 422, "Range too large";
    /// Permanent server error.
    Internal = "urn:cellar:problem:internal", 500, "Internal error";
    /// Temporary failure. Clients retry the unchanged request after the delay in `Retry-After`.
    Unavailable = "urn:cellar:problem:unavailable", 503, "Temporarily unavailable";
    /// The disk of the local stack is full. Nothing was changed. The request may be repeated when
    /// there is space again.
    StorageFull = "urn:cellar:problem:storage-full", 507, "Storage full";
}

/// The schema is implemented manually, because utoipa's derive macro does not see the URNs in
/// `problem_kinds!`.
#[cfg(feature = "openapi")]
impl utoipa::PartialSchema for ProblemKind {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
        utoipa::openapi::schema::ObjectBuilder::new()
            .schema_type(utoipa::openapi::schema::Type::String)
            .description(Some("Type of a problem. Each type has a fixed HTTP status."))
            .enum_values(Some(Self::ALL.iter().map(|kind| kind.urn())))
            .into()
    }
}

#[cfg(feature = "openapi")]
impl utoipa::ToSchema for ProblemKind {}

impl Problem {
    /// Creates a problem of the type `kind`. `detail` says what went wrong and how to correct it.
    #[must_use]
    pub fn new(kind: ProblemKind, detail: impl Into<String>) -> Self {
        Self { kind, title: kind.title().to_owned(), status: kind.status(), detail: detail.into() }
    }

    /// Returns whether the server has certainly not executed the request.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        (400..500).contains(&self.status) || self.kind == ProblemKind::StorageFull
    }

    /// Returns whether retrying the unchanged request may succeed.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        self.kind == ProblemKind::Unavailable
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({}): {}", self.title, self.status, self.detail)
    }
}

impl std::error::Error for Problem {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_problem_type_round_trips_and_has_an_error_status() {
        for kind in ProblemKind::ALL {
            let problem = Problem::new(*kind, "because");
            let json = serde_json::to_string(&problem).unwrap();
            assert!(json.contains(kind.urn()));
            assert!((400..600).contains(&problem.status));
            let is_refusal = problem.status < 500 || *kind == ProblemKind::StorageFull;
            assert_eq!(problem.is_refusal(), is_refusal, "{kind:?}");
            assert_eq!(serde_json::from_str::<Problem>(&json).unwrap(), problem);
        }
    }
}
