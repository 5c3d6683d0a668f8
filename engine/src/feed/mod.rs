//! The feed, which contains the events of all spreadsheets in one permanent order. Runs the state
//! machines of `cellar-catalog` with the Feed table.

mod audit;
mod error;
mod indexer;
mod reactions;
mod reader;
mod sources;
#[cfg(test)]
pub(crate) mod tests;
mod view;
mod webhook;

pub use audit::{Audit, Auditor, Finding};
pub use error::FeedError;
pub use indexer::Indexer;
pub use reactions::{NoReactions, Reactions};
pub use reader::{FeedItem, FeedPage, FeedReader};
pub use view::feed_reply;
pub use webhook::{Webhook, WebhookError, WebhookPorts};
