//! The local stack: runs the runtime's handlers in one process on 127.0.0.1, configured by a
//! synthesized template, with an embedded DynamoDB and file storage.
//!
//! The local stack is meant for development, but it protects its data from other users and from web
//! pages. The embedded DynamoDB, SQS and S3 each use a separate port and accept only requests
//! signed with known credentials. The operator's credentials are stored in the state directory.
//! Each function has its own credentials, limited to the permissions of its role in the template.
//! The API requires a token.
//!
//! The template defines the tables, the buckets with their lifecycle rules, and the queues. It also
//! defines the functions' environment variables, the function URL with its CORS rules, and the
//! event source mappings.

mod access;
mod aws_json;
mod buckets;
mod cloud;
mod cors;
mod database;
mod direct_client;
mod disk_space;
mod error;
mod events;
mod functions;
mod names;
mod pokes;
mod queues;
mod recursion;
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
pub use state::{Endpoints, Occupancy, RunningStack, SnapshotEndpoints, StateFolder};
