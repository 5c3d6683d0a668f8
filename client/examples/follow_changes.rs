//! Prints the changes of a spreadsheet as they are made: `cargo run --example follow_changes ID`.
//!
//! A position as the second argument also prints the changes after it, and a third argument is the
//! number of changes after which the program ends.

use cellar::{Client, FollowEvent, Position, SpreadsheetId};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let id: SpreadsheetId = arguments.next().ok_or("usage: follow_changes ID")?.parse()?;
    let after: Option<Position> = arguments.next().map(|text| text.parse()).transpose()?;
    let mut remaining: Option<u64> = arguments.next().map(|text| text.parse()).transpose()?;

    let mut events = Client::from_env()?.spreadsheet(id).follow(after);
    while remaining != Some(0) {
        match events.try_next().await? {
            Some(FollowEvent::Entry(entry)) => {
                let author = entry.author.as_deref().unwrap_or("somebody");
                println!("{} {author} {} edits", entry.position, entry.mutations.len());
                remaining = remaining.map(|count| count - 1);
            }
            Some(FollowEvent::Skipped { to, .. }) => println!("{to} read the cells again"),
            Some(FollowEvent::Offline(error)) => println!("offline: {error}"),
            Some(_) => {}
            None => break,
        }
    }
    Ok(())
}
