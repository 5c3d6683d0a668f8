//! `cellar export`

use std::io;
use std::path::Path;

use super::args;
use super::context::Context;
use super::error::CliError;
use super::output::{Output, count};
use crate::CellsQuery;
use crate::export::{ExportError, fetch};

pub(super) async fn run(
    context: &Context,
    output: &Output,
    args: args::Export,
) -> Result<(), CliError> {
    let to_stdout = args.file == Path::new("-");
    if to_stdout && output.json {
        return Err(CliError::usage(
            "--json and - both want standard output",
            "export to a file, or leave out --json",
        ));
    }
    // Found before the work, and once more when the file is moved into place.
    if !to_stdout && !args.force && args.file.exists() {
        return Err(ExportError::Exists { path: args.file }.into());
    }
    let spreadsheet = context.spreadsheet()?;
    let client = context.client()?;
    let seen = context.seen(&client, spreadsheet);
    let is_first = args.sheet.is_none();
    let query = CellsQuery { sheet: args.sheet, at: args.at, seen, ..CellsQuery::default() };
    let progress = Spinner::new(output);
    let fetched = fetch(&client, spreadsheet, query, |cells| progress.cells(cells)).await?;
    progress.end();
    if to_stdout {
        fetched.write_to(io::stdout().lock())?;
        return Ok(());
    }
    let exported = fetched.write_file(&args.file, args.force)?;
    if args.at.is_none() {
        let first_sheet = is_first.then_some(exported.sheet);
        let at = (exported.position, exported.epoch);
        context.saw(&client, spreadsheet, at, first_sheet);
    }
    output.result(&serde_json::json!({
        "spreadsheet": spreadsheet,
        "file": args.file.display().to_string(),
        "position": exported.position,
        "rows": exported.rows,
        "columns": exported.columns,
        "cells": exported.cells,
    }))?;
    output.say(format!(
        "{}: {} of {}, {}, at {}",
        args.file.display(),
        count(exported.rows, "row", "rows"),
        count(exported.columns, "field", "fields"),
        count(exported.cells, "cell", "cells"),
        exported.position
    ))?;
    Ok(())
}

/// A count of cells while they are read; only on a terminal.
struct Spinner(indicatif::ProgressBar);

impl Spinner {
    fn new(output: &Output) -> Self {
        // indicatif itself draws nothing where stderr is not a terminal.
        let bar = if output.json {
            indicatif::ProgressBar::hidden()
        } else {
            indicatif::ProgressBar::new_spinner()
        };
        bar.enable_steady_tick(std::time::Duration::from_millis(100));
        Self(bar)
    }

    fn cells(&self, cells: u64) {
        self.0.set_message(count(cells, "cell", "cells"));
    }

    fn end(&self) {
        self.0.finish_and_clear();
    }
}
