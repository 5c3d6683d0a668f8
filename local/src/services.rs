//! Creates AWS clients with separate credentials for each function.

use std::sync::Arc;

use cellar_engine::ports::Clock;
use cellar_runtime::snapshot::SnapshotClients;
use cellar_runtime::{dynamodb, s3};

use crate::error::LocalError;
use crate::roles::Roles;
use crate::state::Credentials;

pub(crate) struct Services {
    pub(crate) database_url: String,
    pub(crate) buckets_url: String,
    pub(crate) roles: Arc<Roles>,
}

impl Services {
    pub(crate) fn clients(
        &self,
        function_id: &str,
        clock: &Arc<dyn Clock>,
    ) -> Result<SnapshotClients, LocalError> {
        let Credentials { access_key, secret_key } = self.roles.credentials_of(function_id)?;
        Ok(SnapshotClients {
            dynamodb: dynamodb::client_for_endpoint(&self.database_url, access_key, secret_key),
            s3: s3::client_for_endpoint(&self.buckets_url, access_key, secret_key),
            meter: Arc::default(),
            clock: Arc::clone(clock),
        })
    }
}
