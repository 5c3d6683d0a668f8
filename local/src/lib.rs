//! The local cloud: reads a synthesized template and runs the runtime's handlers in one process on
//! 127.0.0.1, over an embedded DynamoDB and files.
//!
//! It is for development, but no other account and no web page gets at its data: the embedded
//! DynamoDB, the queues and the embedded S3, each on a port of its own, answer only what is signed with
//! the credentials in the state folder, and the API asks for a token. Functions have keys of their own and may
//! do what their roles in the template permit, and nothing else.
//!
//! Tables, buckets with their lifecycle rules, queues, environment variables, the function behind a
//! URL and its CORS answers, and which records of which stream call which function come from the
//! template and are not repeated here.

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
pub use error::LocalError;
pub use events::FilterError;
pub use functions::MakeBuilder;
pub use queues::LocalQueue;
pub use roles::{Permission, Roles};
pub use state::{Endpoints, Occupancy, Running, SnapshotEndpoints, StateFolder};
