//! `AWS::Lambda::Function`.

use serde_json::{Map, Value, json};

use super::construct::Construct;
use super::handle::Handle;
use super::log_group::LogGroup;
use super::properties::Properties;
use super::resource_type::ResourceType;
use super::role::Role;
use crate::config::Architecture;
use crate::expression::Expression;

const DEFAULT_MEMORY_MB: u32 = 512;
const DEFAULT_TIMEOUT_S: u32 = 29;

/// S3 location of the Lambda bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundleLocation {
    pub bucket: Expression,
    pub object_key: Expression,
}

/// A Lambda function that runs a `bootstrap` binary on Amazon Linux 2023 and writes JSON logs to
/// its own log group. It has neither reserved nor provisioned concurrency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    description: String,
    architecture: Architecture,
    bundle: BundleLocation,
    role: Expression,
    log_group: Expression,
    memory_mb: u32,
    timeout_s: u32,
    is_traced: bool,
    allows_recursion: bool,
    environment: Vec<(String, Expression)>,
}

impl Function {
    /// Creates a function with 512 MB of memory and a timeout of 29 s.
    pub fn new(
        description: &str,
        architecture: Architecture,
        bundle: BundleLocation,
        role: &Handle<Role>,
        log_group: &Handle<LogGroup>,
    ) -> Self {
        Self {
            description: description.to_owned(),
            architecture,
            bundle,
            role: role.arn(),
            log_group: log_group.name(),
            memory_mb: DEFAULT_MEMORY_MB,
            timeout_s: DEFAULT_TIMEOUT_S,
            is_traced: false,
            allows_recursion: false,
            environment: Vec::new(),
        }
    }

    #[must_use]
    pub fn memory_mb(mut self, memory_mb: u32) -> Self {
        self.memory_mb = memory_mb;
        self
    }

    /// Sets the function timeout in seconds.
    #[must_use]
    pub fn timeout_s(mut self, timeout_s: u32) -> Self {
        self.timeout_s = timeout_s;
        self
    }

    /// Sets whether X-Ray traces invocations. The role must allow the function to write traces.
    #[must_use]
    pub fn traced(mut self, is_traced: bool) -> Self {
        self.is_traced = is_traced;
        self
    }

    /// Allows the function to cause its own invocation, for example through a queue, any number of
    /// times. Without this setting, Lambda stops such a chain after about 16 invocations.
    #[must_use]
    pub fn allow_recursion(mut self) -> Self {
        self.allows_recursion = true;
        self
    }

    #[must_use]
    pub fn environment(mut self, name: &str, value: impl Into<Expression>) -> Self {
        self.environment.push((name.to_owned(), value.into()));
        self
    }

    fn environment_property(&self) -> Value {
        let variables: Map<String, Value> = self
            .environment
            .iter()
            .map(|(name, value)| (name.clone(), value.clone().into()))
            .collect();
        json!({ "Variables": variables })
    }
}

impl Handle<Function> {
    /// Returns the physical name of the function.
    pub fn name(&self) -> Expression {
        self.reference()
    }

    pub fn arn(&self) -> Expression {
        self.attribute("Arn")
    }
}

impl Construct for Function {
    const TYPE: ResourceType = ResourceType::Function;

    fn properties(self) -> Map<String, Value> {
        let code_location = Properties::new()
            .set("S3Bucket", self.bundle.bucket.clone())
            .set("S3Key", self.bundle.object_key.clone());
        let logging_config =
            Properties::new().set("LogFormat", "JSON").set("LogGroup", self.log_group.clone());
        // CloudFormation does not reset the tracing mode and the recursive loop setting if the
        // properties are removed. Therefore, both are always written.
        let tracing_mode = if self.is_traced { "Active" } else { "PassThrough" };
        let recursive_loop = if self.allows_recursion { "Allow" } else { "Terminate" };
        let environment =
            if self.environment.is_empty() { None } else { Some(self.environment_property()) };
        Properties::new()
            .set("Architectures", vec![self.architecture.name()])
            .set("Code", code_location)
            .set("Description", self.description.as_str())
            .set_option("Environment", environment)
            .set("Handler", "bootstrap")
            .set("LoggingConfig", logging_config)
            .set("MemorySize", self.memory_mb)
            .set("RecursiveLoop", recursive_loop)
            .set("Role", self.role.clone())
            .set("Runtime", "provided.al2023")
            .set("Timeout", self.timeout_s)
            .set("TracingConfig", json!({ "Mode": tracing_mode }))
            .into_map()
    }
}
