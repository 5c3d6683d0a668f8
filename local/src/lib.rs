//! The local stack: runs the runtime's handlers, as a synthesized template configures them, in one
//! process on 127.0.0.1, over an embedded DynamoDB and files.
//!
//! The local stack is for development, but its data is protected from other accounts and from web
//! pages. The embedded DynamoDB, SQS and S3 each have their own port and accept only requests that
//! are signed with the credentials in the state folder. The API requires a token. Functions have
//! their own credentials and may do only what their roles in the template permit.
//!
//! The template is the only source of the tables, the buckets with their lifecycle rules, the
//! queues, the environment variables, the function URL with its CORS rules, and the event source
//! mappings.

mod access;
mod aws_json;
mod buckets;
mod cloud;
mod cors;
mod database;
mod error;
mod events;
mod functions;
mod names;
mod pokes;
mod queues;
mod roles;
mod server;
mod services;
mod serving;
mod state;
mod store;
mod tables;

pub use cloud::{LocalCloud, Options, Ports};
pub use error::{FilterError, LocalError};
pub use functions::MakeBuilder;
pub use queues::LocalQueue;
pub use roles::{Permission, Roles};
pub use state::{Endpoints, Occupancy, Running, SnapshotEndpoints, StateFolder};
