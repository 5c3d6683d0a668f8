//! Client library of Cellar and the `cellar` command-line tool.
//!
//! - [`Client`] sends requests to the HTTP API, with retries and response size limits.
//! - [`profile`] reads and writes `.cellar/profile.json`, with the API URL and the token.
//! - [`editor`] makes edits that survive crashes and take effect exactly once.
//! - [`live`] shows and edits a spreadsheet online or offline, and syncs it with the server.
//! - [`feed`] follows the change feed of all spreadsheets in a stack.
//! - [`reader`] reads cells directly from snapshots, with a disk cache.
//! - [`replay`] replays a fork's edits onto a later position of its source.
//! - [`import`] and [`export`] convert files of other programs to sheets and back.
//! - [`text`] escapes control characters in texts.
//! - `cli` is the `cellar` command, with the feature `cli`.
//!
//! ```no_run
//! # async fn example() -> Result<(), cellar::ClientError> {
//! let client = cellar::Client::new("http://127.0.0.1:8080", None)?;
//! let spreadsheet = client.create_spreadsheet("budget 2026").await?;
//! for cell in spreadsheet.cells(cellar::CellsQuery::default()).collect().await? {
//!     println!("{}", cell.cell.text());
//! }
//! # Ok(())
//! # }
//! ```

#![deny(missing_docs)]

#[cfg(feature = "cli")]
pub mod cli;
mod client;
mod connect;
mod describe;
pub mod editor;
mod error;
pub mod export;
pub mod feed;
mod file_target;
pub mod files;
mod follow;
pub mod import;
pub mod live;
mod outbox;
pub mod owner;
pub mod profile;
pub mod reader;
pub mod replay;
mod sheet_deletion;
pub mod text;
pub mod user_file;

pub use client::{
    AttemptOutcome, BodyFault, CellsQuery, Client, FeedQuery, ItemStream, MAX_REPLY_BODY_BYTES,
    Pokes, RequestCosts, Spreadsheet, SpreadsheetsQuery, read_body,
};
pub use connect::ConnectError;
pub use error::ClientError;
pub use follow::FollowEvent;
