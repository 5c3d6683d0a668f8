//! Code shared by `pushChanges` and `pullChanges`.

use cellar_api::sync::SCHEMA_VERSIONS;
use cellar_api::wire::{SyncError, SyncErrorResponse};

/// Version of the Replicache push and pull protocols.
const PROTOCOL_VERSION: u32 = 1;

/// Returns an error if the request has an unsupported protocol version or schema version.
pub(super) fn check_versions(
    protocol: &'static str,
    protocol_version: u32,
    schema_version: &str,
) -> Result<(), SyncErrorResponse> {
    if protocol_version != PROTOCOL_VERSION {
        return Err(unsupported_version(protocol));
    }
    if !SCHEMA_VERSIONS.contains(&schema_version) {
        return Err(unsupported_version("schema"));
    }
    Ok(())
}

fn unsupported_version(version_type: &'static str) -> SyncErrorResponse {
    let error = SyncError::VersionNotSupported;
    SyncErrorResponse { error, version_type: Some(version_type) }
}

pub(super) fn error_response(error: SyncError) -> SyncErrorResponse {
    SyncErrorResponse { error, version_type: None }
}
