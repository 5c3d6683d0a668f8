//! Builds the template's functions from the environment variables that the template defines for
//! them.

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
use crate::events::{EventFunction, SnapshotFunction, WebhookFunction, read_timeout};
use crate::names::{Names, referenced_id};
use crate::queues::Queues;
use crate::roles::queue_with_role;
use crate::services::Services;

/// Creates a snapshot builder that uses the given ports.
pub type MakeBuilder = Arc<dyn Fn(BuilderPorts) -> Arc<dyn SnapshotBuilder> + Send + Sync>;

const URL: &str = "AWS::Lambda::Url";
const FUNCTION: &str = "AWS::Lambda::Function";

#[derive(Debug)]
pub(crate) struct UrlFunction {
    pub(crate) id: String,
    pub(crate) settings: ApiSettings,
    pub(crate) cors: Option<Value>,
}

/// Reads the API function, which is the target of the template's only function URL.
pub(crate) fn read_url_function(
    template: &Template,
    names: &Names<'_>,
) -> Result<UrlFunction, LocalError> {
    let mut urls = template.resources().filter(|(_, resource)| resource.resource_type == URL);
    let (Some((url_id, url)), None) = (urls.next(), urls.next()) else {
        let why = "the template must have exactly one function URL".to_owned();
        return Err(LocalError::Template { logical_id: URL.to_owned(), why });
    };
    let target = url.properties.get("TargetFunctionArn");
    let Some(function_id) = target.and_then(referenced_id) else {
        let why = "TargetFunctionArn does not refer to a function in this template".to_owned();
        return Err(LocalError::Template { logical_id: url_id.to_owned(), why });
    };
    let variables = read_variables(template, names, function_id)?;
    let read_variable = |name: &str| variables.get(name).cloned();
    let function = read_variable(environment::FUNCTION).unwrap_or_default();
    if function != environment::FUNCTION_API {
        return Err(SettingsError::UnknownFunction { function }.into());
    }
    let cors = match url.properties.get("Cors") {
        Some(cors) => Some(template.resolve(cors, names)?),
        None => None,
    };
    let settings = ApiSettings::read(read_variable)?;
    Ok(UrlFunction { id: function_id.to_owned(), settings, cors })
}

/// Returns `None` if the template does not contain this function.
pub(crate) fn read_snapshot_settings(
    template: &Template,
    names: &Names<'_>,
) -> Result<Option<SnapshotSettings>, LocalError> {
    for (logical_id, resource) in template.resources() {
        if resource.resource_type != FUNCTION {
            continue;
        }
        let variables = read_variables(template, names, logical_id)?;
        let read_variable = |name: &str| variables.get(name).cloned();
        if read_variable(environment::FUNCTION).as_deref() == Some(environment::FUNCTION_SNAPSHOT) {
            return Ok(Some(SnapshotSettings::read(read_variable)?));
        }
    }
    Ok(None)
}

pub(crate) struct EventFunctions<'a> {
    pub(crate) template: &'a Template,
    pub(crate) names: &'a Names<'a>,
    pub(crate) queues: &'a Queues,
    pub(crate) services: &'a Services,
    pub(crate) clock: &'a Arc<dyn Clock>,
    /// If `None`, the tags are removed in the local bucket.
    pub(crate) pending_tags: Option<Arc<dyn PendingTags>>,
    /// If `None`, the snapshot function does not run.
    pub(crate) create_builder: Option<MakeBuilder>,
}

