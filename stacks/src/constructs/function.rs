//! `AWS::Lambda::Function`.

use serde_json::{Map, Value, json};

use super::properties::Properties;
use super::{Construct, LogGroup, ResourceType, Role};
use crate::config::Architecture;
use crate::expression::Expression;
use crate::stack::Handle;

/// Where the bundle of a function is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionCode {
    /// Bucket that holds it.
    pub bucket: Expression,
    /// Its key.
    pub key: Expression,
}

/// A Lambda function that runs a `bootstrap` binary on Amazon Linux 2023, writes JSON to a log
/// group of its own and is traced if it is told so. It has neither reserved nor provisioned concurrency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    description: String,
    architecture: Architecture,
    code: FunctionCode,
    role: Expression,
    log_group: Expression,
    memory_mb: u32,
    timeout_s: u32,
    is_traced: bool,
    environment: Vec<(String, Expression)>,
}

impl Function {
    /// A function with 512 MB and 29 s.
    pub fn new(
        description: &str,
        architecture: Architecture,
        code: FunctionCode,
        role: &Handle<Role>,
        log_group: &Handle<LogGroup>,
    ) -> Self {
        Self {
            description: description.to_owned(),
            architecture,
            code,
            role: role.arn(),
            log_group: log_group.name(),
            memory_mb: 512,
            timeout_s: 29,
            is_traced: false,
            environment: Vec::new(),
        }
    }

    /// Sets the memory in MB.
    #[must_use]
    pub fn memory_mb(mut self, memory_mb: u32) -> Self {
        self.memory_mb = memory_mb;
        self
    }

    /// Sets the seconds after which a call is cut off.
    #[must_use]
    pub fn timeout_s(mut self, timeout_s: u32) -> Self {
        self.timeout_s = timeout_s;
        self
    }

    /// Sets whether X-Ray traces its calls; its role has to allow that.
    #[must_use]
    pub fn traced(mut self, is_traced: bool) -> Self {
        self.is_traced = is_traced;
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn environment(mut self, name: &str, value: impl Into<Expression>) -> Self {
        self.environment.push((name.to_owned(), value.into()));
        self
    }

    fn variables(&self) -> Value {
        let variables: Map<String, Value> = self
            .environment
            .iter()
            .map(|(name, value)| (name.clone(), value.clone().into()))
            .collect();
        json!({ "Variables": variables })
    }
}

impl Construct for Function {
    const TYPE: ResourceType = ResourceType::Function;

    fn properties(self) -> Map<String, Value> {
        let code = Properties::new()
            .set("S3Bucket", self.code.bucket.clone())
            .set("S3Key", self.code.key.clone());
        let logging =
            Properties::new().set("LogFormat", "JSON").set("LogGroup", self.log_group.clone());
        // Said in any case: what is not said is left as it is.
        let tracing = if self.is_traced { "Active" } else { "PassThrough" };
        Properties::new()
            .set("Architectures", vec![self.architecture.name()])
            .set("Code", code)
            .set("Description", self.description.as_str())
            .set_option("Environment", (!self.environment.is_empty()).then(|| self.variables()))
            .set("Handler", "bootstrap")
            .set("LoggingConfig", logging)
            .set("MemorySize", self.memory_mb)
            .set("Role", self.role.clone())
            .set("Runtime", "provided.al2023")
            .set("Timeout", self.timeout_s)
            .set("TracingConfig", json!({ "Mode": tracing }))
            .into_map()
    }
}
