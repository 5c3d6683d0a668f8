//! State shared by all request handlers.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::HeaderValue;
use cellar_api::wire::LoginIssuer;
use cellar_base::identity::LogId;
use cellar_base::limits::MAX_UPKEEP_MS;
use cellar_catalog::access::Principal;
use cellar_catalog::oidc::OidcIssuer;
use cellar_catalog::stream::StreamName;
use cellar_engine::catalog::CatalogStore;
use cellar_engine::feed::FeedReader;
use cellar_engine::logs::{Logs, UpkeepOutcome};
use cellar_engine::meter::Meter;
use cellar_engine::ports::{
    BlobKey, Blobs, Clock, Entries, FeedTable, Lists, Pokes, Presences, Random, ReadConsistency,
    Segments, Streams,
};
use cellar_engine::presence::PresenceStore;
use cellar_log::upkeep::LogPolicy;
use tokio::sync::{Mutex, OnceCell};
#[cfg(feature = "aws")]
use {
    crate::dynamodb::{DynamoFeed, DynamoStreams, DynamoTables},
    crate::s3::S3Blobs,
    crate::token::HttpKeySource,
    cellar_engine::ports::NoPokes,
    cellar_engine::system::{SystemClock, SystemRandom},
};

use super::bodies::BodyBudget;
use super::page_policy::content_security_policy;
use crate::settings::{ApiSettings, SettingsError};
use crate::token::{Issuers, KeySource, TokenError};

/// Maximum age of the check whose result the `health` endpoint reports. The endpoint requires no
/// token, so anyone could cause costs if every request checked the tables.
const MAX_HEALTH_AGE: Duration = Duration::from_secs(10);

/// Key and validity period of a URL that is signed to find the origin of the bucket, and then dropped.
const POLICY_KEY: &str = "page";
const POLICY_URL_S: u64 = 60;

/// State that all requests of one process share. Clones refer to the same state.
#[derive(Clone)]
pub struct ApiState {
    shared: Arc<Shared>,
}

struct Shared {
    logs: Logs,
    presence: PresenceStore,
    catalog: CatalogStore,
    feed: FeedReader,
    lists: Arc<dyn Lists>,
    streams: Arc<dyn Streams>,
    blobs: Arc<dyn Blobs>,
    clock: Arc<dyn Clock>,
    issuers: Issuers,
    oidc_issuers: Vec<OidcIssuer>,
    page_policy: OnceCell<HeaderValue>,
    stack: String,
    meter: Arc<Meter>,
    request_timeout: Duration,
    log_policy: Option<LogPolicy>,
    pokes: Arc<dyn Pokes>,
    cached_table_check: Mutex<Option<TableCheck>>,
    body_budget: Arc<BodyBudget>,
}

/// Whether a table responds.
#[derive(Clone, Copy)]
pub(super) struct TableHealth {
    pub(super) name: &'static str,
    pub(super) responds: bool,
}

/// The result of checking whether the three tables respond.
#[derive(Clone, Copy)]
struct TableCheck {
    checked_at: Instant,
    tables: [TableHealth; 3],
}

/// The tables, the bucket and the other dependencies of the API.
pub struct ApiPorts {
    /// The Entry table.
    pub entries: Arc<dyn Entries>,
    /// The Segment table.
    pub segments: Arc<dyn Segments>,
    /// Presence in the Segment table.
    pub presences: Arc<dyn Presences>,
    /// The EventStream table.
    pub streams: Arc<dyn Streams>,
    /// The Feed table.
    pub index: Arc<dyn FeedTable>,
    /// The spreadsheet lists, which are stored in the Feed table.
    pub lists: Arc<dyn Lists>,
    /// The stack's S3 bucket.
    pub blobs: Arc<dyn Blobs>,
    pub clock: Arc<dyn Clock>,
    /// Source of jitter.
    pub random: Arc<dyn Random>,
    /// Notifies clients of appended entries.
    pub pokes: Arc<dyn Pokes>,
    /// Fetches the public keys of OpenID Connect (OIDC) issuers.
    pub keys: Arc<dyn KeySource>,
    /// Counts the requests and request units that the ports consume.
    pub meter: Arc<Meter>,
}

#[cfg(feature = "aws")]
impl ApiState {
    /// Creates the state of an API that uses DynamoDB, S3 and the system clock. The API does not
    /// send pokes (notifications of new entries).
    ///
    /// # Errors
    ///
    /// Returns a [`SettingsError`] if a public key or an issuer is invalid.
    pub fn new(
        settings: &ApiSettings,
        dynamodb: aws_sdk_dynamodb::Client,
        s3: aws_sdk_s3::Client,
    ) -> Result<Self, SettingsError> {
        Self::with_pokes(settings, dynamodb, s3, Arc::new(NoPokes), Arc::new(SystemClock))
    }

