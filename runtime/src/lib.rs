//! The runtime: AWS adapters of the engine's ports, the HTTP API and the Lambda handlers.
//!
//! Thin on purpose: what is decided is decided in the core, what is driven is driven by the engine.

pub mod api;
pub mod bootstrap;
pub mod dynamodb;
mod outcome;
pub mod relay;
pub mod s3;
pub mod sdk;
pub mod settings;
pub mod snapshot;
pub mod sqs;
pub mod token;
