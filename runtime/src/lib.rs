//! The HTTP API, the Lambda handlers, and the AWS adapters for the engine's ports. This crate
//! contains no application logic: the state machines are defined in `core` and run by `engine`.

pub mod api;
#[cfg(feature = "aws")]
pub mod bootstrap;
#[cfg(feature = "aws")]
pub mod dynamodb;
#[cfg(feature = "aws")]
mod function_url;
#[cfg(feature = "aws")]
mod http;
#[cfg(feature = "aws")]
pub mod indexer;
#[cfg(feature = "aws")]
mod outcome;
#[cfg(feature = "aws")]
pub mod relay;
#[cfg(feature = "aws")]
pub mod s3;
#[cfg(feature = "aws")]
pub mod sdk;
pub mod settings;
#[cfg(feature = "aws")]
pub mod snapshot;
#[cfg(feature = "aws")]
pub mod sqs;
#[cfg(feature = "aws")]
mod table_stream;
pub mod token;
#[cfg(feature = "aws")]
pub mod webhook;

#[cfg(feature = "aws")]
pub use outcome::STORAGE_FULL_CODE;
