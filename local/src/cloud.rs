//! Starts, serves and stops a local stack.

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use cellar_engine::meter::Meter;
use cellar_engine::ports::{Clock, PendingTags, Pokes};
use cellar_engine::system::SystemClock;
use cellar_runtime::api::{self, ApiState, BodyBudget};
use cellar_runtime::settings::{ApiSettings, SnapshotSettings};
use cellar_runtime::snapshot::{SnapshotClients, levels_builder};
use cellar_stacks::template::Template;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::buckets::Buckets;
use crate::database::{self, DurableDatabase, OperationKind};
use crate::error::LocalError;
use crate::events::{EventSources, SourceContext};
use crate::functions::{
    EventFunctions, MakeBuilder, UrlFunction, read_snapshot_settings, read_url_function,
};
use crate::names::Names;
use crate::pokes::LocalPokes;
use crate::queues::{self, LocalQueue, Queues};
use crate::roles::Roles;
use crate::server::ServerThread;
use crate::services::{ServiceEndpoint, Services};
use crate::state::{Credentials, Endpoints, Lock, RunningStack, SnapshotEndpoints, StateFolder};
use crate::store::EventStore;
use crate::{cors, serving, tables};

/// Maximum time to wait for the event sources to stop.
const MAX_SOURCES_STOP: Duration = Duration::from_secs(3);
const STOP_POLL_PERIOD: Duration = Duration::from_millis(200);

/// Options of a local stack that the template does not define.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Name of the stack.
    pub stack: String,
    /// Port on 127.0.0.1, or 0 to select a free port.
    pub port: u16,
}

/// Dependencies that tests may replace.
#[derive(Clone)]
pub struct Ports {
    /// Clock that determines when queue messages become visible, event sources retry and objects
    /// expire.
    pub clock: Arc<dyn Clock>,
    /// Removes the expiry tags of uploaded objects. If `None`, the tags are removed in the local
    /// bucket.
    pub pending_tags: Option<Arc<dyn PendingTags>>,
    /// Creates the snapshot builder. If `None`, no snapshots are built and snapshot jobs stay in
    /// the queue.
    pub snapshot_builder: Option<MakeBuilder>,
}

impl Default for Ports {
    fn default() -> Self {
        let snapshot_builder: MakeBuilder = Arc::new(levels_builder);
        let clock = Arc::new(SystemClock);
        Self { clock, pending_tags: None, snapshot_builder: Some(snapshot_builder) }
    }
}

/// A local stack that is ready to serve: its tables exist and its port is bound.
/// [`LocalCloud::serve`] runs the stack.
#[derive(Debug)]
pub struct LocalCloud {
    listener: TcpListener,
    router: Router,
    url: String,
    settings: ApiSettings,
    meter: Arc<Meter>,
    body_budget: Arc<BodyBudget>,
    folder: StateFolder,
    credentials: Credentials,
    roles: Arc<Roles>,
    queues: Queues,
    // Rust drops fields in the order of declaration. The event sources and servers must therefore
    // be declared before the lock, so that they stop before the directory is unlocked.
    sources: EventSources,
    pokes: Arc<LocalPokes>,
    database_server: ServerThread,
    bucket_server: ServerThread,
    queue_server: ServerThread,
    _lock: Lock,
}

impl LocalCloud {
    /// Creates the template's resources in the state directory, or opens the existing resources.
    ///
    /// # Errors
    ///
    /// Returns a [`LocalError`] if the directory or the port is in use, if the directory is
    /// damaged, or if the template uses an unsupported feature. In these cases, stored data is left
    /// unchanged.
    pub async fn start(
        template: &Template,
        folder: &StateFolder,
        options: &Options,
    ) -> Result<Self, LocalError> {
        Self::start_with(template, folder, options, Ports::default()).await
    }

