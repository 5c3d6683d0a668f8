//! Creates AWS clients with separate credentials for each function.

use std::sync::Arc;

use cellar_engine::ports::Clock;
use cellar_runtime::snapshot::SnapshotClients;
use cellar_runtime::{dynamodb, s3, sdk};

use crate::direct_client::DirectClient;
use crate::error::LocalError;
use crate::names::REGION;
use crate::roles::Roles;
use crate::server::ServerThread;
use crate::state::Credentials;

pub(crate) struct Services {
    pub(crate) database: ServiceEndpoint,
    pub(crate) buckets: ServiceEndpoint,
    pub(crate) roles: Arc<Roles>,
}

/// A service of the local stack. Requests contain its URL, but need no connection.
pub(crate) struct ServiceEndpoint {
    url: String,
    client: DirectClient,
}

impl ServiceEndpoint {
    pub(crate) fn of(server: &ServerThread) -> Self {
        Self { url: server.url(), client: server.direct_client() }
    }
}

impl Services {
    pub(crate) fn clients(
        &self,
        function_id: &str,
        clock: &Arc<dyn Clock>,
    ) -> Result<SnapshotClients, LocalError> {
        let Credentials { access_key, secret_key } = self.roles.credentials_of(function_id)?;
        let config = |endpoint: &ServiceEndpoint| {
            sdk::for_endpoint(&endpoint.url, REGION, access_key, secret_key)
                .into_builder()
                .http_client(endpoint.client.clone())
                .build()
        };
        Ok(SnapshotClients {
            dynamodb: dynamodb::client(&config(&self.database)),
            s3: s3::client(&config(&self.buckets)),
            meter: Arc::default(),
            clock: Arc::clone(clock),
        })
    }
}
