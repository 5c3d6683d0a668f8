//! Imports a file as a new spreadsheet: `cargo run --example import_csv FILE.csv`.

use cellar::Client;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: import_csv FILE.csv")?;
    let client = Client::from_env()?;
    // If this is interrupted, the next run resumes it. No sheet is imported twice.
    let imported = client.import_file(&path).await?;
    for sheet in &imported.sheets {
        println!("{}: {} cells in {} rows", sheet.name, sheet.cells, sheet.extent.rows);
    }
    println!("spreadsheet {} at {}", imported.spreadsheet, imported.position);
    Ok(())
}
