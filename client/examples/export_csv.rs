//! Exports the first sheet of a spreadsheet: `cargo run --example export_csv ID FILE.csv`.

use cellar::{Client, SpreadsheetId};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(id), Some(path)) = (arguments.next(), arguments.next()) else {
        return Err("usage: export_csv ID FILE.csv".into());
    };
    let id: SpreadsheetId = id.parse()?;
    let exported = Client::from_env()?.spreadsheet(id).export_csv(&path).await?;
    for sheet in &exported.sheets {
        println!("{}: {} cells at {} to {path}", sheet.name, sheet.cells, exported.position);
    }
    Ok(())
}
