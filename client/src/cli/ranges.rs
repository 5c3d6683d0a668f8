//! `cellar clear` and `cellar format`

use cellar_core::a1::{Range, Rectangle};
use cellar_core::operation::{ClearRange, Operation, SetFormat};

use super::args;
use super::context::Context;
use super::edit::{Edit, one_sheet, spans};
use super::error::CliError;
use super::get::range_text;
use super::output::Output;
use crate::table::escape;

pub(super) async fn clear(
    context: &Context,
    output: &Output,
    args: args::Clear,
) -> Result<(), CliError> {
    let sheet = one_sheet(args.sheet, Some(&args.range))?;
    let edit = Edit::new(context)?;
    let sheet = edit.sheet(sheet.as_deref()).await?;
    let (rows, columns) = spans(args.range.rectangle);
    let operation = Operation::ClearRange(ClearRange { sheet, rows, columns });
    edit.apply(output, operation, &format!("{} cleared", named(&args.range))).await
}

pub(super) async fn format(
    context: &Context,
    output: &Output,
    args: args::Format,
) -> Result<(), CliError> {
    let sheet = one_sheet(args.sheet, Some(&args.range))?;
    let edit = Edit::new(context)?;
    let sheet = edit.sheet(sheet.as_deref()).await?;
    let (rows, columns) = spans(args.range.rectangle);
    let what = format!("{} shown as {}", named(&args.range), escape(&args.format));
    let operation = Operation::SetFormat(SetFormat { sheet, rows, columns, format: args.format });
    edit.apply(output, operation, &what).await
}

fn named(range: &Range) -> String {
    if range.rectangle == Rectangle::EVERYTHING {
        "everything".to_owned()
    } else {
        range_text(range)
    }
}
