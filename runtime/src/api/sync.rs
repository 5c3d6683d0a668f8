//! Checks that pushes (`pushChanges`) and pulls (`pullChanges`) have in common.

use cellar_api::sync::SCHEMA_VERSIONS;
use cellar_api::wire::{SyncError, SyncErrorResponse};

/// Version of the Replicache protocols for push and pull.
const PROTOCOL_VERSION: u32 = 1;

/// Returns an error if the protocol version or the schema version of a request is not supported.
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
