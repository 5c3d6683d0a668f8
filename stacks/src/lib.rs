//! Typed CloudFormation constructs and the Cellar stack: configuration in, template out.
//!
//! Nothing here reads a clock, a random number, a file or the network, so the same configuration
//! always gives the same bytes.
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
//! - [`constructs`]: one typed struct per kind of AWS resource.
//! - [`stack`]: collects constructs, hands out references, checks every one of them.
//! - [`difference`]: what a deployment would change, and how grave that is.
//! - [`template`]: the result; writes JSON and YAML, reads JSON, resolves intrinsics.
//! - [`wildcard`]: the names of policies, with `*` and `?`.
//! - [`cellar`]: the stack that Cellar deploys.

mod brackets;
pub mod cellar;
pub mod config;
pub mod constructs;
pub mod difference;
pub mod expression;
pub mod stack;
mod suggest;
pub mod template;
pub mod wildcard;

pub use cellar::{CellarStackError, cellar_stack};
pub use config::{Architecture, Config, ConfigError, FeedScope};
pub use expression::Expression;
pub use stack::Stack;
pub use template::{Lookup, Template};
