//! Starts, runs and stops a local cloud.

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use cellar_engine::meter::Meter;
use cellar_engine::ports::{Clock, PendingTags};
use cellar_engine::system::SystemClock;
use cellar_runtime::api::{self, ApiState, BodyBudget};
use cellar_runtime::settings::{ApiSettings, SnapshotSettings};
use cellar_runtime::snapshot::{SnapshotClients, levels_builder};
use cellar_stacks::template::Template;
use dynoxide::Database;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::buckets::Buckets;
use crate::database;
use crate::error::LocalError;
use crate::events::{EventSources, Surroundings};
use crate::functions::{EventFunctions, MakeBuilder, snapshot_settings, url_function};
use crate::names::Names;
use crate::pokes::LocalPokes;
use crate::queues::{self, LocalQueue, Queues};
use crate::roles::Roles;
use crate::server::ServerThread;
use crate::services::Services;
use crate::state::{Credentials, Endpoints, Lock, Running, SnapshotEndpoints, StateFolder};
use crate::store::EventStore;
use crate::{cors, serving, tables};

/// How long the event sources may take to end.
const SOURCES_END: Duration = Duration::from_secs(3);
const STOP_POLL: Duration = Duration::from_millis(200);

/// What a template does not say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The stack's name.
    pub stack: String,
    /// The port on 127.0.0.1; 0 for any that is free.
    pub port: u16,
}

/// Parts of the world that tests may replace.
#[derive(Clone)]
pub struct Ports {
    /// The time of queues, of event sources and of objects that expire.
    pub clock: Arc<dyn Clock>,
    /// The tags of uploads; those of the local bucket if none.
    pub pending_tags: Option<Arc<dyn PendingTags>>,
    /// What makes the content of snapshots; without it their jobs wait in the queue.
    pub snapshot_builder: Option<MakeBuilder>,
}

impl Default for Ports {
    fn default() -> Self {
        let snapshot_builder: MakeBuilder = Arc::new(levels_builder);
        let clock = Arc::new(SystemClock);
        Self { clock, pending_tags: None, snapshot_builder: Some(snapshot_builder) }
    }
}

/// A cloud that is ready: its tables are there and its URL is bound; [`LocalCloud::serve`] runs it.
#[derive(Debug)]
pub struct LocalCloud {
    listener: TcpListener,
    router: Router,
    url: String,
    settings: ApiSettings,
    meter: Arc<Meter>,
    bodies: Arc<BodyBudget>,
    folder: StateFolder,
    credentials: Credentials,
    roles: Arc<Roles>,
    queues: Queues,
    // In the order of dropping: the sources and the servers end before the folder is free for
    // another.
    sources: EventSources,
    pokes: Arc<LocalPokes>,
    database: ServerThread,
    buckets: ServerThread,
    queue_server: ServerThread,
    _lock: Lock,
}

impl LocalCloud {
    /// Makes the template's resources in the folder, or takes them over as they were left there.
    ///
    /// # Errors
    /// [`LocalError`]: the folder is in use or damaged, the port is taken, or the template has
    /// something that cannot run here. Nothing that was stored is changed then.
    pub async fn start(
        template: &Template,
        folder: &StateFolder,
        options: &Options,
    ) -> Result<Self, LocalError> {
        Self::start_with(template, folder, options, Ports::default()).await
    }

