//! The HTTP API: one axum router, used in Lambda and in the local stack.

mod accept_encoding;
mod append;
mod auth;
mod bodies;
#[cfg(test)]
mod bounds;
mod cell_history;
mod cells;
mod chunks;
mod config;
mod cost;
mod create;
mod deadline;
mod details;
#[cfg(test)]
mod document;
#[cfg(test)]
mod document_examples;
#[cfg(test)]
mod document_schemas;
mod entries;
mod extract;
mod feed;
mod filter;
mod find;
mod forks;
mod head;
mod health;
mod history;
mod if_none_match;
mod imports;
mod json;
mod links;
mod list;
mod members;
mod merges;
mod openapi;
mod page;
mod page_policy;
mod pokes;
mod position_parameter;
mod presence;
mod pull;
mod push;
mod reply;
mod routes;
mod sheets;
mod start_page;
mod state;
mod stats;
mod sync;
mod trace;
mod uploads;
mod whole_body;

pub use bodies::BodyBudget;
pub use routes::router;
pub use state::{ApiPorts, ApiState};
