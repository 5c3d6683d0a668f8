//! Code shared by `pushChanges` and `pullChanges`.

use cellar_api::sync::SCHEMA_VERSIONS;
use cellar_api::{wire::SyncError, wire::SyncErrorResponse};

/// Version of the Replicache push and pull protocols.
const PROTOCOL_VERSION: u32 = 1;

/// Errors if the request has an unsupported protocol version or schema version.
pub(super) fn check_versions(
    protocol: &'static str,
    (protocol_version, schema_version): (u32, &str),
) -> Option<SyncErrorResponse> {
    let unsupported = if protocol_version != PROTOCOL_VERSION {
        protocol
    } else if !SCHEMA_VERSIONS.contains(&schema_version) {
        "schema"
    } else {
        return None;
    };
    let error = SyncError::VersionNotSupported;
    Some(SyncErrorResponse { error, version_type: Some(unsupported) })
}

pub(super) fn error_response(error: SyncError) -> SyncErrorResponse {
    SyncErrorResponse { error, version_type: None }
}
