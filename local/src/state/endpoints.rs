//! Endpoints and credentials of a running local stack.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::StateFolder;
use crate::error::LocalError;

pub(super) const ENDPOINTS: &str = "endpoints.json";
/// Name of the file with the operator's credentials, which are valid for all services. The name
/// mentions buckets only because existing state directories use it.
const CREDENTIALS: &str = "bucket-credentials.json";

/// Endpoints and resource names of a running local stack. Commands use them to access the stack's
/// services directly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoints {
    /// URL of the embedded DynamoDB.
    pub database_url: String,
    /// Name of the Entry table.
    pub entry_table: String,
    /// Name of the Segment table.
    pub segment_table: String,
    /// Name of the EventStream table. `None` if an earlier version of Cellar wrote the file.
    #[serde(default)]
    pub event_stream_table: Option<String>,
    /// Name of the Feed table. `None` if an earlier version of Cellar wrote the file.
    #[serde(default)]
    pub feed_table: Option<String>,
    /// Number of times that the tables were restored.
    #[serde(default)]
    pub tables_incarnation: u32,
    /// URL of the embedded S3.
    pub buckets_url: String,
    /// Name of the bucket.
    pub bucket: String,
    /// Endpoints of the snapshot function. `None` if the template does not contain this function,
    /// or if an earlier version of Cellar wrote the file.
    #[serde(default)]
    pub snapshots: Option<SnapshotEndpoints>,
}

/// The queue and the table of the snapshot function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotEndpoints {
    /// URL of the embedded SQS.
    pub queues_url: String,
    /// URL of the queue for snapshot jobs.
    pub snapshot_queue: String,
    /// Name of the PendingSnapshots table.
    pub pending_snapshots_table: String,
}

/// The operator's credentials are created once and stored in the state directory. Functions have
/// separate credentials ([`crate::roles::Roles`]).
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Credentials {
    pub(crate) access_key: String,
    pub(crate) secret_key: String,
}

impl Credentials {
    pub(crate) fn random() -> Self {
        let random = || uuid::Uuid::new_v4().simple().to_string();
        Self { access_key: random(), secret_key: random() + &random() }
    }
}

/// Omit the secret, to keep it out of logs.
impl fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Credentials").finish_non_exhaustive()
    }
}

impl StateFolder {
    pub(crate) fn record_endpoints(&self, endpoints: &Endpoints) -> Result<(), LocalError> {
        self.write(ENDPOINTS, endpoints)
    }

    /// Returns the running stack's endpoints with the operator's access key and secret key, or
    /// `None` if no stack was ever started. Check [`StateFolder::occupancy`] first, because a
    /// killed process leaves an outdated file.
    ///
    /// # Errors
    ///
    /// Returns a [`LocalError`] if the state is damaged.
    pub fn endpoints(&self) -> Result<Option<(Endpoints, String, String)>, LocalError> {
        let Some(json) = self.read(ENDPOINTS)? else { return Ok(None) };
        let endpoints =
            serde_json::from_str(&json).map_err(|error| self.damaged(ENDPOINTS, error))?;
        let Credentials { access_key, secret_key } = self.credentials()?;
        Ok(Some((endpoints, access_key, secret_key)))
    }

    /// Creates the credentials on the first call, in a file that only the directory's owner can
    /// read.
    pub(crate) fn credentials(&self) -> Result<Credentials, LocalError> {
        if let Some(json) = self.read(CREDENTIALS)? {
            return serde_json::from_str(&json).map_err(|error| self.damaged(CREDENTIALS, error));
        }
        let credentials = Credentials::random();
        self.write(CREDENTIALS, &credentials)?;
        Ok(credentials)
    }
}
