//! The catalog: event streams, sharing, the feed of all changes, and the webhook that delivers the
//! feed.

pub mod access;
pub mod feed;
pub mod oidc;
pub mod purge;
pub mod records;
pub mod spreadsheet;
pub mod stream;
pub mod webhook;
