//! Tests of the client over HTTP, against an in-memory API with injected faults.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail by panicking"
)]

mod calls;
mod catalog;
mod command;
mod edit_command;
mod edit_imports;
mod edits;
mod export;
mod fake;
mod foreign_profiles;
mod handle;
mod import_command;
mod large_edits;
mod live;
mod pages;
mod reader;
mod sheet_imports;
mod sync_command;
mod user_files;
mod workbook_imports;

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}
