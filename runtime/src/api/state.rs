//! What the handlers share.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cellar_base::identity::LogId;
use cellar_base::limits::MAX_UPKEEP_MS;
use cellar_catalog::access::Principal;
use cellar_catalog::stream::StreamName;
use cellar_engine::catalog::CatalogStore;
use cellar_engine::feed::FeedReader;
use cellar_engine::logs::{Logs, UpkeepOutcome};
use cellar_engine::meter::Meter;
use cellar_engine::ports::{Blobs, Clock, Entries, Index, Lists, Pokes, Random, Segments, Streams};
use cellar_log::upkeep::LogPolicy;
use tokio::sync::Mutex;
#[cfg(feature = "aws")]
use {
    crate::dynamodb::{DynamoFeed, DynamoStreams, DynamoTables},
    crate::s3::S3Blobs,
    crate::token::HttpKeySource,
    cellar_engine::ports::NoPokes,
    cellar_engine::system::{SystemClock, SystemRandom},
};

use super::bodies::Bodies;
use crate::settings::{ApiSettings, SettingsError};
use crate::token::{Issuers, KeySource, TokenError};

/// How long an answer of `health` is kept: it needs no token, and must not become a way to spend
/// the owner's money.
const HEALTH_AGE: Duration = Duration::from_secs(10);

/// The state of the API in one process.
#[derive(Clone)]
pub struct ApiState {
    shared: Arc<Shared>,
}

struct Shared {
    logs: Logs,
    catalog: CatalogStore,
    feed: FeedReader,
    lists: Arc<dyn Lists>,
    streams: Arc<dyn Streams>,
    blobs: Arc<dyn Blobs>,
    clock: Arc<dyn Clock>,
    issuers: Issuers,
    stack: String,
    meter: Arc<Meter>,
    request_timeout: Duration,
    upkeep: Option<LogPolicy>,
    pokes: Arc<dyn Pokes>,
    reachable: Mutex<Option<(Instant, ReachableTables)>>,
    bodies: Arc<Bodies>,
}