    /// Like [`ApiState::new`], but with the given clock, and with a channel for pokes
    /// (notifications of new entries).
    ///
    /// # Errors
    ///
    /// Returns a [`SettingsError`] if a public key or an issuer is invalid.
    pub fn with_pokes(
        settings: &ApiSettings,
        dynamodb: aws_sdk_dynamodb::Client,
        s3: aws_sdk_s3::Client,
        pokes: Arc<dyn Pokes>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, SettingsError> {
        let meter = Arc::new(Meter::default());
        let stream_table = DynamoStreams::named(
            &settings.event_stream_table,
            dynamodb.clone(),
            Arc::clone(&meter),
        );
        let feed_table =
            Arc::new(DynamoFeed::named(&settings.feed_table, dynamodb.clone(), Arc::clone(&meter)));
        let log_tables = Arc::new(DynamoTables::new(settings, dynamodb, Arc::clone(&meter)));
        let blobs = S3Blobs::new(settings.bucket.clone(), s3, Arc::clone(&meter));
        let ports = ApiPorts {
            entries: Arc::clone(&log_tables) as _,
            segments: Arc::clone(&log_tables) as _,
            presences: log_tables,
            streams: Arc::new(stream_table),
            index: Arc::clone(&feed_table) as _,
            lists: feed_table,
            blobs: Arc::new(blobs),
            clock,
            random: Arc::new(SystemRandom),
            pokes,
            keys: Arc::new(HttpKeySource::default()),
            meter,
        };
        Self::from_ports(settings, ports)
    }
}

impl ApiState {
    /// Creates the state of an API that uses the given ports.
    ///
    /// # Errors
    ///
    /// Returns a [`SettingsError`] if a public key or an issuer is invalid.
    pub fn from_ports(settings: &ApiSettings, ports: ApiPorts) -> Result<Self, SettingsError> {
        let catalog = CatalogStore::new(
            Arc::clone(&ports.streams),
            Arc::clone(&ports.clock),
            Arc::clone(&ports.random),
        );
        let presence = PresenceStore::new(
            ports.presences,
            Arc::clone(&ports.clock),
            Arc::clone(&ports.random),
        );
        let logs = Logs::new(
            ports.entries,
            ports.segments,
            Arc::clone(&ports.blobs),
            Arc::clone(&ports.clock),
            ports.random,
        );
        let shared = Shared {
            catalog,
            presence,
            feed: FeedReader::new(ports.index, settings.incarnation),
            lists: ports.lists,
            logs: logs.with_incarnation(settings.incarnation).with_pokes(Arc::clone(&ports.pokes)),
            streams: ports.streams,
            pokes: ports.pokes,
            blobs: ports.blobs,
            clock: ports.clock,
            issuers: Issuers::new(&settings.tokens, &ports.keys)?,
            oidc_issuers: settings.tokens.oidc.clone(),
            page_policy: OnceCell::new(),
            stack: settings.stack.clone(),
            meter: ports.meter,
            request_timeout: Duration::from_millis(settings.request_timeout_ms),
            log_policy: settings.upkeep,
            cached_table_check: Mutex::new(None),
            body_budget: Arc::default(),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    pub(super) fn logs(&self) -> &Logs {
        &self.shared.logs
    }

    pub(super) fn presence(&self) -> &PresenceStore {
        &self.shared.presence
    }

    pub(super) fn catalog(&self) -> &CatalogStore {
        &self.shared.catalog
    }

    pub(super) fn feed(&self) -> &FeedReader {
        &self.shared.feed
    }

    pub(super) fn lists(&self) -> &dyn Lists {
        self.shared.lists.as_ref()
    }

    /// Returns the current time in Unix seconds.
    pub(super) fn now_s(&self) -> u64 {
        self.shared.clock.now_ms() / 1_000
    }

    pub(super) fn pokes(&self) -> &dyn Pokes {
        self.shared.pokes.as_ref()
    }

    /// Applies the log policy after an append: writes a Snapshot entry or starts a new log segment
    /// if necessary. Errors are only logged, because the append itself has succeeded and the next
    /// append applies the policy again.
    pub(super) async fn apply_log_policy(&self, log: LogId) {
        let Some(log_policy) = &self.shared.log_policy else { return };
        let upkeep = self.shared.logs.upkeep(log, log_policy);
        match tokio::time::timeout(Duration::from_millis(MAX_UPKEEP_MS), upkeep).await {
            Ok(Ok(UpkeepOutcome::Nothing)) => {}
            Ok(Ok(upkept)) => tracing::info!(%log, ?upkept, "applied the log policy"),
            Ok(Err(error)) => tracing::warn!(%log, %error, "applying the log policy failed"),
            Err(_elapsed) => tracing::warn!(%log, "applying the log policy timed out"),
        }
    }

    /// Returns the stack's S3 bucket.
    #[must_use]
    pub fn blobs(&self) -> &Arc<dyn Blobs> {
        &self.shared.blobs
    }

    /// Returns the stack's event streams.
    #[must_use]
    pub fn streams(&self) -> &Arc<dyn Streams> {
        &self.shared.streams
    }

    /// Verifies a token at the current time and returns the token's holder.
    pub(super) async fn verify(&self, token: &str) -> Result<Principal, TokenError> {
        self.shared.issuers.verify(token, self.now_s()).await
    }

    /// Returns the issuers with which a person can sign in on the page.
    pub(super) fn login_issuers(&self) -> Vec<LoginIssuer> {
        let to_login = |issuer: &OidcIssuer| {
            Some(LoginIssuer {
                issuer: issuer.issuer.clone(),
                client_id: issuer.client_id.clone()?,
                audience: issuer.audience.clone(),
                name: issuer.name.clone(),
            })
        };
        self.shared.oidc_issuers.iter().filter_map(to_login).collect()
    }

    /// Returns the content security policy of the page. It names the origin of presigned URLs, which
    /// is found by signing one: this sends no request. If signing fails, the next request tries again.
    pub(super) async fn page_policy(&self) -> HeaderValue {
        let build_policy = async || {
            let key = BlobKey::new(POLICY_KEY).map_err(|error| error.to_string())?;
            let signed = self.blobs().presign_get(&key, POLICY_URL_S, self.now_s()).await;
            let bucket_url = signed.map_err(|error| error.to_string())?.url;
            let policy = content_security_policy(Some(&bucket_url), &self.shared.oidc_issuers);
            HeaderValue::try_from(policy).map_err(|error| error.to_string())
        };
        match self.shared.page_policy.get_or_try_init(build_policy).await {
            Ok(policy) => policy.clone(),
            Err(error) => {
                tracing::warn!(error, "the origin of the bucket is unknown");
                HeaderValue::from_static("default-src 'self'")
            }
        }
    }

    pub(super) fn request_timeout(&self) -> Duration {
        self.shared.request_timeout
    }

    pub(super) fn stack(&self) -> &str {
        &self.shared.stack
    }

    /// Returns the meter that counts the requests and request units that this process consumes.
    #[must_use]
    pub fn meter(&self) -> &Arc<Meter> {
        &self.shared.meter
    }

    /// Returns the budgets that limit the memory for request bodies.
    #[must_use]
    pub fn body_budget(&self) -> &Arc<BodyBudget> {
        &self.shared.body_budget
    }

    /// Opens connections to the tables, so that the first request does not have to wait for them.
    pub async fn warm_up(&self) {
        for table in self.check_tables().await {
            if !table.responds {
                tracing::warn!(table = table.name, "a table does not respond");
            }
        }
    }

    /// Returns whether the tables respond. Checks them only if the last check is older than
    /// `MAX_HEALTH_AGE`.
    pub(super) async fn check_tables(&self) -> [TableHealth; 3] {
        let mut cached_check = self.shared.cached_table_check.lock().await;
        if let Some(check) = &*cached_check
            && check.checked_at.elapsed() < MAX_HEALTH_AGE
        {
            return check.tables;
        }
        let (log_tables, streams_respond) = tokio::join!(
            self.shared.logs.reachable(),
            is_event_stream_table_reachable(self.streams().as_ref())
        );
        let [entries, segments] = log_tables.map(|(name, responds)| TableHealth { name, responds });
        let streams = TableHealth { name: "streams", responds: streams_respond };
        let tables = [entries, segments, streams];
        *cached_check = Some(TableCheck { checked_at: Instant::now(), tables });
        tables
    }
}

/// Checks that the EventStream table responds, by reading an event stream that never exists.
async fn is_event_stream_table_reachable(streams: &dyn Streams) -> bool {
    let Ok(unused_name) = StreamName::new("Health", "nobody") else { return false };
    streams.tip(&unused_name, ReadConsistency::Eventual).await.is_ok()
}
