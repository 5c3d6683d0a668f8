//! The settings of a stack, which are read from `cellar.yaml`.
//!
//! Every field has a default, so an empty file is a complete configuration. An unknown field is
//! rejected, because a misspelled setting would otherwise be silently ignored. The error suggests
//! the correct name.

mod alarms;
mod architecture;
mod arn;
mod documented;
mod duration;
mod encryption;
mod error;
mod feed;
mod fields;
pub mod limits;
mod oidc;
mod origin;
mod parse;
mod region;
mod snapshots;
mod stages;
mod tags;
mod tokens;
mod validate;
mod webhook;

pub use alarms::Alarms;
pub use architecture::Architecture;
pub use encryption::Encryption;
pub use error::{ConfigError, ConfigProblem, IssuerFault, SourcePosition, TagFault, UnknownField};
pub use feed::FeedScope;
pub use fields::{Api, Config, Limits, Local, Stage};
pub use origin::OriginFault;
pub use snapshots::Snapshots;
pub use tokens::{TokenKey, Tokens};
pub use webhook::Webhook;
