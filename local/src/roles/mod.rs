//! Authorizes the template's functions in the same way as IAM roles in AWS.
//!
//! Each function has separate credentials and the permissions that its role's inline policies
//! grant. The credentials in the state directory belong to the operator and grant all permissions.
//! Resource-based policies of buckets and queues are ignored: in the template, they only require
//! TLS, which the local stack does not use.

mod access_request;
mod condition;
mod expression;
mod function;
mod function_roles;
mod keys;
pub(crate) mod messages;
pub(crate) mod objects;
mod read;
mod role;
mod sources;
mod statement;
pub(crate) mod tables;
#[cfg(test)]
mod tests;

pub(crate) use self::access_request::AccessRequest;
pub(crate) use self::function_roles::{Denied, RequestParser};
pub use self::function_roles::{Permission, Roles};
pub(crate) use self::keys::Caller;
pub(crate) use self::sources::queue_with_role;
