//! What push and pull share.

use cellar_api::sync::SCHEMA_VERSIONS;
use cellar_api::{wire::SyncError, wire::SyncErrorResponse};

/// The version of either protocol.
const PROTOCOL_VERSION: u32 = 1;

/// A refusal, if these versions are not understood.
pub(super) fn unsupported(
    protocol: &'static str,
    version: u32,
    schema: &str,
) -> Option<SyncErrorResponse> {
    let version_type = if version != PROTOCOL_VERSION {
        protocol
    } else if !SCHEMA_VERSIONS.contains(&schema) {
        "schema"
    } else {
        return None;
    };
    let error = SyncError::VersionNotSupported;
    Some(SyncErrorResponse { error, version_type: Some(version_type) })
}

pub(super) fn refusal(error: SyncError) -> SyncErrorResponse {
    SyncErrorResponse { error, version_type: None }
}
