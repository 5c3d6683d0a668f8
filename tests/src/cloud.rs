//! A local stack that runs in the test process, and tokens for it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use aws_sdk_dynamodb::config::interceptors::BeforeTransmitInterceptorContextMut;
use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::BoxError;
use cellar::Client;
use cellar_base::identity::LogId;
use cellar_catalog::access::Role;
use cellar_engine::logs::Logs;
use cellar_engine::memory::MemoryBlobs;
use cellar_engine::meter::Meter;
use cellar_engine::ports::{Clock, NoPokes};
use cellar_engine::system::{SystemClock, SystemRandom};
use cellar_local::{LocalCloud, LocalQueue, Options, Ports, Roles, StateFolder};
use cellar_runtime::api::{self, ApiState, BodyBudget};
use cellar_runtime::dynamodb::{DynamoPendingSnapshots, DynamoTables, client_for_endpoint};
use cellar_runtime::s3::{self, S3Blobs};
use cellar_runtime::settings::ApiSettings;
use cellar_runtime::token::{Claims, KeyPair, Spreadsheets};
use cellar_stacks::config::TokenKey;
use cellar_stacks::template::Template;
use cellar_stacks::{Architecture, Config, cellar_stack};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Name of the state directory within the test's directory.
const STATE: &str = "local";

/// A function that modifies the template's JSON.
pub type Change = fn(&mut serde_json::Value);

/// A local stack that runs until the test ends.
pub struct TestCloud {
    /// URL of the cloud's API.
    pub url: String,
    /// Endpoint of the stack's DynamoDB.
    pub database_url: String,
    /// Endpoint of the stack's S3.
    pub buckets_url: String,
    /// Access key and secret key for the stack's DynamoDB and S3.
    pub credentials: (String, String),
    /// Settings of the stack's API.
    pub settings: ApiSettings,
    /// Meter of the resources that the stack's API consumes.
    pub meter: Arc<Meter>,
    /// Memory budgets of the API, which count the bytes of request bodies held in memory.
    pub bodies: Arc<BodyBudget>,
    /// Permissions of the stack's functions, with the actions that they have used.
    pub roles: Arc<Roles>,
    key: KeyPair,
    config: Config,
    change: Change,
    queues: BTreeMap<String, Arc<LocalQueue>>,
    served: JoinHandle<()>,
    end: oneshot::Sender<()>,
    folder: tempfile::TempDir,
}

impl TestCloud {
    /// Starts the synthesized stack on free ports, with its state in a temporary directory.
    pub async fn start() -> Self {
        Self::start_with(Ports::default()).await
    }

    /// Like [`TestCloud::start`], but without snapshot workers: jobs stay in the queue, and nothing
    /// but the test writes to the tables.
    pub async fn start_without_snapshots() -> Self {
        let ports = Ports { snapshot_builder: None, ..Ports::default() };
        Self::start_configured(ports, |config| config.snapshots.enabled = false).await
    }

    /// Like [`TestCloud::start`], but with the given ports instead of the default ones.
    pub async fn start_with(ports: Ports) -> Self {
        Self::start_configured(ports, |_| {}).await
    }

    /// Like [`TestCloud::start_with`], but with a modified configuration.
    pub async fn start_configured(ports: Ports, configure: impl FnOnce(&mut Config)) -> Self {
        Self::start_changed(ports, configure, |_| {}).await
    }

    /// Like [`TestCloud::start_configured`], but with a modified template.
    pub async fn start_changed(
        ports: Ports,
        configure: impl FnOnce(&mut Config),
        change: Change,
    ) -> Self {
        let mut config = Config::default();
        configure(&mut config);
        let (folder, key) = (tempfile::tempdir().unwrap(), KeyPair::generate().unwrap());
        let public = key.public();
        config.tokens.keys.push(TokenKey { id: public.id, public_key: public.public_key });
        Self::start_in(folder, key, (config, change), ports).await
    }

    /// Shuts the stack down in an orderly way: requests in progress are completed.
    pub async fn end(self) {
        self.end.send(()).unwrap();
        self.served.await.unwrap();
    }

    /// Kills the stack and starts it again from its state directory.
    pub async fn kill_and_start(self, ports: Ports) -> Self {
        self.served.abort();
        let _ = self.served.await;
        drop(self.queues);
        Self::start_in(self.folder, self.key, (self.config, self.change), ports).await
    }

