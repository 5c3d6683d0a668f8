//! The functions of the template, each with the environment that the template gives it.

use std::collections::HashMap;
use std::sync::Arc;

use cellar_api::environment;
use cellar_catalog::webhook::Receivers;
use cellar_engine::ports::{Blobs, Clock, Jobs, PendingTags};
use cellar_engine::snapshots::SnapshotBuilder;
use cellar_runtime::indexer::{IndexerHandler, build_indexer};
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
use crate::names::{Names, target};
use crate::queues::Queues;
use crate::roles::queue_of;
use crate::services::Services;

/// Makes the builder of snapshots over what it reads and writes.
pub type MakeBuilder = Arc<dyn Fn(BuilderPorts) -> Arc<dyn SnapshotBuilder> + Send + Sync>;

const URL: &str = "AWS::Lambda::Url";
const FUNCTION: &str = "AWS::Lambda::Function";

/// A function URL: the function, its settings, and the CORS answers of the URL.
#[derive(Debug)]
pub(crate) struct UrlFunction {
    /// Logical id of the function.
    pub(crate) id: String,
    pub(crate) settings: ApiSettings,
    pub(crate) cors: Option<Value>,
}

/// The one function URL of the template.
pub(crate) fn url_function(
    template: &Template,
    names: &Names<'_>,
) -> Result<UrlFunction, LocalError> {
    let mut urls = template.resources().filter(|(_, resource)| resource.resource_type == URL);
    let (Some((url_id, url)), None) = (urls.next(), urls.next()) else {
        let why = "exactly one function URL is needed".to_owned();
        return Err(LocalError::Template { logical_id: URL.to_owned(), why });
    };
    let fault = |why: &str| LocalError::Template { logical_id: url_id.to_owned(), why: why.into() };
    let function_id = url
        .properties
        .get("TargetFunctionArn")
        .and_then(target)
        .ok_or_else(|| fault("its function is not one of this template"))?;
    let variables = variables(template, names, function_id)?;
    let variable = |name: &str| variables.get(name).cloned();
    let function = variable(environment::FUNCTION).unwrap_or_default();
    if function != environment::FUNCTION_API {
        return Err(SettingsError::UnknownFunction { function }.into());
    }
    let cors = url.properties.get("Cors").map(|cors| template.resolve(cors, names)).transpose()?;
    let settings = ApiSettings::read(variable)?;
    Ok(UrlFunction { id: function_id.to_owned(), settings, cors })
}

/// What the template tells the function that makes snapshots, if it has one.
pub(crate) fn snapshot_settings(
    template: &Template,
    names: &Names<'_>,
) -> Result<Option<SnapshotSettings>, LocalError> {
    let functions = template.resources().filter(|(_, its)| its.resource_type == FUNCTION);
    for (id, _) in functions {
        let variables = variables(template, names, id)?;
        if variables.get(environment::FUNCTION).is_some_and(|f| f == environment::FUNCTION_SNAPSHOT)
        {
            return Ok(Some(SnapshotSettings::read(|name| variables.get(name).cloned())?));
        }
    }
    Ok(None)
}

/// The functions that event sources call.
pub(crate) struct EventFunctions<'a> {
    pub(crate) template: &'a Template,
    pub(crate) names: &'a Names<'a>,
    pub(crate) queues: &'a Queues,
    pub(crate) services: &'a Services,
    pub(crate) clock: &'a Arc<dyn Clock>,
    /// The tags of uploads, if they are not those of the local bucket.
    pub(crate) pending_tags: Option<Arc<dyn PendingTags>>,
    /// Makes the content of snapshots; without it nobody does.
    pub(crate) builder: Option<MakeBuilder>,
}

impl EventFunctions<'_> {
    /// The function with this logical id; none if it is the one that makes snapshots and there is
    /// nothing to make them with.
    pub(crate) fn named(&self, id: &str) -> Result<Option<Arc<dyn EventFunction>>, LocalError> {
        let variables = variables(self.template, self.names, id)?;
        let variable = |name: &str| variables.get(name).cloned();
        let function = variable(environment::FUNCTION).unwrap_or_default();
        match function.as_str() {
            environment::FUNCTION_RELAY => {
                let settings = RelaySettings::read(variable)?;
                let jobs = self.jobs(id, &settings.snapshot_queue)?;
                let tags = match &self.pending_tags {
                    Some(others) => Arc::clone(others),
                    None => {
                        let s3 = self.services.clients(id, self.clock)?.s3;
                        let bucket = S3Blobs::new(settings.bucket, s3, Arc::default());
                        Arc::new(Arc::new(bucket) as Arc<dyn Blobs>)
                    }
                };
                Ok(Some(Arc::new(RelayHandler::new(jobs, tags))))
            }
            environment::FUNCTION_INDEXER => {
                let settings = IndexerSettings::read(variable)?;
                let clients = self.services.clients(id, self.clock)?;
                let indexer = build_indexer(&settings, clients.dynamodb, clients.meter);
                Ok(Some(Arc::new(IndexerHandler::new(indexer))))
            }
            environment::FUNCTION_WEBHOOK => {
                let settings = WebhookSettings::read(variable)?;
                let clients = self.services.clients(id, self.clock)?;
                let (dynamodb, meter) = (clients.dynamodb, clients.meter);
                let blobs = S3Blobs::new(settings.bucket.clone(), clients.s3, Arc::clone(&meter));
                let (blobs, receivers) = (Arc::new(blobs), Receivers::PublicAndLocalhost);
                let webhook = webhook::build_webhook(settings, dynamodb, blobs, meter, receivers);
                let handler = WebhookHandler::new(webhook);
                let (clock, timeout) = (Arc::clone(self.clock), timeout_of(self.template, id));
                Ok(Some(Arc::new(WebhookFunction { handler, clock, timeout })))
            }
            environment::FUNCTION_SNAPSHOT => self.snapshot(id, &SnapshotSettings::read(variable)?),
            _ => Err(SettingsError::UnknownFunction { function }.into()),
        }
    }

    fn snapshot(
        &self,
        id: &str,
        settings: &SnapshotSettings,
    ) -> Result<Option<Arc<dyn EventFunction>>, LocalError> {
        let Some(make) = &self.builder else { return Ok(None) };
        let clients = self.services.clients(id, self.clock)?;
        let jobs = self.jobs(id, &settings.snapshot_queue)?;
        let handler = build_handler(settings, clients, jobs, |ports: BuilderPorts| make(ports));
        let (clock, timeout) = (Arc::clone(self.clock), timeout_of(self.template, id));
        Ok(Some(Arc::new(SnapshotFunction { handler, clock, timeout })))
    }

    /// The queue at a URL that a function was told, as its role lets it use that.
    fn jobs(&self, id: &str, url: &str) -> Result<Arc<dyn Jobs>, LocalError> {
        let queue = self.queues.at(url).ok_or_else(|| {
            let why = format!("{} is no queue of the template", environment::SNAPSHOT_QUEUE);
            LocalError::Template { logical_id: id.to_owned(), why }
        })?;
        queue_of(&self.services.roles, id, url, Arc::clone(queue) as Arc<dyn Jobs>)
    }
}

/// The environment variables of a function, resolved.
fn variables(
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