/// Each table and whether it answers.
pub(super) type ReachableTables = [(&'static str, bool); 3];

/// What an [`ApiState`] works on.
pub struct ApiPorts {
    /// The entries of logs.
    pub entries: Arc<dyn Entries>,
    /// Their segments.
    pub segments: Arc<dyn Segments>,
    /// What is known about them.
    pub streams: Arc<dyn Streams>,
    /// The feed of what was appended to them.
    pub index: Arc<dyn Index>,
    /// People's lists of spreadsheets.
    pub lists: Arc<dyn Lists>,
    /// The objects of the stack.
    pub blobs: Arc<dyn Blobs>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Jitter.
    pub random: Arc<dyn Random>,
    /// Who is told of whatever is appended.
    pub pokes: Arc<dyn Pokes>,
    /// The public keys of other issuers of tokens.
    pub keys: Arc<dyn KeySource>,
    /// Counts what the ports consume.
    pub meter: Arc<Meter>,
}

#[cfg(feature = "aws")]
impl ApiState {
    /// The state for these settings over DynamoDB and S3.
    ///
    /// # Errors
    /// [`SettingsError::Keys`] if a public key is none.
    pub fn new(
        settings: &ApiSettings,
        dynamodb: aws_sdk_dynamodb::Client,
        s3: aws_sdk_s3::Client,
    ) -> Result<Self, SettingsError> {
        Self::with_pokes(settings, dynamodb, s3, Arc::new(NoPokes), Arc::new(SystemClock))
    }

    /// The same by this clock, telling followers of whatever is appended.
    ///
    /// # Errors
    /// As [`ApiState::new`].
    pub fn with_pokes(
        settings: &ApiSettings,
        dynamodb: aws_sdk_dynamodb::Client,
        s3: aws_sdk_s3::Client,
        pokes: Arc<dyn Pokes>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, SettingsError> {
        let meter = Arc::new(Meter::default());
        let (table, client) = (settings.event_stream_table.as_str(), dynamodb.clone());
        let streams = Arc::new(DynamoStreams::named(table, client, Arc::clone(&meter)));
        let (table, client) = (settings.feed_table.as_str(), dynamodb.clone());
        let index = Arc::new(DynamoFeed::named(table, client, Arc::clone(&meter)));
        let tables = Arc::new(DynamoTables::new(settings, dynamodb, Arc::clone(&meter)));
        let blobs = Arc::new(S3Blobs::new(settings.bucket.clone(), s3, Arc::clone(&meter)));
        let random = Arc::new(SystemRandom);
        let ports = ApiPorts {
            entries: Arc::clone(&tables) as _,
            segments: tables,
            streams,
            index: Arc::clone(&index) as _,
            lists: index,
            blobs,
            clock,
            random,
            pokes,
            keys: Arc::new(HttpKeySource::default()),
            meter,
        };
        Self::over(settings, ports)
    }
}

impl ApiState {
    /// The state for these settings over any ports.
    ///
    /// # Errors
    /// As [`ApiState::new`].
    pub fn over(settings: &ApiSettings, ports: ApiPorts) -> Result<Self, SettingsError> {
        let ApiPorts {
            entries,
            segments,
            streams,
            index,
            lists,
            blobs,
            clock,
            random,
            pokes,
            keys,
            meter,
        } = ports;
        let catalog =
            CatalogStore::new(Arc::clone(&streams), Arc::clone(&clock), Arc::clone(&random));
        let shared = Shared {
            catalog,
            feed: FeedReader::new(index, settings.incarnation),
            lists,
            logs: Logs::new(entries, segments, Arc::clone(&blobs), Arc::clone(&clock), random)
                .with_incarnation(settings.incarnation)
                .with_pokes(Arc::clone(&pokes)),
            streams,
            pokes,
            blobs,
            clock,
            issuers: Issuers::new(&settings.tokens, &keys)?,
            stack: settings.stack.clone(),
            meter,
            request_timeout: Duration::from_millis(settings.request_timeout_ms),
            upkeep: settings.upkeep,
            reachable: Mutex::new(None),
            bodies: Arc::default(),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    pub(super) fn logs(&self) -> &Logs {
        &self.shared.logs
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

    /// Unix seconds.
    pub(super) fn now_s(&self) -> u64 {
        self.shared.clock.now_ms() / 1_000
    }

    pub(super) fn pokes(&self) -> &dyn Pokes {
        self.shared.pokes.as_ref()
    }

    /// Does what a log needs after an append. The edits are in the log already: that something
    /// fails here is nothing to tell their client, and whoever appends next does it.
    pub(super) async fn upkeep(&self, log: LogId) {
        let Some(policy) = &self.shared.upkeep else { return };
        let upkeep = self.shared.logs.upkeep(log, policy);
        match tokio::time::timeout(Duration::from_millis(MAX_UPKEEP_MS), upkeep).await {
            Ok(Ok(UpkeepOutcome::Nothing)) => {}
            Ok(Ok(upkept)) => tracing::info!(%log, ?upkept, "upkeep"),
            Ok(Err(error)) => tracing::warn!(%log, %error, "upkeep failed"),
            Err(_) => tracing::warn!(%log, "upkeep took too long"),
        }
    }

    /// The objects of the stack.
    #[must_use]
    pub fn blobs(&self) -> &Arc<dyn Blobs> {
        &self.shared.blobs
    }

    /// The streams of the stack.
    #[must_use]
    pub fn streams(&self) -> &Arc<dyn Streams> {
        &self.shared.streams
    }

    /// Who the holder of this token is, as of now.
    pub(super) async fn verify(&self, token: &str) -> Result<Principal, TokenError> {
        self.shared.issuers.verify(token, self.now_s()).await
    }

    pub(super) fn request_timeout(&self) -> Duration {
        self.shared.request_timeout
    }

    pub(super) fn stack(&self) -> &str {
        &self.shared.stack
    }

    /// Counts what the requests of this process consume.
    #[must_use]
    pub fn meter(&self) -> &Arc<Meter> {
        &self.shared.meter
    }

    /// Counts the bytes of the bodies that this process keeps.
    #[must_use]
    pub fn bodies(&self) -> &Arc<Bodies> {
        &self.shared.bodies
    }

    /// Makes the first calls to the tables, so that the first request finds connections open.
    pub async fn warm_up(&self) {
        for (table, ok) in self.reachable().await {
            if !ok {
                tracing::warn!(table, "a table does not answer");
            }
        }
    }

    /// Whether the tables answer, asked at most once in `HEALTH_AGE`.
    pub(super) async fn reachable(&self) -> ReachableTables {
        let mut kept = self.shared.reachable.lock().await;
        if let Some((asked, tables)) = *kept
            && asked.elapsed() < HEALTH_AGE
        {
            return tables;
        }
        let (logs, streams) =
            tokio::join!(self.shared.logs.reachable(), answers(self.streams().as_ref()));
        let [entries, segments] = logs;
        let tables = [entries, segments, ("streams", streams)];
        *kept = Some((Instant::now(), tables));
        tables
    }
}

/// Whether the EventStream table answers, asked for a stream that nobody writes.
async fn answers(streams: &dyn Streams) -> bool {
    let Ok(nobodys) = StreamName::new("Health", "nobody") else { return false };
    streams.tip(&nobodys, false).await.is_ok()
}
