//! Converts errors to problem details (RFC 9457), the error format of the API.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use cellar_api::wire::{Problem, ProblemKind};
use cellar_base::identity::BadLength;
use cellar_catalog::spreadsheet::{BadLink, BadName, BadPerson, Rejection};
use cellar_catalog::stream::append::AppendFault;
use cellar_engine::catalog::CatalogError;
use cellar_engine::logs::{ForkFault, ImportFault, LogError, UploadFault};
use cellar_engine::streams::StreamError;
use cellar_log::append::{InvalidRequest, Refusal};
use cellar_log::roll::RollRefusal;

/// Value of the `Retry-After` header for temporary failures, in seconds.
const RETRY_AFTER_S: &str = "1";
const PROBLEM_JSON: &str = "application/problem+json";

/// An error response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    problem: Problem,
}

impl Failure {
    pub(super) fn new(kind: ProblemKind, detail: impl Into<String>) -> Self {
        Self { problem: Problem::new(kind, detail) }
    }

    /// Builds the error for a request that is well-formed but contains an invalid value.
    pub(super) fn invalid_request(error: &impl ToString) -> Self {
        Self::new(ProblemKind::InvalidRequest, error.to_string())
    }

    /// Builds the error for a resource that does not exist or that the caller may not view. Both
    /// cases result in exactly the same response.
    pub(super) fn not_found() -> Self {
        let detail = "the resource does not exist, or the token does not grant access to it; GET \
                      /v1/spreadsheets lists the ids of spreadsheets";
        Self::new(ProblemKind::NotFound, detail)
    }

    #[cfg(test)]
    pub(super) fn kind(&self) -> ProblemKind {
        self.problem.kind
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self { problem }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let status =
            StatusCode::from_u16(self.problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::to_vec(&self.problem).unwrap_or_default();
        let mut response = (status, [(header::CONTENT_TYPE, PROBLEM_JSON)], body).into_response();
        let headers = response.headers_mut();
        match self.problem.kind {
            ProblemKind::Unavailable => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER_S));
            }
            ProblemKind::Unauthorized | ProblemKind::InvalidLink => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            _ => {}
        }
        response
    }
}

impl From<LogError> for Failure {
    fn from(error: LogError) -> Self {
        let message = error.to_string();
        match error {
            LogError::NotFound => Self::not_found(),
            LogError::Refused(refusal) => failure_of_refused_append(&refusal, message),
            LogError::Reload | LogError::ReloadUnknownPosition { .. } => {
                Self::new(ProblemKind::ReloadRequired, message)
            }
            LogError::NoSuchPosition { .. } | LogError::BeforeCreation { .. } => {
                Self::new(ProblemKind::UnknownPosition, message)
            }
            LogError::TooLarge(_) | LogError::HistoryTooLarge { .. } => {
                Self::new(ProblemKind::RangeTooLarge, message)
            }
            LogError::UnknownSheet { .. } => Self::new(ProblemKind::SheetNotFound, message),
            LogError::Fork(ForkFault::OtherPosition { .. }) => {
                Self::new(ProblemKind::NonceReused, message)
            }
            LogError::Fork(_) => Self::new(ProblemKind::InvalidRequest, message),
            LogError::Merge(_) => Self::new(ProblemKind::CannotMerge, message),
            LogError::NothingToReverse { .. } => Self::new(ProblemKind::NothingToReverse, message),
            LogError::Upload(UploadFault::TooLong { .. }) => {
                Self::new(ProblemKind::TooLarge, message)
            }
            LogError::Upload(_) => Self::new(ProblemKind::InvalidUpload, message),
            LogError::Import(fault) => Self::new(import_problem_kind(&fault), message),
            LogError::Roll(RollRefusal::Contention | RollRefusal::Store) => {
                report_unavailable(&message)
            }
            LogError::Roll(
                RollRefusal::NoSegment | RollRefusal::Missing { .. } | RollRefusal::Unexpected(_),
            ) => report_internal(&message),
            LogError::Corrupt { .. } | LogError::Snapshot(_) => report_internal(&message),
            LogError::Store(error) if error.storage_full => report_storage_full(&message),
            LogError::Store(error) if error.temporary => report_unavailable(&message),
            LogError::Store(_) => report_internal(&message),
        }
    }
}

