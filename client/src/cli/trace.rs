//! The command `cellar trace`.

use std::sync::Arc;

use cellar_sheet::cell::Value;
use console::Alignment;

use super::args;
use super::context::Context;
use super::error::CliError;
use super::output::{Output, format_rows};
use super::warnings::mark_if_stale;
use crate::editor::CellReference;
use crate::reader::{ChunkCache, Reader, Trace};
use crate::text::escape;

const USAGE: &str = "name a cell, such as `cellar trace B2`";

pub(super) async fn trace_cell(
    context: &Context,
    output: &Output,
    args: args::Trace,
) -> Result<(), CliError> {
    let reference = CellReference::parse(&args.cell)
        .map_err(|why| CliError::usage(format!("`{}` is {why}", args.cell), USAGE))?;
    let spreadsheet = context.spreadsheet()?;
    let sheet = args.sheet.or(reference.sheet);
    let cache = Some(Arc::new(ChunkCache::new(&context.directory)));
    let min_position = context.seen_position(&spreadsheet);
    let mut reader = Reader::open(spreadsheet.clone(), min_position, cache).await?;
    let trace = reader.trace(sheet.as_deref(), reference.cell).await?;
    output.print_json(&trace)?;
    output.print_lines(lines(&trace))?;
    if let Some(note) = &trace.note {
        let mark = if trace.stale { "* " } else { "" };
        output.print_note(format!("{mark}{}: {}", escape(&trace.cell), escape(note)));
    }
    context.print_unsent_note(&spreadsheet, output);
    if !trace.complete {
        output.print_note("More formulas read the cell.");
    }
    Ok(())
}

fn lines(trace: &Trace) -> Vec<String> {
    let value = match &trace.content.value {
        Value::Empty => "empty".to_owned(),
        _ => escape(&trace.content.text()),
    };
    let formula = trace.content.formula.as_deref().map(escape);
    let content = formula.map_or(value.clone(), |formula| format!("{formula} is {value}"));
    let content = mark_if_stale(content, u64::from(trace.stale));
    let mut rows = vec![[String::new(), escape(&trace.cell), content]];
    let word = |index: usize, word: &str| if index == 0 { word.to_owned() } else { String::new() };
    if let Some(anchor) = &trace.filled_by {
        rows.push(["is filled by".to_owned(), escape(anchor), String::new()]);
    }
    for (index, cells) in trace.reads.iter().enumerate() {
        rows.push([word(index, "reads"), escape(cells), String::new()]);
    }
    for (index, reader) in trace.read_by.iter().enumerate() {
        rows.push([word(index, "is read by"), escape(&reader.cell), escape(&reader.formula)]);
    }
    if trace.reads.is_empty() && trace.read_by.is_empty() && trace.filled_by.is_none() {
        rows.push([
            String::new(),
            "reads no cell, and no formula reads it".to_owned(),
            String::new(),
        ]);
    }
    format_rows([Alignment::Left; 3], &rows)
}
