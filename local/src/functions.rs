//! Builds the template's functions with the environment variables that the template defines.

use std::collections::HashMap;
use std::sync::Arc;

use cellar_api::environment;
use cellar_catalog::webhook::Receivers;
use cellar_engine::ports::{Blobs, Clock, Jobs, PendingTags};
use cellar_engine::snapshots::SnapshotBuilder;
use cellar_runtime::indexer::{self, IndexerHandler};
use cellar_runtime::relay::RelayHandler;
use cellar_runtime::s3::S3Blobs;
use cellar_runtime::settings::{
    ApiSettings, IndexerSettings, RelaySettings, SettingsError, SnapshotSettings, WebhookSettings,
};
use cellar_runtime::snapshot::{BuilderPorts, build_handler};
use cellar_runtime::webhook::{self, WebhookHandler};
use cellar_stacks::template::Template;
use serde_json::Value;

use crate::error::LocalError;
use crate::events::{EventFunction, SnapshotFunction, WebhookFunction, timeout_of};
use crate::names::{Names, referenced_id};
use crate::queues::Queues;
use crate::roles::queue_with_role;
use crate::services::Services;

/// Creates a snapshot builder over the given ports.
pub type MakeBuilder = Arc<dyn Fn(BuilderPorts) -> Arc<dyn SnapshotBuilder> + Send + Sync>;

const URL: &str = "AWS::Lambda::Url";
const FUNCTION: &str = "AWS::Lambda::Function";

/// The API function and the properties of its URL.
#[derive(Debug)]
pub(crate) struct UrlFunction {
    /// Logical id of the function.
    pub(crate) id: String,
    pub(crate) settings: ApiSettings,
    pub(crate) cors: Option<Value>,
}

/// Reads the API function. The template must have exactly one function URL.
pub(crate) fn url_function(
    template: &Template,
    names: &Names<'_>,
) -> Result<UrlFunction, LocalError> {
    let mut urls = template.resources().filter(|(_, resource)| resource.resource_type == URL);
    let (Some((url_id, url)), None) = (urls.next(), urls.next()) else {
        let why = "the template must have exactly one function URL".to_owned();
        return Err(LocalError::Template { logical_id: URL.to_owned(), why });
    };
    let fault = |why: &str| LocalError::Template { logical_id: url_id.to_owned(), why: why.into() };
    let function_id = url
        .properties
        .get("TargetFunctionArn")
        .and_then(referenced_id)
        .ok_or_else(|| fault("TargetFunctionArn names no function of this template"))?;
    let variables = read_variables(template, names, function_id)?;
    let read_variable = |name: &str| variables.get(name).cloned();
    let function = read_variable(environment::FUNCTION).unwrap_or_default();
    if function != environment::FUNCTION_API {
        return Err(SettingsError::UnknownFunction { function }.into());
    }
    let cors = url.properties.get("Cors").map(|cors| template.resolve(cors, names)).transpose()?;
    let settings = ApiSettings::read(read_variable)?;
    Ok(UrlFunction { id: function_id.to_owned(), settings, cors })
}

/// Reads the snapshot function's settings, or `None` if the template does not contain the function.
pub(crate) fn snapshot_settings(
    template: &Template,
    names: &Names<'_>,
) -> Result<Option<SnapshotSettings>, LocalError> {
    let functions = template.resources().filter(|(_, its)| its.resource_type == FUNCTION);
    for (id, _) in functions {
        let variables = read_variables(template, names, id)?;
        if variables.get(environment::FUNCTION).is_some_and(|f| f == environment::FUNCTION_SNAPSHOT)
        {
            return Ok(Some(SnapshotSettings::read(|name| variables.get(name).cloned())?));
        }
    }
    Ok(None)
}

/// Builds the functions that event sources invoke.
pub(crate) struct EventFunctions<'a> {
    pub(crate) template: &'a Template,
    pub(crate) names: &'a Names<'a>,
    pub(crate) queues: &'a Queues,
    pub(crate) services: &'a Services,
    pub(crate) clock: &'a Arc<dyn Clock>,
    /// Tag storage for uploads. Defaults to the local bucket.
    pub(crate) pending_tags: Option<Arc<dyn PendingTags>>,
    /// Creates the snapshot builder. If `None`, the snapshot function does not run.
    pub(crate) builder: Option<MakeBuilder>,
}