impl From<StreamError> for Failure {
    fn from(error: StreamError) -> Self {
        let message = error.to_string();
        match error {
            StreamError::Contention => Self::new(ProblemKind::Unavailable, message),
            StreamError::Append(fault) => match fault {
                AppendFault::TooLarge { .. } | AppendFault::Full => {
                    Self::new(ProblemKind::TooManyChanges, message)
                }
                AppendFault::Contention | AppendFault::OutcomeUnknown | AppendFault::Store => {
                    report_unavailable(&message)
                }
                AppendFault::Empty
                | AppendFault::Event(_)
                | AppendFault::Unexpected(_)
                | AppendFault::Damaged { .. } => report_internal(&message),
            },
            StreamError::Store(error) if error.storage_full => report_storage_full(&message),
            StreamError::Store(error) if error.temporary => report_unavailable(&message),
            StreamError::Rebuild(_) | StreamError::Payload(_) | StreamError::Store(_) => {
                report_internal(&message)
            }
        }
    }
}

impl From<Rejection> for Failure {
    fn from(rejection: Rejection) -> Self {
        let kind = match rejection {
            Rejection::Hidden => return Self::not_found(),
            Rejection::Role { .. } => ProblemKind::Forbidden,
            Rejection::Changed => ProblemKind::PreconditionFailed,
            Rejection::Archived => ProblemKind::Archived,
            Rejection::Deleted | Rejection::Gone | Rejection::NotPurgeable => ProblemKind::Deleted,
            Rejection::WithOneself
            | Rejection::LastOwner
            | Rejection::Members
            | Rejection::Links
            | Rejection::LinkEnded => ProblemKind::InvalidSharing,
        };
        Self::new(kind, rejection.to_string())
    }
}

impl From<CatalogError> for Failure {
    fn from(error: CatalogError) -> Self {
        match error {
            CatalogError::Rejected(rejection) => rejection.into(),
            CatalogError::Stream(error) => error.into(),
        }
    }
}

macro_rules! report_as_invalid_request {
    ($($error:ty),+) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::invalid_request(&error)
            }
        })+
    };
}

report_as_invalid_request!(BadLength, BadLink, BadName, BadPerson);

/// Returns the problem type for an import that was rejected. It determines whether the client
/// should send less data, upload the data again, or give up.
fn import_problem_kind(fault: &ImportFault) -> ProblemKind {
    match fault {
        ImportFault::Nothing | ImportFault::ChunkLength { .. } => ProblemKind::InvalidRequest,
        ImportFault::TooMany { .. }
        | ImportFault::TooLarge { .. }
        | ImportFault::TooManyTexts { .. } => ProblemKind::TooLarge,
        ImportFault::Missing { .. }
        | ImportFault::Unchecked { .. }
        | ImportFault::TooOld { .. } => ProblemKind::IncompleteImport,
        ImportFault::Unreadable { .. } | ImportFault::Index { .. } => ProblemKind::InvalidImport,
    }
}

fn failure_of_refused_append(refusal: &Refusal, message: String) -> Failure {
    match refusal {
        Refusal::UnknownBase { .. } | Refusal::BaseGone { .. } => {
            Failure::new(ProblemKind::UnknownBase, message)
        }
        Refusal::MergeTooDistant => Failure::new(ProblemKind::CannotMerge, message),
        Refusal::IncarnationChanged => Failure::new(ProblemKind::ReloadRequired, message),
        Refusal::Gap { .. } => Failure::new(ProblemKind::MutationGap, message),
        Refusal::Overlap { .. } => Failure::new(ProblemKind::MutationOverlap, message),
        Refusal::Contention | Refusal::OutcomeUnknown | Refusal::StaleResolution { .. } => {
            Failure::new(ProblemKind::Unavailable, message)
        }
        Refusal::Store => report_unavailable(&message),
        Refusal::Corrupt { .. } | Refusal::Full | Refusal::Encoding | Refusal::Unexpected(_) => {
            report_internal(&message)
        }
    }
}

/// Logs a temporary error and builds a response with status 503. The response does not contain the
/// error message.
fn report_unavailable(message: &str) -> Failure {
    tracing::warn!(error = message, "a request failed temporarily");
    let detail = "DynamoDB does not respond; retry the unchanged request";
    Failure::new(ProblemKind::Unavailable, detail)
}

/// Logs that the disk is full and builds a response with status 507.
fn report_storage_full(message: &str) -> Failure {
    tracing::error!(error = message, "the disk is full");
    let detail = "the disk of the server is full; nothing was changed; free some space, then repeat the request";
    Failure::new(ProblemKind::StorageFull, detail)
}

