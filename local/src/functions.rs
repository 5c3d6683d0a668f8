//! The functions of the template, each with the environment that the template gives it.

use std::collections::HashMap;
use std::sync::Arc;

use cellar_core::environment;
use cellar_engine::ports::{Jobs, PendingTags};
use cellar_runtime::relay::RelayHandler;
use cellar_runtime::settings::{ApiSettings, RelaySettings, SettingsError};
use cellar_stacks::template::Template;
use serde_json::Value;

use crate::error::LocalError;
use crate::events::StreamFunction;
use crate::names::{Names, target};
use crate::queues::Queues;

const URL: &str = "AWS::Lambda::Url";

/// A function URL: the function's settings, and the CORS answers of the URL.
#[derive(Debug)]
pub(crate) struct UrlFunction {
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
    Ok(UrlFunction { settings: ApiSettings::read(variable)?, cors })
}

/// The function that a stream calls.
pub(crate) fn stream_function(
    template: &Template,
    names: &Names<'_>,
    function_id: &str,
    queues: &Queues,
    pending_tags: &Arc<dyn PendingTags>,
) -> Result<Arc<dyn StreamFunction>, LocalError> {
    let variables = variables(template, names, function_id)?;
    let variable = |name: &str| variables.get(name).cloned();
    let function = variable(environment::FUNCTION).unwrap_or_default();
    if function != environment::FUNCTION_RELAY {
        return Err(SettingsError::UnknownFunction { function }.into());
    }
    let settings = RelaySettings::read(variable)?;
    let queue = queues.at(&settings.snapshot_queue, names).ok_or_else(|| {
        let why = format!("{} is no queue of the template", environment::SNAPSHOT_QUEUE);
        LocalError::Template { logical_id: function_id.to_owned(), why }
    })?;
    let jobs = Arc::clone(queue) as Arc<dyn Jobs>;
    Ok(Arc::new(RelayHandler::new(jobs, Arc::clone(pending_tags))))
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
