//! Where the parts of a running cloud are, and what opens them.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::StateFolder;
use crate::error::LocalError;

pub(super) const ENDPOINTS: &str = "endpoints.json";
/// Named when only the buckets asked for credentials; folders of that time go on with theirs.
const CREDENTIALS: &str = "bucket-credentials.json";

/// Where the parts of a running cloud are, for commands that work on them directly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoints {
    /// The embedded DynamoDB.
    pub database_url: String,
    /// Name of its Entry table.
    pub entry_table: String,
    /// Name of its Segment table.
    pub segment_table: String,
    /// Name of its EventStream table; none of a process of an earlier Cellar.
    #[serde(default)]
    pub event_stream_table: Option<String>,
    /// Name of its Feed table; none of a process of an earlier Cellar.
    #[serde(default)]
    pub feed_table: Option<String>,
    /// Incarnation of its tables.
    #[serde(default)]
    pub tables_incarnation: u32,
    /// The embedded S3.
    pub buckets_url: String,
    /// Name of its bucket.
    pub bucket: String,
    /// What makes snapshots; none of a template without, and of a process of an earlier Cellar.
    #[serde(default)]
    pub snapshots: Option<SnapshotEndpoints>,
}

/// Where the jobs of snapshots go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotEndpoints {
    /// The queues' endpoint, which speaks as SQS.
    pub queues_url: String,
    /// The URL of the queue of jobs: its name there.
    pub snapshot_queue: String,
    /// Name of the table of pending snapshots.
    pub pending_snapshots_table: String,
}

/// What signs requests to the tables, the queues and the buckets. The operator's are made once and kept in the
/// state folder; functions have others ([`crate::roles::Roles`]).
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Credentials {
    pub(crate) access_key: String,
    pub(crate) secret_key: String,
}

impl Credentials {
    /// New ones, known to nobody else.
    pub(crate) fn random() -> Self {
        let random = || uuid::Uuid::new_v4().simple().to_string();
        Self { access_key: random(), secret_key: random() + &random() }
    }
}

/// Not the secret: what is printed may be kept.
impl fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Credentials").finish_non_exhaustive()
    }
}

impl StateFolder {
    /// Records where the parts of the running cloud are.
    pub(crate) fn record_endpoints(&self, endpoints: &Endpoints) -> Result<(), LocalError> {
        self.write(ENDPOINTS, endpoints)
    }

    /// Where the parts of the running cloud are, with the access key and the secret key that its
    /// DynamoDB, its SQS and its S3 accept; none if none runs. Ask [`StateFolder::occupancy`] first: a
    /// killed process leaves its record behind.
    ///
    /// # Errors
    /// [`LocalError`] if the state is damaged.
    pub fn endpoints(&self) -> Result<Option<(Endpoints, String, String)>, LocalError> {
        let Some(text) = self.read(ENDPOINTS)? else {
            return Ok(None);
        };
        let endpoints =
            serde_json::from_str(&text).map_err(|error| self.damaged(ENDPOINTS, error))?;
        let Credentials { access_key, secret_key } = self.credentials()?;
        Ok(Some((endpoints, access_key, secret_key)))
    }

    /// The credentials of the tables and the buckets; makes them the first time. Whoever may read
    /// the folder may use them: the file is this user's only, like the folder.
    pub(crate) fn credentials(&self) -> Result<Credentials, LocalError> {
        if let Some(text) = self.read(CREDENTIALS)? {
            return serde_json::from_str(&text).map_err(|error| self.damaged(CREDENTIALS, error));
        }
        let made = Credentials::random();
        self.write(CREDENTIALS, &made)?;
        Ok(made)
    }
}
