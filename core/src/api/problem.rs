//! Errors on the wire: problem details (RFC 9457) with stable types.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An error as the API answers it, `application/problem+json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Problem {
    /// What kind of problem: `urn:cellar:problem:…`, stable for programs.
    #[serde(rename = "type")]
    pub kind: ProblemKind,
    /// The kind in words.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What was wrong this time, and what to do.
    pub detail: String,
}

macro_rules! problem_kinds {
    ($($(#[$doc:meta])* $name:ident = $urn:literal, $status:literal, $title:literal;)*) => {
        /// The kinds of problems: each with its status, the same for ever.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        pub enum ProblemKind {
            $($(#[$doc])* #[serde(rename = $urn)] $name,)*
        }

        impl ProblemKind {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The HTTP status.
            #[must_use]
            pub fn status(self) -> u16 {
                match self { $(Self::$name => $status),* }
            }

            /// The kind in words.
            #[must_use]
            pub fn title(self) -> &'static str {
                match self { $(Self::$name => $title),* }
            }

            /// The URN that names the kind.
            #[must_use]
            pub fn urn(self) -> &'static str {
                match self { $(Self::$name => $urn),* }
            }
        }
    };
}

problem_kinds! {
    /// The request is not understood.
    BadRequest = "urn:cellar:problem:bad-request", 400, "The request is not understood";
    /// No token, or one that is not accepted.
    Unauthorized = "urn:cellar:problem:unauthorized", 401, "A valid token is needed";
    /// The link that was sent in the place of a token is none, or none any more.
    LinkEnded = "urn:cellar:problem:link-ended", 401, "The link has ended";
    /// The token does not allow this.
    Forbidden = "urn:cellar:problem:forbidden", 403, "The token does not allow this";
    /// It does not exist, or the token does not cover it.
    NotFound = "urn:cellar:problem:not-found", 404, "There is nothing here that you may see";
    /// Nothing is pushed here: whoever wants to know polls.
    NoPokes = "urn:cellar:problem:no-pokes", 404, "Nothing is pushed here";
    /// The path exists but not with this method.
    MethodNotAllowed =
        "urn:cellar:problem:method-not-allowed", 405, "The method is not allowed here";
    /// The base is not in the log.
    UnknownBase = "urn:cellar:problem:unknown-base", 409, "The base is not in the log";
    /// Mutations are missing before the first one sent.
    MutationGap = "urn:cellar:problem:mutation-gap", 409, "Mutations are missing";
    /// A part of an uploaded batch is in the log already.
    MutationOverlap =
        "urn:cellar:problem:mutation-overlap", 409, "Some of the mutations are in the log";
    /// The client is too far behind, or the spreadsheet was restored: load it again.
    Reload = "urn:cellar:problem:reload", 410, "Load the spreadsheet again";
    /// The checkpoint is of another feed: read the one that there is from its beginning.
    FeedChanged = "urn:cellar:problem:feed-changed", 410, "The feed is another one";
    /// The spreadsheet is archived: it can be read and not changed.
    Archived = "urn:cellar:problem:archived", 409, "The spreadsheet is archived";
    /// The spreadsheet is deleted, and an owner may still restore it.
    Deleted = "urn:cellar:problem:deleted", 410, "The spreadsheet is deleted";
    /// It cannot be shared in this way.
    SharingRefused =
        "urn:cellar:problem:sharing-refused", 422, "The spreadsheet cannot be shared so";
    /// The details of a spreadsheet are not those that `If-Match` names.
    Changed = "urn:cellar:problem:changed", 412, "Somebody has changed it meanwhile";
    /// The body or a part of it is too large.
    TooLarge = "urn:cellar:problem:too-large", 413, "The request is too large";
    /// The body is not JSON by its media type.
    UnsupportedMediaType =
        "urn:cellar:problem:unsupported-media-type", 415, "The body must be JSON";
    /// Understood, but it can never succeed.
    Unprocessable = "urn:cellar:problem:unprocessable", 422, "The request can never succeed";
    /// An upload that cannot become an entry.
    UploadRefused = "urn:cellar:problem:upload-refused", 422, "The upload cannot become an entry";
    /// Chunks of an import are missing or not checked: upload and check them again, then repeat it.
    ImportIncomplete =
        "urn:cellar:problem:import-incomplete", 422, "Chunks of the import are not there";
    /// A chunk of an import is not what it must be.
    ImportRefused =
        "urn:cellar:problem:import-refused", 422, "The import has a chunk that cannot be read";
    /// A range that spans or holds too many cells.
    RangeTooLarge = "urn:cellar:problem:range-too-large", 422, "The range is too large";
    /// A sheet that the spreadsheet does not have.
    UnknownSheet = "urn:cellar:problem:unknown-sheet", 404, "The sheet does not exist";
    /// The log is damaged, or the server has a fault.
    Internal = "urn:cellar:problem:internal", 500, "The server cannot answer this";
    /// Temporary: repeat the request unchanged after `Retry-After`.
    Unavailable = "urn:cellar:problem:unavailable", 503, "Try again in a moment";
}

impl Problem {
    /// A problem of this kind.
    #[must_use]
    pub fn new(kind: ProblemKind, detail: impl Into<String>) -> Self {
        Self { kind, title: kind.title().to_owned(), status: kind.status(), detail: detail.into() }
    }

    /// Whether repeating the request unchanged may succeed.
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
    fn every_kind_reads_back_and_has_an_error_status() {
        for kind in ProblemKind::ALL {
            let problem = Problem::new(*kind, "because");
            let json = serde_json::to_string(&problem).unwrap();
            assert!(json.contains(kind.urn()));
            assert!((400..600).contains(&problem.status));
            assert_eq!(serde_json::from_str::<Problem>(&json).unwrap(), problem);
        }
    }
}
