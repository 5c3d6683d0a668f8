//! A fake of the AWS calls that a deployment makes, over the real protocols, with faults that no
//! emulator can produce on demand. It has one stack, whose states and events a test defines; faults
//! can be added to any call.

mod buckets;
mod manual_change;
mod reply;
mod settings;
mod tables;
mod world;

use std::collections::HashMap;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{Method, Request, StatusCode};
use axum::response::Response;
use tokio::net::TcpListener;

use buckets::BucketTarget;
pub(crate) use buckets::REGIONAL_BUCKET;
pub(crate) use manual_change::ManualChange;
use reply::{error, object};
use settings::Setting;
pub(crate) use settings::{CLOSED, LIFECYCLE, POLICY};
pub(crate) use tables::FakeTable;
pub(crate) use world::{Step, World};

/// Maximum size of a request.
const REQUEST_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Maximum time to wait for a call.
const CALL_TIMEOUT: Duration = Duration::from_secs(60);

/// A fault of a call.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// Replies with an error of this status, code and message.
    Error(u16, &'static str, String),
    /// Replies with a status and a header, without a body.
    Bare(u16, Option<(&'static str, &'static str)>),
    /// Closes the connection without executing the call.
    Broken,
    /// Executes the call and closes the connection.
    Lost,
    /// Keeps the connection open without a reply, and does not execute the call.
    Silent,
    /// Executes the call, and keeps the connection open without a reply.
    Held,
}

/// A running fake.
#[derive(Clone)]
pub(crate) struct Fake {
    pub(crate) url: String,
    world: Arc<Mutex<World>>,
}

impl Fake {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let world = Arc::new(Mutex::new(World::default()));
        let router = Router::new().fallback(serve).with_state(Arc::clone(&world));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, world }
    }

    pub(crate) fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap()
    }

    /// Adds a fault to the next `count` calls of an action.
    pub(crate) fn fail(&self, action: &'static str, count: usize, fault: Fault) {
        self.world().fail(action, count, fault);
    }

    /// Changes the world just before the next call of an action.
    pub(crate) fn when(
        &self,
        action: &'static str,
        apply_change: impl FnOnce(&mut World) + Send + 'static,
    ) {
        self.world().world_changes.push((action, Box::new(apply_change)));
    }

    /// Removes all faults.
    pub(crate) fn clear_faults(&self) {
        self.world().faults.clear();
    }

    /// Waits until an action was called.
    pub(crate) async fn asked(&self, action: &str) {
        let started = Instant::now();
        while !self.world().asked.iter().any(|asked| asked == action) {
            assert!(started.elapsed() < CALL_TIMEOUT, "{action} is not called");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

async fn serve(State(world): State<Arc<Mutex<World>>>, request: Request<Body>) -> Response {
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, REQUEST_BYTES_MAX).await.unwrap_or_default();
    let is_chunked = head.headers.contains_key("x-amz-decoded-content-length");
    let form: HashMap<String, String> = match head.method == Method::POST {
        true => reply::form(&body),
        false => HashMap::new(),
    };
    let target = head.headers.get("x-amz-target").and_then(|target| target.to_str().ok());
    let of_target = target.and_then(|target| target.rsplit('.').next()).map(str::to_owned);
    let named = of_target.or_else(|| form.get("Action").cloned());
    let namespace = head.headers.get("x-amz-bucket-namespace").map(|it| it.to_str().unwrap());
    let bucket = head.uri.path().trim_matches('/').split('/').next().unwrap_or_default();
    let target = BucketTarget { bucket, namespace };
    let action = named.unwrap_or_else(|| of_s3(&head.method, &head.uri));
    if let Some(scope) = head.headers.get("authorization").and_then(reply::scope) {
        world.lock().unwrap().signed.insert(scope);
    }
    let fault = world.lock().unwrap().begin(&action);
    match fault {
        None => answer(&world, &action, &form, &body, is_chunked, &target),
        Some(Fault::Lost) => {
            answer(&world, &action, &form, &body, is_chunked, &target);
            broken()
        }
        Some(Fault::Broken) => broken(),
        Some(Fault::Silent) => std::future::pending().await,
        Some(Fault::Held) => {
            answer(&world, &action, &form, &body, is_chunked, &target);
            std::future::pending().await
        }
        Some(Fault::Bare(status, header)) => {
            let reply = Response::builder().status(status);
            let reply = header.into_iter().fold(reply, |it, (name, value)| it.header(name, value));
            reply.body(Body::empty()).unwrap()
        }
        Some(Fault::Error(status, code, message)) => {
            let is_of_s3 = !form.contains_key("Action");
            error(StatusCode::from_u16(status).unwrap(), code, &message, is_of_s3)
        }
    }
}

/// Returns the name of an S3 call. Paths distinguish buckets and objects.
fn of_s3(method: &Method, uri: &axum::http::Uri) -> String {
    let depth = uri.path().trim_matches('/').split('/').count();
    let what = match (method.as_str(), depth, uri.query().unwrap_or_default()) {
        ("HEAD", 1, _) => "HeadBucket",
        ("HEAD", _, _) => "HeadObject",
        ("PUT", 1, query) if query.starts_with("policy") => "PutBucketPolicy",
        ("PUT", 1, query) if query.starts_with("lifecycle") => "PutBucketLifecycle",
        ("PUT", 1, query) if query.starts_with("publicAccessBlock") => "PutPublicAccessBlock",
        ("GET", 1, query) if query.starts_with("policy") => "GetBucketPolicy",
        ("GET", 1, query) if query.starts_with("lifecycle") => "GetBucketLifecycle",
        ("GET", 1, query) if query.starts_with("publicAccessBlock") => "GetPublicAccessBlock",
        ("PUT", 1, _) => "CreateBucket",
        ("PUT", _, _) => "PutObject",
        _ => "Unknown",
    };
    what.to_owned()
}

fn answer(
    world: &Mutex<World>,
    action: &str,
    form: &HashMap<String, String>,
    body: &Bytes,
    is_chunked: bool,
    target: &BucketTarget<'_>,
) -> Response {
    let mut world = world.lock().unwrap();
    if form.contains_key("Action") {
        return world.query(action, form);
    }
    if action == "DescribeAlarms" {
        let alarms = world.describe_alarms(&serde_json::from_slice(body).unwrap());
        return Response::new(Body::from(alarms.to_string()));
    }
    if action.ends_with("Table") {
        return world.tables.answer(action, &serde_json::from_slice(body).unwrap());
    }
    if let Some(setting) = Setting::ALL.iter().find(|it| action.ends_with(it.name)) {
        return match action.starts_with("Put") {
            true => {
                let text = String::from_utf8(body.to_vec()).unwrap();
                world.settings.insert(setting.name, text);
                object()
            }
            false => setting.answer(world.settings.get(setting.name)),
        };
    }
    if let Some(reply) = world.buckets.answer(action, target) {
        return reply;
    }
    if action == "PutObject" {
        let bytes = if is_chunked { reply::unchunked(body) } else { body.to_vec() };
        // Templates are the only uploaded texts.
        if let Ok(text) = String::from_utf8(bytes) {
            world.template = text;
        }
    }
    object()
}

/// Unwinds, so that hyper closes the connection. Unlike a panic, this prints nothing.
fn broken() -> Response {
    resume_unwind(Box::new("the connection is lost"))
}
