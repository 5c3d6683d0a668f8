//! S3 server for the template's buckets, which stores objects in files.

mod access;
mod blocking;
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
use std::time::Duration;

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
/// Interval between searches for expired objects.
const SWEEP_PERIOD: Duration = Duration::from_secs(60 * 60);
/// Maximum length of an XML request body, such as a tag list, in bytes.
const MAX_XML_BYTES: usize = 64 * 1024;

/// The buckets of a template.
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
    /// Opens the template's buckets and creates directories for new ones. Errors if a bucket in
    /// `expected` is missing.
    pub(crate) fn open(
        folder: &StateFolder,
        template: &Template,
        names: &Names<'_>,
        expected: &[String],
    ) -> Result<Self, LocalError> {
        let mut buckets = Self::default();
        for (logical_id, resource) in template.resources() {
            if resource.resource_type != BUCKET {
                continue;
            }
            let name = names.physical_name(logical_id);
            let path = folder.buckets().join(&name);
            if expected.contains(&name) && !path.exists() {
                return Err(LocalError::BucketMissing { bucket: name });
            }
            let fault = |why| LocalError::Template { logical_id: logical_id.to_owned(), why };
            let properties = template.resolved_properties(logical_id, names)?.unwrap_or_default();
            let rules = properties.get("LifecycleConfiguration");
            let lifecycle = Lifecycle::parse(rules).map_err(fault)?;
            let cors = single_cors_rule(properties.get("CorsConfiguration")).map_err(fault)?;
            let create = |source| LocalError::File { what: "create", path: path.clone(), source };
            fs::create_dir_all(&path).map_err(create)?;
            let objects = Arc::new(Bucket::open(path)?);
            buckets.by_name.insert(name, TemplateBucket { objects, lifecycle, cors });
        }
        Ok(buckets)
    }

    /// Returns the names of all buckets.
    pub(crate) fn names(&self) -> Vec<String> {
        self.by_name.keys().cloned().collect()
    }

    /// Deletes objects that have expired by `now_s` (Unix seconds).
    pub(crate) fn delete_expired(&self, now_s: u64) {
        for (name, bucket) in &self.by_name {
            match delete_expired_in(&bucket.objects, &bucket.lifecycle, now_s) {
                Ok(0) => {}
                Ok(deleted) => tracing::info!(name, deleted, "deleted expired objects"),
                Err(error) => tracing::error!(name, %error, "cannot delete expired objects"),
            }
        }
    }

    /// Serves the buckets on a free port until the returned server is dropped. Deletes expired
    /// objects at the start and then periodically.
    pub(crate) async fn serve(
        self,
        roles: &Arc<Roles>,
        clock: &Arc<dyn Clock>,
    ) -> Result<ServerThread, LocalError> {
        let router = self.router(roles);
        let (buckets, clock) = (Arc::new(self), Arc::clone(clock));
        ServerThread::start("the local S3", async move |listener, stopped: Stopped| {
            let sweeper = tokio::spawn(delete_expired_periodically(buckets, clock));
            serving::serve(listener, router, async { drop(stopped.await) }).await;
            sweeper.abort();
            Ok(())
        })
        .await
    }

    fn router(&self, roles: &Arc<Roles>) -> Router {
        let service = HandleError::new(self.service(roles), |error: s3s::HttpError| async move {
            tracing::error!(?error, "a request to the local S3 failed");
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
        builder.set_auth(access::known_credentials(roles));
        builder.set_access(SignedOnly { roles: Arc::clone(roles) });
        builder.set_validation(AnyName);
        let mut config = S3Config::default();
        config.xml_max_body_size = MAX_XML_BYTES;
        builder.set_config(Arc::new(StaticConfigProvider::new(Arc::new(config))));
        builder.build()
    }
}

/// Returns the single rule of a `CorsConfiguration`.
fn single_cors_rule(property: Option<&Value>) -> Result<Option<Value>, String> {
    let Some(property) = property else { return Ok(None) };
    match property.get("CorsRules").and_then(Value::as_array).map(Vec::as_slice) {
        Some([rule]) => Ok(Some(rule.clone())),
        _ => Err("CorsConfiguration must have exactly one rule".to_owned()),
    }
}

/// Deletes a bucket's objects that have expired by `now_s` (Unix seconds). Returns the number of
/// deleted objects.
fn delete_expired_in(bucket: &Bucket, lifecycle: &Lifecycle, now_s: u64) -> io::Result<u64> {
    let mut expired_keys = vec![];
    bucket.scan(Bound::Unbounded, |record| {
        if lifecycle.is_expired(record, now_s) {
            expired_keys.push(record.key.clone());
        }
        true
    });
    let mut deleted = 0;
    for key in expired_keys {
        // Check again under the bucket lock, because the object's tags may have changed.
        if bucket.delete(&key, |record| lifecycle.is_expired(record, now_s))? {
            deleted += 1;
        }
    }
    Ok(deleted)
}

async fn delete_expired_periodically(buckets: Arc<Buckets>, clock: Arc<dyn Clock>) {
    let mut interval = tokio::time::interval(SWEEP_PERIOD);
    loop {
        interval.tick().await;
        let (buckets, now_s) = (Arc::clone(&buckets), clock.now_ms() / 1_000);
        // The panic has been logged; the next run tries again.
        let _ = tokio::task::spawn_blocking(move || buckets.delete_expired(now_s)).await;
    }
}
