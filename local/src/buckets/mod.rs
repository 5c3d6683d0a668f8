//! An S3 server for the template's buckets. Objects are stored in files.

mod access;
mod blocking;
mod lifecycle;
mod list;
mod markers;
mod record;
mod requests;
mod store;
mod tags;
mod upload;
mod versions;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::ops::{Bound, ControlFlow};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::error_handling::HandleError;
use axum::http::StatusCode;
use cellar_engine::ports::Clock;
use cellar_stacks::template::Template;
use s3s::config::{S3Config, StaticConfigProvider};
use s3s::service::{S3Service, S3ServiceBuilder};
use serde_json::{Map, Value};

use crate::cors;
use crate::error::LocalError;
use crate::names::Names;
use crate::roles::Roles;
use crate::server::ServerThread;
use crate::state::StateFolder;

use access::{AnyName, SignedOnly};
use lifecycle::Lifecycle;
use requests::Requests;
use store::{Bucket, Deletion};

const BUCKET: &str = "AWS::S3::Bucket";
const EXPIRY_CHECK_PERIOD: Duration = Duration::from_secs(60 * 60);
const MAX_XML_BYTES: usize = 64 * 1024;

#[derive(Default)]
pub(crate) struct Buckets {
    by_name: BTreeMap<String, TemplateBucket>,
}

struct TemplateBucket {
    objects: Arc<Bucket>,
    lifecycle: Lifecycle,
    cors_rule: Option<Value>,
}

impl TemplateBucket {
    fn open(
        path: PathBuf,
        logical_id: &str,
        properties: &Map<String, Value>,
    ) -> Result<Self, LocalError> {
        let template_error = |why| LocalError::Template { logical_id: logical_id.to_owned(), why };
        let lifecycle =
            Lifecycle::parse(properties.get("LifecycleConfiguration")).map_err(template_error)?;
        let cors_rule =
            read_cors_rule(properties.get("CorsConfiguration")).map_err(template_error)?;
        fs::create_dir_all(&path).map_err(|source| LocalError::File {
            what: "create",
            path: path.clone(),
            source,
        })?;
        Ok(Self { objects: Arc::new(Bucket::open(path)?), lifecycle, cors_rule })
    }
}

impl Buckets {
    /// Creates directories for new buckets. Returns an error if a bucket in `existing_names` has no
    /// directory.
    pub(crate) fn open(
        folder: &StateFolder,
        template: &Template,
        names: &Names<'_>,
        existing_names: &[String],
    ) -> Result<Self, LocalError> {
        let mut buckets = Self::default();
        for (logical_id, resource) in template.resources() {
            if resource.resource_type != BUCKET {
                continue;
            }
            let name = names.physical_name(logical_id);
            let path = folder.buckets().join(&name);
            if existing_names.contains(&name) && !path.exists() {
                return Err(LocalError::BucketMissing { bucket: name });
            }
            let properties = template.resolved_properties(logical_id, names)?.unwrap_or_default();
            let bucket = TemplateBucket::open(path, logical_id, &properties)?;
            buckets.by_name.insert(name, bucket);
        }
        Ok(buckets)
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.by_name.keys().cloned().collect()
    }

    pub(crate) fn delete_expired(&self, now_s: u64) {
        for (name, bucket) in &self.by_name {
            match delete_expired_objects(&bucket.objects, &bucket.lifecycle, now_s) {
                Ok(0) => {}
                Ok(deleted) => tracing::info!(name, deleted, "deleted expired objects"),
                Err(error) => tracing::error!(name, %error, "cannot delete expired objects"),
            }
        }
    }

    /// Serves the buckets on a free port until the returned server is dropped. Deletes expired
    /// objects at startup and periodically afterwards. `page_origin` is the origin of the page that the
    /// API function serves.
    pub(crate) fn serve(
        self,
        roles: &Arc<Roles>,
        page_origin: &str,
        clock: &Arc<dyn Clock>,
    ) -> Result<ServerThread, LocalError> {
        let router = self.router(roles, page_origin);
        let (buckets, clock) = (Arc::new(self), Arc::clone(clock));
        let delete_expired = delete_expired_periodically(buckets, clock);
        ServerThread::start("the local S3", |_| router, delete_expired)
    }

    fn router(&self, roles: &Arc<Roles>, page_origin: &str) -> Router {
        let service = HandleError::new(self.build_service(roles), respond_to_http_error);
        let mut router = Router::new();
        for (name, bucket) in &self.by_name {
            let mut bucket_routes = Router::new()
                .route_service(&format!("/{name}"), service.clone())
                .route_service(&format!("/{name}/{{*key}}"), service.clone());
            if let Some(cors_rule) = &bucket.cors_rule {
                bucket_routes = bucket_routes.layer(cors::bucket_layer(cors_rule, page_origin));
            }
            router = router.merge(bucket_routes);
        }
        router.fallback_service(service)
    }

    fn build_service(&self, roles: &Arc<Roles>) -> S3Service {
        let mut objects_by_bucket = BTreeMap::new();
        for (name, bucket) in &self.by_name {
            objects_by_bucket.insert(name.clone(), Arc::clone(&bucket.objects));
        }
        let requests = Requests::new(objects_by_bucket, Arc::clone(roles));
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

async fn respond_to_http_error(error: s3s::HttpError) -> StatusCode {
    tracing::error!(?error, "a request to the local S3 failed");
    StatusCode::INTERNAL_SERVER_ERROR
}

/// Returns the only rule of a bucket's `CorsConfiguration`.
fn read_cors_rule(property: Option<&Value>) -> Result<Option<Value>, String> {
    let Some(property) = property else { return Ok(None) };
    match property.get("CorsRules").and_then(Value::as_array).map(Vec::as_slice) {
        Some([rule]) => Ok(Some(rule.clone())),
        _ => Err("CorsConfiguration must have CorsRules with one rule".to_owned()),
    }
}

fn delete_expired_objects(bucket: &Bucket, lifecycle: &Lifecycle, now_s: u64) -> io::Result<u64> {
    let mut expired_keys = vec![];
    bucket.scan(Bound::Unbounded, |record| {
        if lifecycle.is_expired(record, now_s) {
            expired_keys.push(record.key.clone());
        }
        ControlFlow::Continue(())
    });
    let mut deleted_count = 0;
    for key in expired_keys {
        // Check the expiry again while the bucket is locked, because another request may have
        // removed the tag that makes the object expire.
        if bucket.delete(&key, Deletion::OfKey, |record| lifecycle.is_expired(record, now_s))? {
            deleted_count += 1;
        }
    }
    Ok(deleted_count)
}

async fn delete_expired_periodically(buckets: Arc<Buckets>, clock: Arc<dyn Clock>) {
    let mut interval = tokio::time::interval(EXPIRY_CHECK_PERIOD);
    loop {
        interval.tick().await;
        let (buckets, now_s) = (Arc::clone(&buckets), clock.now_ms() / 1_000);
        // Ignore an error, which means that the deletion panicked. The panic has already been
        // logged, and expired objects are deleted again after the next interval.
        let _ = tokio::task::spawn_blocking(move || buckets.delete_expired(now_s)).await;
    }
}
