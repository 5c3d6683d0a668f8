//! The client of Cellar: what programs use, and the `cellar` command for people.
//!
//! - [`Client`] makes the calls of the HTTP API, repeats what may be repeated, and bounds what it
//!   reads.
//! - [`profile`] is the file `.cellar/profile.json`: where the API is and how to get in.
//! - [`editor`] makes edits that survive a crash and happen at most once.
//! - [`live`] is a spreadsheet that is shown and edited offline, too, and kept in step with the server.
//! - [`feed`] follows everything that was ever appended to the stack's streams.
//! - [`reader`] reads cells from snapshots itself, and keeps what it has loaded.
//! - [`replay`] replays the edits of a fork onto a later position of its source.
//! - [`import`] and [`export`] turn files of other programs into sheets and back, without a loss.
//! - [`table`] shows cells on a terminal, whatever is in them.
//! - [`report`] says what went wrong, alike in every command.
//! - [`cli`] is the command itself.
//!
//! ```no_run
//! # async fn example() -> Result<(), cellar::ClientError> {
//! use cellar::{CellsQuery, Client};
//! use cellar_api::wire::CreateRequest;
//!
//! let client = Client::new("http://127.0.0.1:8080", None)?;
//! let created = client.create(&CreateRequest::new("budget 2026".into())).await?;
//! let first_screen = CellsQuery { range: Some("A1:G20".into()), ..CellsQuery::default() };
//! for placed in client.cells(created.id, &first_screen).await?.cells {
//!     println!("{}", placed.cell.text());
//! }
//! # Ok(())
//! # }
//! ```

#![deny(missing_docs)]

pub mod cli;
mod client;
mod describe;
pub mod editor;
mod error;
pub mod export;
pub mod feed;
pub mod files;
pub mod help;
pub mod import;
pub mod live;
mod outbox;
pub mod owner;
pub mod profile;
pub mod reader;
pub mod replay;
pub mod report;
mod sheet_loss;
pub mod table;
pub mod user_file;

pub use client::{
    Attempted, BodyFault, CellsQuery, Client, FeedQuery, MAX_REPLY_BODY_BYTES, Pokes, Spent,
    SpreadsheetsQuery, author_of_token, read_body, subject_key_of_token, subject_of_token,
};
pub use error::ClientError;
