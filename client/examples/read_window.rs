//! Prints a window of a spreadsheet of any size: `cargo run --example read_window ID A1:D20`.
//!
//! The reader downloads only the chunks that contain the window, and keeps them on disk.

use cellar::{Client, Range, SpreadsheetId};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(id), Some(range)) = (arguments.next(), arguments.next()) else {
        return Err("usage: read_window ID RANGE".into());
    };
    let id: SpreadsheetId = id.parse()?;
    let range: Range = range.parse()?;

    let mut reader = Client::from_env()?.spreadsheet(id).reader().await?;
    let window = reader.cells(range.sheet.as_deref(), range.rectangle).await?;
    println!("{} at {}", window.name, window.position);
    for found in window.cells {
        println!("{} = {}", found.name(), found.text());
    }
    Ok(())
}