    /// As [`LocalCloud::start`], with parts of the world replaced.
    ///
    /// # Errors
    /// As [`LocalCloud::start`].
    pub async fn start_with(
        template: &Template,
        folder: &StateFolder,
        options: &Options,
        ports: Ports,
    ) -> Result<Self, LocalError> {
        let lock = folder.lock()?;
        let mut manifest = folder.open(&options.stack)?;
        let (listener, url) = listen(options.port).await?;
        let names = Names { template, stack: &options.stack, url: url.clone() };
        let function = url_function(template, &names)?;
        let database = database::open(&folder.database())?;
        manifest.tables = tables::create(&database, template, &names, &manifest.tables)?;
        let buckets = Buckets::open(folder, template, &names, &manifest.buckets)?;
        manifest.buckets = buckets.names();
        let credentials = folder.credentials()?;
        let roles = Arc::new(Roles::open(template, &names, &credentials)?);
        let buckets = buckets.serve(&roles, &ports.clock).await?;
        let server = database::start(database.clone(), Arc::clone(&roles)).await?;
        let services = Services {
            database_url: server.url(),
            buckets_url: buckets.url(),
            roles: Arc::clone(&roles),
        };
        let SnapshotClients { dynamodb, s3, .. } = services.clients(&function.id, &ports.clock)?;
        let (queues, sources) = Events { ports, services: &services, database: &database }
            .open(template, &names, folder)?;
        let queue_server = queues::start(queues.clone(), Arc::clone(&roles)).await?;
        folder.record(&manifest)?;
        folder.record_template(&template.to_json())?;
        let pokes = Arc::new(LocalPokes::default());
        let (followed, clock) = (Arc::clone(&pokes) as _, Arc::new(SystemClock));
        let state = ApiState::with_pokes(&function.settings, dynamodb, s3, followed, clock)?;
        let (meter, bodies) = (Arc::clone(state.meter()), Arc::clone(state.body_budget()));
        state.warm_up().await;
        let router = match &function.cors {
            Some(property) => api::router(state).layer(cors::layer(property)),
            None => api::router(state),
        };
        let snapshots = snapshot_settings(template, &names)?;
        let servers = Servers { database: &server, buckets: &buckets, queues: &queue_server };
        folder.record_endpoints(&servers.endpoints(&function.settings, snapshots))?;
        folder.record_running(&Running {
            pid: std::process::id(),
            url: url.clone(),
            started_s: now_s(),
        })?;
        Ok(Self {
            listener,
            router,
            url,
            settings: function.settings,
            meter,
            bodies,
            folder: folder.clone(),
            credentials,
            roles,
            queues,
            sources,
            pokes,
            database: server,
            buckets,
            queue_server,
            _lock: lock,
        })
    }

    /// The URL of the API, with a slash at its end.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What the template tells the API's function.
    #[must_use]
    pub fn settings(&self) -> &ApiSettings {
        &self.settings
    }

    /// The endpoint of the embedded DynamoDB.
    #[must_use]
    pub fn database_url(&self) -> String {
        self.database.url()
    }

    /// The endpoint of the embedded S3; the bucket is in the path.
    #[must_use]
    pub fn buckets_url(&self) -> String {
        self.buckets.url()
    }

    /// The endpoint of the queues, which speaks as SQS.
    #[must_use]
    pub fn queues_url(&self) -> String {
        self.queue_server.url()
    }

    /// The access key and the secret key of the operator, with which the embedded DynamoDB, the queues and
    /// the embedded S3 let everything be done.
    #[must_use]
    pub fn credentials(&self) -> (&str, &str) {
        (&self.credentials.access_key, &self.credentials.secret_key)
    }

    /// What its functions may do, and did.
    #[must_use]
    pub fn roles(&self) -> &Arc<Roles> {
        &self.roles
    }

    /// Counts what the API consumes of it.
    #[must_use]
    pub fn meter(&self) -> &Arc<Meter> {
        &self.meter
    }

    /// Counts the bytes of requests' bodies that its API keeps.
    #[must_use]
    pub fn bodies(&self) -> &Arc<BodyBudget> {
        &self.bodies
    }

    /// The queue with this logical id in the template.
    #[must_use]
    pub fn queue(&self, logical_id: &str) -> Option<Arc<LocalQueue>> {
        self.queues.named(logical_id).cloned()
    }

