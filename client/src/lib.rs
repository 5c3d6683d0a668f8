//! The client library of Cellar: create, read, edit, follow, import and export spreadsheets.
//!
//! A [`Client`] knows the URL of the API, the token and a folder for local state. A [`Spreadsheet`]
//! is a handle of one spreadsheet. Programs depend on this crate alone: the types that it takes and
//! returns are re-exported here, and those of the HTTP API are in [`wire`].
//!
//! ```toml
//! [dependencies]
//! cellar = { path = "../cellar/client", default-features = false }
//! tokio = { version = "1", features = ["macros", "rt-multi-thread"] }
//! ```
//!
//! The default feature `cli` adds the `cellar` command and everything that only a terminal needs.
//!
//! # Connect and create
//!
//! [`Client::from_env`] reads `CELLAR_URL` and `CELLAR_TOKEN`, or the profile that `synth deploy`
//! writes.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use cellar::Client;
//!
//! let client = Client::new("http://127.0.0.1:8480", Some("TOKEN"))?.with_folder(".");
//! let spreadsheet = client.create_spreadsheet("budget 2026").await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Read
//!
//! Lists are streams ([`ItemStream`]), which request their pages as they are needed. For windows of
//! large spreadsheets, [`Spreadsheet::reader`] downloads only the chunks that contain them, and
//! caches them.
//!
//! ```no_run
//! # async fn example(client: cellar::Client, id: cellar::SpreadsheetId) -> Result<(), cellar::ClientError> {
//! use cellar::CellsQuery;
//!
//! let mut cells = client.spreadsheet(id).cells(CellsQuery::of_range("A1:G20"));
//! while let Some(cell) = cells.try_next().await? {
//!     println!("{} = {}", cell.name(), cell.text());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! [`Spreadsheet::find`] finds cells by their text, and [`Spreadsheet::filter`] returns the rows that fulfil
//! [conditions](condition); [`Spreadsheet::filter_totals`] counts them and adds up a column. The server
//! searches, so that sheets can have any size.
//!
//! ```no_run
//! # async fn example(spreadsheet: cellar::Spreadsheet) -> Result<(), cellar::ClientError> {
//! use cellar::{FilterQuery, FindQuery};
//!
//! let mut found = spreadsheet.find(FindQuery::of_text("austin"));
//! while let Some(cell) = found.try_next().await? {
//!     println!("{}!{} = {}", cell.name, cell.cell_name(), cell.text());
//! }
//! let totals = spreadsheet.filter_totals(FilterQuery::of("D=TX && F>=30").with_sum("F")).await?;
//! println!("{} rows, sum {:?}", totals.rows, totals.sum);
//! # Ok(())
//! # }
//! ```
//!
//! # Edit
//!
//! [`Spreadsheet::set`] types a text into a cell, and [`Spreadsheet::editor`] commits any
//! [`Operation`]. Every edit is saved before it is sent, and resent unchanged until it is answered:
//!
//! | event | effect |
//! |---|---|
//! | a response is lost | the request is repeated; the edit is committed once |
//! | the server stays unreachable | [`EditorError::Kept`](editor::EditorError::Kept); the next edit resends it first |
//! | the process ends, with [`Client::with_folder`] | the next edit of the next process resends it first |
//! | the process ends, without a folder | an edit without an answer is not resent; it may have been committed |
//!
//! ```no_run
//! # async fn example(spreadsheet: cellar::Spreadsheet) -> Result<(), cellar::editor::EditorError> {
//! use cellar::operation::{InsertBefore, Operation, SheetId};
//!
//! spreadsheet.set("A1", "42").await?;
//! spreadsheet.set_value("Sheet2!B3", cellar::Value::Number(1.5)).await?;
//! let insert = InsertBefore { sheet: SheetId::FIRST, before: 0, count: 2 };
//! spreadsheet.editor()?.apply(Operation::InsertRows(insert)).await?;
//! # Ok(())
//! # }
//! ```
//!
//! To edit offline, or to show edits before they are committed, use [`Spreadsheet::live`].
//!
//! # Follow
//!
//! ```no_run
//! # async fn example(spreadsheet: cellar::Spreadsheet) -> Result<(), cellar::ClientError> {
//! use cellar::FollowEvent;
//!
//! let mut events = spreadsheet.follow(None);
//! while let Some(event) = events.try_next().await? {
//!     if let FollowEvent::Entry(entry) = event {
//!         println!("{} by {:?}", entry.position, entry.author);
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! [`feed`] follows all spreadsheets of a stack.
//!
//! # Import and export
//!
//! ```no_run
//! # async fn example(client: cellar::Client) -> Result<(), Box<dyn std::error::Error>> {
//! let imported = client.import_file("airports.csv").await?;
//! client.spreadsheet(imported.spreadsheet).export_csv("copy.csv").await?;
//! # Ok(())
//! # }
//! ```
//!
//! [`import`] and [`export`] have the options, other formats and progress.
//!
//! # Versions
//!
//! [`Spreadsheet::history`] lists the entries, [`Spreadsheet::diff`] compares two positions,
//! [`CellsQuery::at_position`] reads at one, [`Spreadsheet::fork`] creates a fork, and [`replay`]
//! replays its edits onto a later position of its source.
//!
//! # Errors
//!
//! Errors state what is wrong. For whether a change was made, see
//! [`ClientError::certainly_not_done`] and [`EditorError`](editor::EditorError).

#![deny(missing_docs)]

#[cfg(feature = "cli")]
pub mod cli;
mod client;
pub mod compare;
mod concurrent;
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
pub mod stack_files;
pub mod text;
pub mod user_file;

pub use client::{
    AttemptOutcome, BodyFault, CellHistoryQuery, CellsQuery, Client, FeedQuery, FilterQuery,
    FilterTotals, FindQuery, FindTotals, ItemStream, MAX_REPLY_BODY_BYTES, Pokes, RequestCosts,
    Spreadsheet, SpreadsheetsQuery, http_client, read_body,
};
pub use connect::ConnectError;
pub use error::ClientError;
pub use follow::FollowEvent;

pub use cellar_api::cost::Cost;
pub use cellar_api::wire;
pub use cellar_base::identity::LogId as SpreadsheetId;
pub use cellar_base::position::Position;
pub use cellar_catalog::access::Role;
pub use cellar_catalog::spreadsheet::{LinkId, LinkRole};
pub use cellar_sheet::a1::{CellName, Range, Rectangle};
pub use cellar_sheet::cell::{Cell, ErrorCode, Value};
pub use cellar_sheet::condition;
pub use cellar_sheet::operation::{self, CellEdit, Operation, SetCells, SheetId};
pub use futures_util::Stream;