impl EventFunctions<'_> {
    /// Builds the function with this logical id. Returns `None` for the snapshot function if no
    /// snapshot builder is configured.
    pub(crate) fn build(&self, id: &str) -> Result<Option<Arc<dyn EventFunction>>, LocalError> {
        let variables = read_variables(self.template, self.names, id)?;
        let read_variable = |name: &str| variables.get(name).cloned();
        let function = read_variable(environment::FUNCTION).unwrap_or_default();
        Ok(match function.as_str() {
            environment::FUNCTION_RELAY => {
                Some(self.build_relay(id, RelaySettings::read(read_variable)?)?)
            }
            environment::FUNCTION_INDEXER => {
                Some(self.build_indexer(id, &IndexerSettings::read(read_variable)?)?)
            }
            environment::FUNCTION_WEBHOOK => {
                Some(self.build_webhook(id, WebhookSettings::read(read_variable)?)?)
            }
            environment::FUNCTION_SNAPSHOT => {
                self.build_snapshot(id, &SnapshotSettings::read(read_variable)?)?
            }
            _ => return Err(SettingsError::UnknownFunction { function }.into()),
        })
    }

    fn build_relay(
        &self,
        id: &str,
        settings: RelaySettings,
    ) -> Result<Arc<dyn EventFunction>, LocalError> {
        let jobs = self.queue_at(id, &settings.snapshot_queue)?;
        let pending_tags = match &self.pending_tags {
            Some(replaced) => Arc::clone(replaced),
            None => {
                let s3 = self.services.clients(id, self.clock)?.s3;
                let bucket = S3Blobs::new(settings.bucket, s3, Arc::default());
                Arc::new(Arc::new(bucket) as Arc<dyn Blobs>)
            }
        };
        Ok(Arc::new(RelayHandler::new(jobs, pending_tags)))
    }

    fn build_indexer(
        &self,
        id: &str,
        settings: &IndexerSettings,
    ) -> Result<Arc<dyn EventFunction>, LocalError> {
        let clients = self.services.clients(id, self.clock)?;
        let indexer = indexer::build_indexer(settings, clients.dynamodb, clients.meter);
        Ok(Arc::new(IndexerHandler::new(indexer)))
    }

    fn build_webhook(
        &self,
        id: &str,
        settings: WebhookSettings,
    ) -> Result<Arc<dyn EventFunction>, LocalError> {
        let clients = self.services.clients(id, self.clock)?;
        let (dynamodb, meter) = (clients.dynamodb, clients.meter);
        let blobs = S3Blobs::new(settings.bucket.clone(), clients.s3, Arc::clone(&meter));
        let (blobs, receivers) = (Arc::new(blobs), Receivers::PublicAndLocalhost);
        let webhook = webhook::build_webhook(settings, dynamodb, blobs, meter, receivers);
        let handler = WebhookHandler::new(webhook);
        let (clock, timeout) = (Arc::clone(self.clock), timeout_of(self.template, id));
        Ok(Arc::new(WebhookFunction { handler, clock, timeout }))
    }

    fn build_snapshot(
        &self,
        id: &str,
        settings: &SnapshotSettings,
    ) -> Result<Option<Arc<dyn EventFunction>>, LocalError> {
        let Some(make) = &self.builder else { return Ok(None) };
        let clients = self.services.clients(id, self.clock)?;
        let jobs = self.queue_at(id, &settings.snapshot_queue)?;
        let handler = build_handler(settings, clients, jobs, |ports: BuilderPorts| make(ports));
        let (clock, timeout) = (Arc::clone(self.clock), timeout_of(self.template, id));
        Ok(Some(Arc::new(SnapshotFunction { handler, clock, timeout })))
    }

    /// Returns the queue with a given URL, subject to the role of the function `id`.
    fn queue_at(&self, id: &str, url: &str) -> Result<Arc<dyn Jobs>, LocalError> {
        let queue = self.queues.at_url(url).ok_or_else(|| {
            let why = format!(
                "{} is `{url}`, which is not the URL of a queue of the template",
                environment::SNAPSHOT_QUEUE
            );
            LocalError::Template { logical_id: id.to_owned(), why }
        })?;
        queue_with_role(&self.services.roles, id, url, Arc::clone(queue) as Arc<dyn Jobs>)
    }
}

/// Returns a function's resolved environment variables.
fn read_variables(
    template: &Template,
    names: &Names<'_>,
    function_id: &str,
) -> Result<HashMap<String, String>, LocalError> {
    let properties = template
        .resource(function_id)
        .and_then(|function| function.properties.get("Environment"))
        .and_then(|environment| environment.get("Variables"));
    let resolved = properties.map(|variables| template.resolve(variables, names)).transpose()?;
    let variables = resolved.as_ref().and_then(Value::as_object);
    let text = |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_owned()));
    Ok(variables.into_iter().flatten().filter_map(text).collect())
}