impl EventFunctions<'_> {
    /// Returns `None` for the snapshot function if `create_builder` is `None`.
    pub(crate) fn build(
        &self,
        function_id: &str,
    ) -> Result<Option<Arc<dyn EventFunction>>, LocalError> {
        let variables = read_variables(self.template, self.names, function_id)?;
        let read_variable = |name: &str| variables.get(name).cloned();
        let function = read_variable(environment::FUNCTION).unwrap_or_default();
        match function.as_str() {
            environment::FUNCTION_RELAY => {
                self.build_relay(function_id, RelaySettings::read(read_variable)?).map(Some)
            }
            environment::FUNCTION_INDEXER => {
                self.build_indexer(function_id, &IndexerSettings::read(read_variable)?).map(Some)
            }
            environment::FUNCTION_WEBHOOK => {
                self.build_webhook(function_id, WebhookSettings::read(read_variable)?).map(Some)
            }
            environment::FUNCTION_SNAPSHOT => {
                self.build_snapshot(function_id, &SnapshotSettings::read(read_variable)?)
            }
            _ => Err(SettingsError::UnknownFunction { function }.into()),
        }
    }

    fn build_relay(
        &self,
        function_id: &str,
        settings: RelaySettings,
    ) -> Result<Arc<dyn EventFunction>, LocalError> {
        let jobs =
            self.queue_at(function_id, environment::SNAPSHOT_QUEUE, &settings.snapshot_queue)?;
        let dead_letters = self.dead_letters(function_id, &settings.dead_letter_queue)?;
        let pending_tags = match &self.pending_tags {
            Some(pending_tags) => Arc::clone(pending_tags),
            None => {
                let s3 = self.services.clients(function_id, self.clock)?.s3;
                let bucket: Arc<dyn Blobs> =
                    Arc::new(S3Blobs::new(settings.bucket, s3, Arc::default()));
                Arc::new(bucket)
            }
        };
        Ok(Arc::new(RelayHandler::new(jobs, dead_letters, pending_tags)))
    }

    fn build_indexer(
        &self,
        function_id: &str,
        settings: &IndexerSettings,
    ) -> Result<Arc<dyn EventFunction>, LocalError> {
        let clients = self.services.clients(function_id, self.clock)?;
        let indexer = indexer::build_indexer(settings, clients.dynamodb, clients.meter);
        let dead_letters = self.dead_letters(function_id, &settings.dead_letter_queue)?;
        Ok(Arc::new(IndexerHandler::new(indexer, dead_letters)))
    }

    fn build_webhook(
        &self,
        function_id: &str,
        settings: WebhookSettings,
    ) -> Result<Arc<dyn EventFunction>, LocalError> {
        let clients = self.services.clients(function_id, self.clock)?;
        let blobs = S3Blobs::new(settings.bucket.clone(), clients.s3, Arc::clone(&clients.meter));
        let webhook = webhook::build_webhook(
            settings,
            clients.dynamodb,
            Arc::new(blobs),
            clients.meter,
            Receivers::PublicAndLocalhost,
        );
        Ok(Arc::new(WebhookFunction {
            handler: WebhookHandler::new(webhook),
            clock: Arc::clone(self.clock),
            timeout: read_timeout(self.template, function_id),
        }))
    }

    fn build_snapshot(
        &self,
        function_id: &str,
        settings: &SnapshotSettings,
    ) -> Result<Option<Arc<dyn EventFunction>>, LocalError> {
        let Some(create_builder) = &self.create_builder else { return Ok(None) };
        let clients = self.services.clients(function_id, self.clock)?;
        let jobs =
            self.queue_at(function_id, environment::SNAPSHOT_QUEUE, &settings.snapshot_queue)?;
        let handler =
            build_handler(settings, clients, jobs, |ports: BuilderPorts| create_builder(ports));
        Ok(Some(Arc::new(SnapshotFunction {
            handler,
            clock: Arc::clone(self.clock),
            timeout: read_timeout(self.template, function_id),
        })))
    }

    fn dead_letters(&self, function_id: &str, url: &str) -> Result<Arc<dyn Jobs>, LocalError> {
        self.queue_at(function_id, environment::DEAD_LETTER_QUEUE, url)
    }

    /// Returns the queue whose URL the environment variable `variable` contains. The function's role
    /// must permit each call to the queue.
    fn queue_at(
        &self,
        function_id: &str,
        variable: &str,
        url: &str,
    ) -> Result<Arc<dyn Jobs>, LocalError> {
        let Some(queue) = self.queues.at_url(url) else {
            let why = format!(
                "the environment variable {variable} contains `{url}`, which is not the URL of a queue in the template"
            );
            return Err(LocalError::Template { logical_id: function_id.to_owned(), why });
        };
        let jobs = Arc::clone(queue) as Arc<dyn Jobs>;
        queue_with_role(&self.services.roles, function_id, url, jobs)
    }
}

fn read_variables(
    template: &Template,
    names: &Names<'_>,
    function_id: &str,
) -> Result<HashMap<String, String>, LocalError> {
    let mut variables = HashMap::new();
    let property = template
        .resource(function_id)
        .and_then(|function| function.properties.get("Environment"))
        .and_then(|environment| environment.get("Variables"));
    let Some(property) = property else { return Ok(variables) };
    if let Value::Object(resolved_property) = template.resolve(property, names)? {
        for (name, value) in resolved_property {
            if let Value::String(text) = value {
                variables.insert(name, text);
            }
        }
    }
    Ok(variables)
}
