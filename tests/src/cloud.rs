//! A local cloud in this process, with tokens for it.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use cellar::Client;
use cellar_core::access::Role;
use cellar_core::identity::LogId;
use cellar_engine::logs::Logs;
use cellar_engine::meter::Meter;
use cellar_engine::system::{SystemClock, SystemRandom};
use cellar_local::{LocalCloud, Options, StateFolder};
use cellar_runtime::api::{self, ApiState};
use cellar_runtime::dynamodb::{DynamoTables, client_for_endpoint};
use cellar_runtime::s3::{self, S3Blobs};
use cellar_runtime::settings::ApiSettings;
use cellar_runtime::token::{Claims, KeyPair, Spreadsheets};
use cellar_stacks::config::TokenKey;
use cellar_stacks::{Architecture, Config, cellar_stack};

/// A cloud that runs until the test ends.
pub struct TestCloud {
    /// The URL of its API.
    pub url: String,
    /// The endpoint of its DynamoDB.
    pub database_url: String,
    /// The endpoint of its S3.
    pub buckets_url: String,
    /// The access key and the secret key of its S3.
    pub bucket_credentials: (String, String),
    /// What its API is told.
    pub settings: ApiSettings,
    /// What its API consumes.
    pub meter: Arc<Meter>,
    key: KeyPair,
    _folder: tempfile::TempDir,
}

impl TestCloud {
    /// Starts the synthesized stack on free ports, in a folder of its own.
    pub async fn start() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut config = Config::default();
        let public = key.public();
        config.tokens.keys.push(TokenKey { id: public.id, public_key: public.public_key });
        let template = cellar_stack(&config, Architecture::X86_64).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let state = StateFolder::new(folder.path().join("local"));
        let options = Options { stack: config.stack.clone(), port: 0 };
        let cloud = LocalCloud::start(&template, &state, &options).await.unwrap();
        let test = Self {
            url: cloud.url().to_owned(),
            database_url: cloud.database_url(),
            buckets_url: cloud.buckets_url(),
            bucket_credentials: {
                let (access_key, secret_key) = cloud.bucket_credentials();
                (access_key.to_owned(), secret_key.to_owned())
            },
            settings: cloud.settings().clone(),
            meter: Arc::clone(cloud.meter()),
            key,
            _folder: folder,
        };
        tokio::spawn(cloud.serve(std::future::pending()));
        let _ = test.meter.take();
        test
    }

    /// Claims of a token that this cloud accepts.
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

    /// A token with these claims.
    pub fn sign(&self, claims: &Claims) -> String {
        self.key.sign(claims).unwrap()
    }

    /// A token for all spreadsheets.
    pub fn token(&self, subject: &str, role: Role) -> String {
        self.sign(&self.claims(subject, role))
    }

    /// A token for some spreadsheets.
    pub fn token_for(&self, subject: &str, role: Role, logs: Vec<LogId>) -> String {
        let spreadsheets = Spreadsheets::Only(logs);
        self.sign(&Claims { spreadsheets, ..self.claims(subject, role) })
    }

    /// A client that may do everything.
    pub fn client(&self, subject: &str) -> Client {
        Client::new(&self.url, Some(&self.token(subject, Role::Owner))).unwrap()
    }

    /// The tables of this cloud at another endpoint (a proxy before them), and their meter.
    pub fn tables_at(&self, endpoint: &str) -> (Arc<DynamoTables>, Arc<Meter>) {
        let meter = Arc::new(Meter::default());
        let client = client_for_endpoint(endpoint);
        (Arc::new(DynamoTables::new(&self.settings, client, Arc::clone(&meter))), meter)
    }

    /// A client of this cloud's S3.
    pub fn s3_client(&self) -> aws_sdk_s3::Client {
        let (access_key, secret_key) = &self.bucket_credentials;
        s3::client_for_endpoint(&self.buckets_url, access_key, secret_key)
    }

    /// The bucket of this cloud, and its meter.
    pub fn blobs(&self) -> (S3Blobs, Arc<Meter>) {
        let meter = Arc::new(Meter::default());
        let bucket = self.settings.bucket.clone();
        (S3Blobs::new(bucket, self.s3_client(), Arc::clone(&meter)), meter)
    }

    /// The log service over these tables, as a process that knows nothing yet.
    pub fn logs(tables: &Arc<DynamoTables>) -> Logs {
        let (entries, segments) = (Arc::clone(tables), Arc::clone(tables));
        Logs::new(entries, segments, Arc::new(SystemClock), Arc::new(SystemRandom))
    }

    /// Another process of the API on this cloud's tables, at another endpoint; its URL.
    pub async fn another_api(&self, database_url: &str) -> String {
        let state =
            ApiState::new(&self.settings, client_for_endpoint(database_url), self.s3_client())
                .unwrap();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, api::router(state)).await.unwrap() });
        url
    }
}
