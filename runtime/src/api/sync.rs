//! Checks that pushes (`pushMutations`) and pulls (`pullChanges`) have in common.

use cellar_api::sync::SCHEMA_VERSIONS;
use cellar_api::wire::{SyncError, SyncErrorResponse};
use cellar_base::identity::{BadLength, ClientName};

/// Version of the Replicache protocols for push and pull.
pub(super) const PROTOCOL_VERSION: u32 = 1;

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

/// Returns an error if a client group id is empty or too long.
pub(super) fn check_client_group_id(client_group_id: &str) -> Result<(), BadLength> {
    // The client group id is only checked as part of a client name, which also contains a client
    // id. Any valid client id will do.
    ClientName::new(client_group_id, client_group_id)?;
    Ok(())
}

fn unsupported_version(version_type: &'static str) -> SyncErrorResponse {
    let error = SyncError::VersionNotSupported;
    SyncErrorResponse { error, version_type: Some(version_type) }
}

pub(super) fn error_response(error: SyncError) -> SyncErrorResponse {
    SyncErrorResponse { error, version_type: None }
}

#[cfg(test)]
mod tests {
    use cellar_base::limits::MAX_CLIENT_ID_BYTES;

    use super::*;

    #[test]
    fn limits_the_length_of_a_client_group_id() {
        assert!(check_client_group_id(&"g".repeat(MAX_CLIENT_ID_BYTES)).is_ok());
        assert!(check_client_group_id(&"g".repeat(MAX_CLIENT_ID_BYTES + 1)).is_err());
        assert!(check_client_group_id("").is_err());
    }
}
