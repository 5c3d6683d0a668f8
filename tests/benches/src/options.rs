//! Command-line options.

use crate::Failure;

/// Benchmarks that can be selected.
const WORKS: [&str; 6] = ["fold", "sheet", "formulas", "calculation", "totals", "values"];

/// Format of the table.
pub(crate) enum Format {
    Text,
    Json,
    Markdown,
}

pub(crate) struct Options {
    /// How the table is printed.
    pub(crate) format: Format,
    /// Rows of the large sheet.
    pub(crate) rows: u32,
    /// Number of random edits.
    pub(crate) edits: u32,
    only: Option<String>,
    /// System whose import runs in this process to measure its memory: see `peak_memory`.
    pub(crate) peak: Option<String>,
}

impl Options {
    pub(crate) fn of(mut arguments: impl Iterator<Item = String>) -> Result<Self, Failure> {
        let mut options = Self {
            format: Format::Text,
            rows: 1_000_000,
            edits: 1_000_000,
            only: None,
            peak: None,
        };
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} has no value"));
            match argument.as_str() {
                "--json" => options.format = Format::Json,
                "--markdown" => options.format = Format::Markdown,
                "--rows" => options.rows = number(&value()?, 10_000)?,
                "--edits" => options.edits = number(&value()?, 1_000)?,
                "--only" => options.only = Some(work(value()?)?),
                "--peak" => options.peak = Some(value()?),
                _ => return Err(format!("`{argument}` is no option").into()),
            }
        }
        Ok(options)
    }

    pub(crate) fn wants(&self, work: &str) -> bool {
        self.only.as_deref().is_none_or(|only| only == work)
    }
}

fn number(text: &str, least: u32) -> Result<u32, Failure> {
    let number: u32 = text.replace('_', "").parse()?;
    if !(least..=10_000_000).contains(&number) {
        return Err(format!("{number} is not between {least} and 10,000,000").into());
    }
    Ok(number)
}

fn work(name: String) -> Result<String, Failure> {
    if WORKS.contains(&name.as_str()) {
        return Ok(name);
    }
    Err(format!("`{name}` is none of {}", WORKS.join(", ")).into())
}