    async fn start_in(
        folder: tempfile::TempDir,
        key: KeyPair,
        (config, change): (Config, Change),
        ports: Ports,
    ) -> Self {
        let template = cellar_stack(&config, Architecture::X86_64).unwrap();
        let mut json = serde_json::from_str(&template.to_json()).unwrap();
        change(&mut json);
        let template = Template::from_json(&json.to_string()).unwrap();
        let state = StateFolder::new(folder.path().join(STATE));
        let options = Options { stack: config.stack.clone(), port: 0 };
        let cloud = LocalCloud::start_with(&template, &state, &options, ports).await.unwrap();
        let queues = template
            .resources()
            .filter_map(|(logical_id, _)| Some((logical_id.to_owned(), cloud.queue(logical_id)?)));
        let (queues, url, database_url) =
            (queues.collect(), cloud.url().to_owned(), cloud.database_url());
        let buckets_url = cloud.buckets_url();
        let (access_key, secret_key) = cloud.credentials();
        let credentials = (access_key.to_owned(), secret_key.to_owned());
        let (settings, meter) = (cloud.settings().clone(), Arc::clone(cloud.meter()));
        let bodies = Arc::clone(cloud.body_budget());
        let roles = Arc::clone(cloud.roles());
        let _ = meter.take();
        let (end, ended) = oneshot::channel::<()>();
        let asked = async move {
            if ended.await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        let serve = async move { cloud.serve(asked).await };
        let served = tokio::spawn(serve);
        Self {
            url,
            database_url,
            buckets_url,
            credentials,
            settings,
            meter,
            bodies,
            roles,
            key,
            config,
            change,
            queues,
            served,
            end,
            folder,
        }
    }

    /// Returns the path of the state directory.
    pub fn state_path(&self) -> PathBuf {
        self.folder.path().join(STATE)
    }

    /// Returns the queue with the given logical id.
    pub fn queue(&self, logical_id: &str) -> &Arc<LocalQueue> {
        &self.queues[logical_id]
    }

    /// Returns token claims that this stack accepts.
    pub fn claims(&self, subject: &str, role: Role) -> Claims {
        let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        Claims {
            iss: self.settings.tokens.issuer.clone(),
            aud: self.settings.tokens.audience.clone(),
            sub: subject.to_owned(),
            exp: now_s + 3_600,
            nbf: None,
            iat: now_s,
            jti: uuid::Uuid::new_v4().to_string(),
            role,
            spreadsheets: Spreadsheets::all(),
        }
    }

    /// Returns a token with the given claims.
    pub fn sign(&self, claims: &Claims) -> String {
        self.key.sign(claims).unwrap()
    }

    /// Returns a token for all spreadsheets.
    pub fn token(&self, subject: &str, role: Role) -> String {
        self.sign(&self.claims(subject, role))
    }

    /// Returns a token for the given spreadsheets.
    pub fn token_for(&self, subject: &str, role: Role, logs: Vec<LogId>) -> String {
        let spreadsheets = Spreadsheets::Only(logs);
        self.sign(&Claims { spreadsheets, ..self.claims(subject, role) })
    }

    /// Returns a user's token. The catalog determines the user's access.
    pub fn token_of(&self, person: &str) -> String {
        let claims = self.claims(person, Role::Owner);
        self.sign(&Claims { spreadsheets: Spreadsheets::shared(), ..claims })
    }

    /// Returns a client with full access.
    pub fn client(&self, subject: &str) -> Client {
        Client::new(&self.url, Some(&self.token(subject, Role::Owner))).unwrap()
    }

    /// Returns the stack's tables, accessed through another endpoint such as a proxy, and a meter
    /// for them.
    pub fn tables_at(&self, endpoint: &str) -> (Arc<DynamoTables>, Arc<Meter>) {
        let meter = Arc::new(Meter::default());
        let client = self.dynamodb_client_at(endpoint);
        (Arc::new(DynamoTables::new(&self.settings, client, Arc::clone(&meter))), meter)
    }

    /// Returns the name of the PendingSnapshots table.
    pub fn pending_snapshots_table(&self) -> String {
        format!("{}-PendingSnapshotsTable", self.config.stack)
    }

    /// Returns the PendingSnapshots table and a meter for it.
    pub fn pending_snapshots(&self) -> (DynamoPendingSnapshots, Arc<Meter>) {
        let meter = Arc::new(Meter::default());
        let (table, client) = (self.pending_snapshots_table(), self.dynamodb_client());
        (DynamoPendingSnapshots::named(table, client, Arc::clone(&meter)), meter)
    }

    /// Returns a client for the stack's DynamoDB.
    pub fn dynamodb_client(&self) -> aws_sdk_dynamodb::Client {
        let (access_key, secret_key) = &self.credentials;
        client_for_endpoint(&self.database_url, access_key, secret_key)
    }

    fn dynamodb_client_at(&self, endpoint: &str) -> aws_sdk_dynamodb::Client {
        let client = self.dynamodb_client();
        let through = Through { proxy: endpoint.to_owned(), server: self.database_url.clone() };
        let config = client.config().to_builder().interceptor(through).build();
        aws_sdk_dynamodb::Client::from_conf(config)
    }

    /// Returns a client for the stack's S3.
    pub fn s3_client(&self) -> aws_sdk_s3::Client {
        let (access_key, secret_key) = &self.credentials;
        s3::client_for_endpoint(&self.buckets_url, access_key, secret_key)
    }

    /// Returns the stack's bucket and a meter for it.
    pub fn blobs(&self) -> (S3Blobs, Arc<Meter>) {
        let meter = Arc::new(Meter::default());
        let bucket = self.settings.bucket.clone();
        (S3Blobs::new(bucket, self.s3_client(), Arc::clone(&meter)), meter)
    }

    /// Returns a log service that uses `tables` and has an empty cache.
    pub fn logs(tables: &Arc<DynamoTables>) -> Logs {
        let (entries, segments) = (Arc::clone(tables), Arc::clone(tables));
        let blobs = Arc::new(MemoryBlobs::new(Arc::new(SystemClock)));
        Logs::new(entries, segments, blobs, Arc::new(SystemClock), Arc::new(SystemRandom))
    }

    /// Starts another API process, which accesses the stack's tables through the given endpoint.
    /// Returns the API's URL.
    pub async fn another_api(&self, database_url: &str) -> String {
        self.api_with(database_url, &self.settings).await
    }

    /// Starts an API process that treats the tables as restored, with the given incarnation (number
    /// of restores). Returns the API's URL.
    pub async fn api_at_incarnation(&self, incarnation: u32) -> String {
        let settings = ApiSettings { incarnation, ..self.settings.clone() };
        self.api_told(&settings).await
    }

    /// Starts an API process with the given settings. Returns the API's URL.
    pub async fn api_told(&self, settings: &ApiSettings) -> String {
        self.api_with(&self.database_url, settings).await
    }

    /// Starts another API process with the given clock. Returns the API's URL.
    pub async fn api_at(&self, clock: Arc<dyn Clock>) -> String {
        let (dynamodb, s3) = (self.dynamodb_client(), self.s3_client());
        let state = ApiState::with_pokes(&self.settings, dynamodb, s3, Arc::new(NoPokes), clock);
        Self::serve(state.unwrap()).await
    }

    async fn api_with(&self, database_url: &str, settings: &ApiSettings) -> String {
        let dynamodb = self.dynamodb_client_at(database_url);
        Self::serve(ApiState::new(settings, dynamodb, self.s3_client()).unwrap()).await
    }

    async fn serve(state: ApiState) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, api::router(state)).await.unwrap() });
        url
    }
}

/// Sends requests that are signed for a server to a proxy instead. The proxy forwards them
/// unchanged.
#[derive(Debug)]
struct Through {
    proxy: String,
    server: String,
}

impl Intercept for Through {
    fn name(&self) -> &'static str {
        "through a proxy"
    }

    fn modify_before_transmit(
        &self,
        context: &mut BeforeTransmitInterceptorContextMut<'_>,
        _components: &RuntimeComponents,
        _config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let request = context.request_mut();
        let url = request.uri().replacen(&self.server, &self.proxy, 1);
        request.set_uri(url)?;
        let host = self.server.trim_start_matches("http://").to_owned();
        request.headers_mut().insert("host", host);
        Ok(())
    }
}