    /// Like [`LocalCloud::start`], but uses the given clock, tag storage and snapshot builder.
    ///
    /// # Errors
    ///
    /// Returns a [`LocalError`] in the same cases as [`LocalCloud::start`].
    pub async fn start_with(
        template: &Template,
        folder: &StateFolder,
        options: &Options,
        ports: Ports,
    ) -> Result<Self, LocalError> {
        let lock = folder.create_and_lock()?;
        let mut manifest = folder.open_manifest(&options.stack)?;
        let (listener, url) = bind_port(options.port).await?;
        let names = Names { template, stack: &options.stack, url: url.clone() };
        let function = read_url_function(template, &names)?;
        let database = database::open(&folder.database())?;
        let create_tables = |database: &_| {
            tables::create_missing_tables(database, template, &names, &manifest.tables)
        };
        manifest.tables = database.run(OperationKind::Write, create_tables).await??;
        let buckets = Buckets::open(folder, template, &names, &manifest.buckets)?;
        manifest.buckets = buckets.names();
        let credentials = folder.credentials()?;
        let roles = Arc::new(Roles::open(template, &names, &credentials)?);
        let bucket_server = buckets.serve(&roles, &url, &ports.clock)?;
        let database_server = database::start(database.clone(), Arc::clone(&roles))?;
        let services = Services {
            database: ServiceEndpoint::of(&database_server),
            buckets: ServiceEndpoint::of(&bucket_server),
            roles: Arc::clone(&roles),
        };
        let api_clients = services.clients(&function.id, &ports.clock)?;
        let (queues, sources) =
            open_event_sources(template, &names, folder, ports, &services, &database)?;
        let queue_server = queues::start(queues.clone(), Arc::clone(&roles))?;
        folder.record(&manifest)?;
        folder.record_template(&template.to_json())?;
        let pokes = Arc::new(LocalPokes::default());
        let LocalApi { router, meter, body_budget } =
            LocalApi::build(&function, api_clients, &pokes).await?;
        let snapshot_settings = read_snapshot_settings(template, &names)?;
        let servers =
            Servers { database: &database_server, buckets: &bucket_server, queues: &queue_server };
        folder.record_endpoints(&servers.endpoints(&function.settings, snapshot_settings))?;
        folder.record_running_stack(&RunningStack {
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
            body_budget,
            folder: folder.clone(),
            credentials,
            roles,
            queues,
            sources,
            pokes,
            database_server,
            bucket_server,
            queue_server,
            _lock: lock,
        })
    }

    /// Returns the API URL, which ends with a slash.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the API function's settings, which are read from its environment variables in the
    /// template.
    #[must_use]
    pub fn settings(&self) -> &ApiSettings {
        &self.settings
    }

    /// Returns the embedded DynamoDB's endpoint.
    #[must_use]
    pub fn database_url(&self) -> String {
        self.database_server.url()
    }

    /// Returns the endpoint of the embedded S3. Bucket names are part of the URL path.
    #[must_use]
    pub fn buckets_url(&self) -> String {
        self.bucket_server.url()
    }

    /// Returns the endpoint of the embedded SQS.
    #[must_use]
    pub fn queues_url(&self) -> String {
        self.queue_server.url()
    }

    /// Returns the operator's access key and secret key, which give full access to the embedded
    /// DynamoDB, SQS and S3.
    #[must_use]
    pub fn credentials(&self) -> (&str, &str) {
        (&self.credentials.access_key, &self.credentials.secret_key)
    }

    /// Returns the functions' roles.
    #[must_use]
    pub fn roles(&self) -> &Arc<Roles> {
        &self.roles
    }

    /// Returns the meter that counts the requests and request units that the API consumes.
    #[must_use]
    pub fn meter(&self) -> &Arc<Meter> {
        &self.meter
    }

    /// Returns the budgets that limit how much memory the API uses for request bodies.
    #[must_use]
    pub fn body_budget(&self) -> &Arc<BodyBudget> {
        &self.body_budget
    }

    /// Returns the queue with the given logical id.
    #[must_use]
    pub fn queue(&self, logical_id: &str) -> Option<Arc<LocalQueue>> {
        self.queues.get(logical_id).cloned()
    }

