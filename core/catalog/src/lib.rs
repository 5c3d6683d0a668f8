//! The catalog of spreadsheets: their names, status and sharing, which are stored as event streams.
//! The crate also contains the feed of all events, and the webhook that delivers the feed.

pub mod access;
pub mod feed;
pub mod oidc;
pub mod purge;
pub mod records;
pub mod spreadsheet;
pub mod stream;
pub mod webhook;
