//! The template's buckets: an S3 over HTTP, with its objects in files.

mod access;
mod lifecycle;
mod list;
mod record;
mod requests;
mod store;
mod tags;
mod upload;
mod versions;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::ops::Bound;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::error_handling::HandleError;
use axum::http::StatusCode;
use cellar_engine::ports::Clock;
use cellar_stacks::template::Template;
use s3s::config::{S3Config, StaticConfigProvider};
use s3s::service::{S3Service, S3ServiceBuilder};
use serde_json::Value;

use crate::cors;
use crate::error::LocalError;
use crate::names::Names;
use crate::roles::Roles;
use crate::server::{ServerThread, Stopped};
use crate::serving;
use crate::state::StateFolder;

use access::{AnyName, SignedOnly};
use lifecycle::Lifecycle;
use requests::Requests;
use store::Bucket;

const BUCKET: &str = "AWS::S3::Bucket";
/// How often objects whose time is up are looked for.
const SWEEP_PERIOD: Duration = Duration::from_secs(60 * 60);
/// Bytes of a request's XML, such as a list of tags.
const MAX_XML_BYTES: usize = 64 * 1024;

/// The buckets of a template, and what it says of them.
#[derive(Default)]
pub(crate) struct Buckets {
    by_name: BTreeMap<String, TemplateBucket>,
}

struct TemplateBucket {
    objects: Arc<Bucket>,
    lifecycle: Lifecycle,
    cors: Option<Value>,
}

impl Buckets {
    /// Makes the folders of the template's buckets, or takes them over as they were left; `made`
    /// are those that must be there.
    pub(crate) fn open(
        folder: &StateFolder,
        template: &Template,
        names: &Names<'_>,
        made: &[String],
    ) -> Result<Self, LocalError> {
        let mut buckets = Self::default();
        for (logical_id, resource) in template.resources() {
            if resource.resource_type != BUCKET {
                continue;
            }
            let name = names.physical(logical_id);
            let path = folder.buckets().join(&name);
            if made.contains(&name) && !path.exists() {
                return Err(LocalError::BucketGone { bucket: name });
            }
            let fault = |why| LocalError::Template { logical_id: logical_id.to_owned(), why };
            let properties = template.resolved_properties(logical_id, names)?.unwrap_or_default();
            let rules = properties.get("LifecycleConfiguration");
            let lifecycle = Lifecycle::read(rules).map_err(fault)?;
            let cors = one_rule(properties.get("CorsConfiguration")).map_err(fault)?;
            let create = |source| LocalError::File { what: "create", path: path.clone(), source };
            fs::create_dir_all(&path).map_err(create)?;
            let objects = Arc::new(Bucket::open(path)?);
            buckets.by_name.insert(name, TemplateBucket { objects, lifecycle, cors });
        }
        Ok(buckets)
    }

    /// The names of all.
    pub(crate) fn names(&self) -> Vec<String> {
        self.by_name.keys().cloned().collect()
    }

    /// Deletes the objects whose time was up at `now_s`, Unix seconds.
    pub(crate) fn sweep(&self, now_s: u64) {
        for (name, bucket) in &self.by_name {
            match sweep(&bucket.objects, &bucket.lifecycle, now_s) {
                Ok(0) => {}
                Ok(deleted) => tracing::info!(name, deleted, "objects expired"),
                Err(error) => tracing::error!(name, %error, "objects could not be deleted"),
            }
        }
    }

    /// Serves the buckets on a free port until what is returned is dropped; deletes what has
    /// expired, at the start and every hour.
    pub(crate) async fn serve(
        self,
        roles: &Arc<Roles>,
        clock: &Arc<dyn Clock>,
    ) -> Result<ServerThread, LocalError> {
        let router = self.router(roles);
        let (buckets, clock) = (Arc::new(self), Arc::clone(clock));
        ServerThread::start("the local S3", async move |listener, stopped: Stopped| {
            let sweeper = tokio::spawn(sweep_for_ever(buckets, clock));
            serving::serve(listener, router, async { drop(stopped.await) }).await;
            sweeper.abort();
            Ok(())
        })
        .await
    }

    fn router(&self, roles: &Arc<Roles>) -> Router {
        let service = HandleError::new(self.service(roles), |error: s3s::HttpError| async move {
            tracing::error!(?error, "the local S3 could not answer");
            StatusCode::INTERNAL_SERVER_ERROR
        });
        let mut router = Router::new();
        for (name, bucket) in &self.by_name {
            let routes = Router::new()
                .route_service(&format!("/{name}"), service.clone())
                .route_service(&format!("/{name}/{{*key}}"), service.clone());
            router = router.merge(match &bucket.cors {
                Some(rule) => routes.layer(cors::bucket_layer(rule)),
                None => routes,
            });
        }
        router.fallback_service(service)
    }

    fn service(&self, roles: &Arc<Roles>) -> S3Service {
        let objects = self.by_name.iter();
        let objects = objects.map(|(name, bucket)| (name.clone(), Arc::clone(&bucket.objects)));
        let requests = Requests::new(objects.collect(), Arc::clone(roles));
        let mut builder = S3ServiceBuilder::new(requests);
        builder.set_auth(access::keys(roles));
        builder.set_access(SignedOnly { roles: Arc::clone(roles) });
        builder.set_validation(AnyName);
        let mut config = S3Config::default();
        config.xml_max_body_size = MAX_XML_BYTES;
        builder.set_config(Arc::new(StaticConfigProvider::new(Arc::new(config))));
        builder.build()
    }
}

/// The one rule of a `CorsConfiguration`.
fn one_rule(property: Option<&Value>) -> Result<Option<Value>, String> {
    let Some(property) = property else { return Ok(None) };
    match property.get("CorsRules").and_then(Value::as_array).map(Vec::as_slice) {
        Some([rule]) => Ok(Some(rule.clone())),
        _ => Err("exactly one CORS rule is understood here".to_owned()),
    }
}

/// Deletes the objects of a bucket whose time was up at `now_s`, Unix seconds; says how many.
fn sweep(bucket: &Bucket, lifecycle: &Lifecycle, now_s: u64) -> io::Result<u64> {
    let mut due = vec![];
    bucket.scan(Bound::Unbounded, |record| {
        if lifecycle.is_due(record, now_s) {
            due.push(record.key.clone());
        }
        true
    });
    let mut deleted = 0;
    for key in due {
        // It may have lost its tag meanwhile: the rule is asked again where nothing can come between.
        if bucket.delete(&key, |record| lifecycle.is_due(record, now_s))? {
            deleted += 1;
        }
    }
    Ok(deleted)
}

async fn sweep_for_ever(buckets: Arc<Buckets>, clock: Arc<dyn Clock>) {
    let mut hours = tokio::time::interval(SWEEP_PERIOD);
    loop {
        hours.tick().await;
        let (buckets, now_s) = (Arc::clone(&buckets), clock.now_ms() / 1_000);
        // A sweep that panics has said so; the next may do better.
        let _ = tokio::task::spawn_blocking(move || buckets.sweep(now_s)).await;
    }
}

/// Unix seconds, for when an object was written.
fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
