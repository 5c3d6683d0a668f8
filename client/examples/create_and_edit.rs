//! Creates a spreadsheet, sets cells and a formula, and reads them: `cargo run --example create_and_edit`.
//!
//! Like all examples, it uses CELLAR_URL and CELLAR_TOKEN, or the profile of `synth deploy --local`.

use cellar::{CellsQuery, Client, Value};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = Client::from_env()?;
    let spreadsheet = client.create_spreadsheet("budget 2026").await?;
    spreadsheet.set("A1", "rent").await?;
    spreadsheet.set("B1", "1250.00").await?;
    spreadsheet.set_value("B2", Value::Number(80.0)).await?;
    let edit = spreadsheet.set("B3", "=SUM(B1:B2)").await?;

    let query = CellsQuery::of_range("A1:B3").at_or_after(edit.position);
    for found in spreadsheet.cells(query).collect().await? {
        println!("{} = {}", found.name(), found.text());
    }
    println!("spreadsheet {} at {}", spreadsheet.id(), edit.position);
    Ok(())
}
