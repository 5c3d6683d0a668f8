//! Typed constructs for CloudFormation resources, and the stack that Cellar deploys. The input is a
//! configuration, and the output is a template.
//!
//! The crate does not use the clock, random numbers, files or the network, so the same
//! configuration always yields the same bytes.
//!
//! ```
//! use cellar_stacks::{Architecture, Config, cellar_stack};
//!
//! let config = Config::parse("api:\n  memory_mb: 1024\n", "cellar.yaml")?;
//! let template = cellar_stack(&config, config.architecture_or(Architecture::Arm64))?;
//! assert!(template.to_json().contains("\"MemorySize\": 1024"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`config`]: `cellar.yaml`, its limits and its errors.
//! - [`constructs`]: a typed struct for each AWS resource type in use.
//! - [`stack`]: collects constructs, creates references to them and validates every reference.
//! - [`difference`]: the changes that a deployment would make, with their severity.
//! - [`picture`]: a stack, or its changes, as a Mermaid flowchart.
//! - [`template`]: the result, written as JSON or YAML; reads JSON and resolves intrinsic functions.
//! - [`wildcard`]: IAM patterns with `*` and `?`.
//! - [`cellar`]: the stack that Cellar deploys.

mod brackets;
pub mod cellar;
pub mod config;
pub mod constructs;
pub mod difference;
pub mod expression;
pub mod picture;
pub mod stack;
mod suggest;
pub mod template;
pub mod wildcard;

pub use cellar::{CellarStackError, FUNCTION_URL_ORIGINS, cellar_stack};
pub use config::{Architecture, Config, ConfigError, FeedScope};
pub use expression::Expression;
pub use stack::Stack;
pub use template::{DeployedValues, Template};