    /// Serves until `shutdown` resolves, or somebody asks for the end through the state folder
    /// ([`StateFolder::request_stop`]), and the requests under way are answered.
    pub async fn serve(self, shutdown: impl Future<Output = ()> + Send + 'static) {
        let (folder, pokes) = (self.folder.clone(), self.pokes);
        let end = async move {
            tokio::select! {
                () = shutdown => {}
                () = stop_requested(&folder) => {}
            }
            // Requests under way are waited for: these have no end of their own.
            pokes.end();
        };
        let (stop, stopped) = watch::channel(false);
        let written = self.sources.written();
        let mut sources = self.sources.run(&stopped);
        let router =
            self.router.layer(from_fn(move |request, next| tell(written.clone(), request, next)));
        serving::serve(self.listener, router, end).await;
        // Each source ends between two calls of its function; what takes longer is ended, and
        // comes again at the next start.
        stop.send_replace(true);
        let all = async { while sources.join_next().await.is_some() {} };
        if tokio::time::timeout(SOURCES_END, all).await.is_err() {
            sources.shutdown().await;
        }
    }
}

/// What answers instead of AWS.
struct Servers<'a> {
    database: &'a ServerThread,
    buckets: &'a ServerThread,
    queues: &'a ServerThread,
}

impl Servers<'_> {
    fn endpoints(&self, api: &ApiSettings, snapshots: Option<SnapshotSettings>) -> Endpoints {
        Endpoints {
            database_url: self.database.url(),
            entry_table: api.entry_table.clone(),
            segment_table: api.segment_table.clone(),
            event_stream_table: Some(api.event_stream_table.clone()),
            feed_table: Some(api.feed_table.clone()),
            tables_incarnation: api.incarnation,
            buckets_url: self.buckets.url(),
            bucket: api.bucket.clone(),
            snapshots: snapshots.map(|settings| SnapshotEndpoints {
                queues_url: self.queues.url(),
                snapshot_queue: settings.snapshot_queue,
                pending_snapshots_table: settings.pending_snapshots_table,
            }),
        }
    }
}

/// Tells the event sources of a request that may have written.
async fn tell(written: watch::Sender<()>, request: Request, next: Next) -> Response {
    let may_write = !request.method().is_safe();
    let response = next.run(request).await;
    if may_write {
        written.send_replace(());
    }
    response
}

/// What the template's queues and event sources run on.
struct Events<'a> {
    ports: Ports,
    services: &'a Services,
    database: &'a Database,
}

impl Events<'_> {
    fn open(
        self,
        template: &Template,
        names: &Names<'_>,
        folder: &StateFolder,
    ) -> Result<(Queues, EventSources), LocalError> {
        let Self { ports, services, database } = self;
        let Ports { clock, pending_tags, snapshot_builder: builder } = ports;
        let store = EventStore::open(&folder.events())?;
        let queues = Queues::open(template, names, &store, &clock)?;
        let (roles, clock) = (&services.roles, &clock);
        let surroundings = Surroundings { database, store: &store, queues: &queues, clock, roles };
        let functions = EventFunctions {
            template,
            names,
            queues: &queues,
            services,
            clock,
            pending_tags,
            builder,
        };
        let function = |id: &str| functions.named(id);
        let sources = EventSources::open(template, names, &surroundings, function)?;
        Ok((queues, sources))
    }
}

async fn stop_requested(folder: &StateFolder) {
    while !folder.stop_requested() {
        tokio::time::sleep(STOP_POLL).await;
    }
}

/// Binds the port; gives the URL, too.
async fn listen(port: u16) -> Result<(TcpListener, String), LocalError> {
    let fault = |error: io::Error| match error.kind() {
        io::ErrorKind::AddrInUse => LocalError::PortInUse { port },
        _ => LocalError::Server { what: "the local URL", why: error.to_string() },
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(fault)?;
    let address = listener.local_addr().map_err(fault)?;
    Ok((listener, format!("http://{address}/")))
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