    /// Serves requests until `shutdown` resolves or another process requests a stop with
    /// [`StateFolder::request_stop`]. Completes the requests in progress before it returns.
    pub async fn serve(self, shutdown: impl Future<Output = ()> + Send + 'static) {
        let folder = self.folder.clone();
        let pokes = self.pokes;
        let shutdown_or_stop_request = async move {
            tokio::select! {
                () = shutdown => {}
                () = wait_for_stop_request(&folder) => {}
            }
            // End the pokes (change hints) before the server stops. A client keeps its connection
            // for pokes open for minutes, and the server waits until all connections are closed.
            pokes.end();
        };
        let (stop_sender, stop_receiver) = watch::channel(false);
        let write_notifier = self.sources.write_notifier();
        let mut source_tasks = self.sources.run(&stop_receiver);
        let notify = move |request, next| notify_sources(write_notifier.clone(), request, next);
        let router = self.router.layer(from_fn(notify));
        serving::serve(self.listener, router, shutdown_or_stop_request).await;
        stop_sender.send_replace(true);
        // Let each event source finish its current invocation. If an invocation takes too long,
        // abort it: its records are processed again when the local stack starts again.
        let all_stopped = async { while source_tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(MAX_SOURCES_STOP, all_stopped).await.is_err() {
            source_tasks.shutdown().await;
        }
    }
}

struct LocalApi {
    router: Router,
    meter: Arc<Meter>,
    body_budget: Arc<BodyBudget>,
}

impl LocalApi {
    async fn build(
        function: &UrlFunction,
        clients: SnapshotClients,
        pokes: &Arc<LocalPokes>,
    ) -> Result<Self, LocalError> {
        let SnapshotClients { dynamodb, s3, .. } = clients;
        let api_pokes: Arc<dyn Pokes> = Arc::clone(pokes) as _;
        let clock = Arc::new(SystemClock);
        let state = ApiState::with_pokes(&function.settings, dynamodb, s3, api_pokes, clock)?;
        let meter = Arc::clone(state.meter());
        let body_budget = Arc::clone(state.body_budget());
        state.warm_up().await;
        let router = match &function.cors {
            Some(cors) => api::router(state).layer(cors::function_url_layer(cors)),
            None => api::router(state),
        };
        Ok(Self { router, meter, body_budget })
    }
}

struct Servers<'a> {
    database: &'a ServerThread,
    buckets: &'a ServerThread,
    queues: &'a ServerThread,
}

impl Servers<'_> {
    fn endpoints(
        &self,
        api_settings: &ApiSettings,
        snapshot_settings: Option<SnapshotSettings>,
    ) -> Endpoints {
        let snapshots = snapshot_settings.map(|settings| SnapshotEndpoints {
            queues_url: self.queues.url(),
            snapshot_queue: settings.snapshot_queue,
            pending_snapshots_table: settings.pending_snapshots_table,
        });
        Endpoints {
            database_url: self.database.url(),
            entry_table: api_settings.entry_table.clone(),
            segment_table: api_settings.segment_table.clone(),
            event_stream_table: Some(api_settings.event_stream_table.clone()),
            feed_table: Some(api_settings.feed_table.clone()),
            tables_incarnation: api_settings.incarnation,
            buckets_url: self.buckets.url(),
            bucket: api_settings.bucket.clone(),
            snapshots,
        }
    }
}

/// Middleware that makes the event sources poll immediately after a request that may have changed a
/// table or queue.
async fn notify_sources(
    write_notifier: watch::Sender<()>,
    request: Request,
    next: Next,
) -> Response {
    let may_write = !request.method().is_safe();
    let response = next.run(request).await;
    if may_write {
        write_notifier.send_replace(());
    }
    response
}

fn open_event_sources(
    template: &Template,
    names: &Names<'_>,
    folder: &StateFolder,
    ports: Ports,
    services: &Services,
    database: &DurableDatabase,
) -> Result<(Queues, EventSources), LocalError> {
    let store = EventStore::open(&folder.events())?;
    let queues = Queues::open(template, names, &store, &ports.clock)?;
    let context = SourceContext {
        database,
        store: &store,
        queues: &queues,
        clock: &ports.clock,
        roles: &services.roles,
    };
    let functions = EventFunctions {
        template,
        names,
        queues: &queues,
        services,
        clock: &ports.clock,
        pending_tags: ports.pending_tags,
        create_builder: ports.snapshot_builder,
    };
    let build_function = |function_id: &str| functions.build(function_id);
    let sources = EventSources::open(template, names, &context, build_function)?;
    Ok((queues, sources))
}

async fn wait_for_stop_request(folder: &StateFolder) {
    while !folder.stop_requested() {
        tokio::time::sleep(STOP_POLL_PERIOD).await;
    }
}

/// Binds the port and returns the listener and its URL.
async fn bind_port(port: u16) -> Result<(TcpListener, String), LocalError> {
    let bind_error = |error: io::Error| match error.kind() {
        io::ErrorKind::AddrInUse => LocalError::PortInUse { port },
        _ => LocalError::Server { what: "the local URL", why: error.to_string() },
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(bind_error)?;
    let address = listener.local_addr().map_err(bind_error)?;
    Ok((listener, format!("http://{address}")))
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