/// Logs a permanent error and builds a response with status 500. The response does not contain the
/// error message.
pub(super) fn report_internal(message: &str) -> Failure {
    tracing::error!(error = message, "a request failed");
    Failure::new(ProblemKind::Internal, "the request failed permanently; the error was logged")
}

impl From<InvalidRequest> for Failure {
    fn from(error: InvalidRequest) -> Self {
        let kind = match &error {
            InvalidRequest::TooManyMutations { .. } => ProblemKind::TooLarge,
            _ => ProblemKind::InvalidRequest,
        };
        Self::new(kind, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use cellar_base::position::Position;
    use cellar_base::unexpected_event::UnexpectedEvent;
    use cellar_engine::logs::{ForkFault, MergeFault};
    use cellar_engine::ports::PortError;
    use cellar_snapshot::level::ChunkHash;

    use super::*;

    const UNEXPECTED: UnexpectedEvent =
        UnexpectedEvent { machine: "secret", phase: "Reading", event: "Waited" };

    #[test]
    fn a_bug_of_the_program_is_not_an_unavailable_store() {
        let status = |fault| {
            let failure = Failure::from(StreamError::Append(fault));
            assert!(!failure.problem.detail.contains("secret"));
            failure.into_response().status().as_u16()
        };
        assert_eq!(status(AppendFault::Store), 503);
        let full = Failure::from(StreamError::Store(PortError::storage_full("secret")));
        assert_eq!(full.kind(), ProblemKind::StorageFull);
        assert_eq!(status(AppendFault::Unexpected(UNEXPECTED)), 500);
    }

    #[test]
    fn every_log_error_has_its_status() {
        let at = Position::FIRST;
        for (error, status) in [
            (LogError::NotFound, 404),
            (LogError::Reload, 410),
            (LogError::ReloadUnknownPosition { after: at, newest: at }, 410),
            (LogError::NoSuchPosition { at, newest: at }, 422),
            (LogError::BeforeCreation { time_s: 1, created_s: 2 }, 422),
            (LogError::HistoryTooLarge { at }, 422),
            (LogError::Corrupt { at }, 500),
            (LogError::Store(PortError::temporary("secret")), 503),
            (LogError::Store(PortError::permanent("secret")), 500),
            (LogError::Store(PortError::storage_full("secret")), 507),
            (LogError::Refused(Refusal::UnknownBase { base: at }), 409),
            (LogError::Refused(Refusal::IncarnationChanged), 410),
            (LogError::Refused(Refusal::Gap { expected: 1, got: 2 }), 409),
            (LogError::Refused(Refusal::Contention), 503),
            (LogError::Refused(Refusal::OutcomeUnknown), 503),
            (LogError::Refused(Refusal::Full), 500),
            (LogError::Refused(Refusal::Store), 503),
            (LogError::Refused(Refusal::Unexpected(UNEXPECTED)), 500),
            (LogError::Refused(Refusal::Encoding), 500),
            (LogError::Roll(RollRefusal::Store), 503),
            (LogError::Roll(RollRefusal::Unexpected(UNEXPECTED)), 500),
            (LogError::Refused(Refusal::Overlap { last_id: 3 }), 409),
            (LogError::UnknownSheet { sheet: "x".into() }, 404),
            (LogError::NothingToReverse { why: "x".into() }, 409),
            (LogError::Fork(ForkFault::TooDeep), 422),
            (LogError::Fork(ForkFault::Unrelated), 422),
            (LogError::Merge(MergeFault::NotAFork), 422),
            (LogError::Refused(Refusal::MergeTooDistant), 422),
            (LogError::Fork(ForkFault::OtherPosition { position: at }), 409),
            (LogError::Upload(UploadFault::TooLong { bytes: 9 }), 413),
            (LogError::Upload(UploadFault::Mismatch), 422),
            (LogError::Import(ImportFault::Nothing), 422),
            (LogError::Import(ImportFault::TooMany { objects: 257 }), 413),
            (LogError::Import(ImportFault::Missing { hash: ChunkHash([0; 32]) }), 422),
            (LogError::Import(ImportFault::Index { why: "x".into() }), 422),
        ] {
            let failure = Failure::from(error);
            assert!(!failure.problem.detail.contains("secret"));
            let response = failure.into_response();
            assert_eq!(response.status().as_u16(), status);
            assert_eq!(response.headers().contains_key(header::RETRY_AFTER), status == 503);
            assert_eq!(response.headers()[header::CONTENT_TYPE], PROBLEM_JSON);
        }
    }
}
