//! Functions that convert values to text and concatenate them.

use cellar_sheet::cell::{ErrorCode, Value};

use crate::call::{Call, ensure};
use crate::function::{Function, MANY, eager};
use crate::limits::MAX_TEXT_CHARACTERS;
use crate::number::to_i64;
use crate::operand::{Operand, Outcome};
use crate::value::to_text;

pub(super) static FUNCTIONS: &[Function] = &[
    eager("ARRAYTOTEXT", 1, 2, "as", array_to_text),
    eager("CONCAT", 1, MANY, "w", |call| {
        let mut text = String::new();
        for operand in call.arguments {
            call.visit_by_row(operand, &mut |value| {
                text.push_str(&to_text(value)?);
                check_length(&text)
            })?;
        }
        call.text_result(text)
    }),
    eager("CONCATENATE", 1, MANY, "s", |call| {
        let mut text = String::new();
        for index in 0..call.len() {
            text.push_str(&call.text(index)?);
            check_length(&text)?;
        }
        call.text_result(text)
    }),
    eager("TEXTJOIN", 3, MANY, "ws|w", text_join),
    eager("VALUETOTEXT", 1, 2, "s", |call| {
        let strict = is_strict(call)?;
        call.text_result(shown(&call.any_value(0)?, strict)?)
    }),
];

/// Fails with `#VALUE!` as soon as a partial result exceeds the maximum length, to limit memory
/// usage.
fn check_length(text: &str) -> Outcome<()> {
    const LONGEST_CHARACTER_BYTES: usize = 4;
    ensure(text.len() <= MAX_TEXT_CHARACTERS * LONGEST_CHARACTER_BYTES, ErrorCode::Value)
}

impl Call<'_, '_> {
    /// Calls `visit` with each value of an operand, row by row.
    pub(super) fn visit_by_row(
        &self,
        operand: &Operand,
        visit: &mut dyn FnMut(&Value) -> Outcome<()>,
    ) -> Outcome<()> {
        match operand {
            Operand::Omitted => visit(&Value::Empty),
            Operand::Value(value) => visit(value),
            Operand::Reference(areas) => areas.iter().try_for_each(|area| {
                let Some(used) = self.evaluator.used_part(*area) else { return Ok(()) };
                let matrix = self.evaluator.matrix(&Operand::area(used))?;
                matrix.values.iter().try_for_each(&mut *visit)
            }),
            other => self.evaluator.matrix(other)?.values.iter().try_for_each(visit),
        }
    }
}

fn is_strict(call: &Call<'_, '_>) -> Outcome<bool> {
    match to_i64(call.number_or(1, 0.0)?) {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(ErrorCode::Value.into()),
    }
}

/// Converts a value to text. In strict format, strings are enclosed in quotation marks.
fn shown(value: &Value, is_strict: bool) -> Outcome<String> {
    match value {
        Value::Text(text) if is_strict => Ok(format!("\"{}\"", text.replace('"', "\"\""))),
        Value::Error(code) => Ok(code.to_string()),
        other => to_text(other),
    }
}

fn array_to_text(call: &Call<'_, '_>) -> Outcome<Operand> {
    let strict = is_strict(call)?;
    let matrix = call.evaluator.matrix(call.operand(0))?;
    let mut rows = Vec::with_capacity(matrix.rows);
    let mut bytes = 0;
    for row in 0..matrix.rows {
        let mut texts = Vec::with_capacity(matrix.columns);
        for value in matrix.row(row) {
            let text = shown(value, strict)?;
            bytes += text.len();
            ensure(bytes <= 4 * MAX_TEXT_CHARACTERS, ErrorCode::Value)?;
            texts.push(text);
        }
        rows.push(texts.join(if strict { "," } else { ", " }));
    }
    let text = rows.join(if strict { ";" } else { ", " });
    call.text_result(if strict { format!("{{{text}}}") } else { text })
}

fn text_join(call: &Call<'_, '_>) -> Outcome<Operand> {
    let mut delimiters = Vec::new();
    call.visit_by_row(call.operand(0), &mut |value| {
        delimiters.push(to_text(value)?);
        Ok(())
    })?;
    let skips_empty = match call.value(1)? {
        Value::Empty => true,
        _ => call.boolean(1)?,
    };
    let mut text = String::new();
    let mut count = 0;
    for operand in call.arguments.iter().skip(2) {
        call.visit_by_row(operand, &mut |value| {
            let part = to_text(value)?;
            if skips_empty && part.is_empty() {
                return Ok(());
            }
            if count > 0
                && let Some(delimiter) = delimiters.get((count - 1) % delimiters.len().max(1))
            {
                text.push_str(delimiter);
            }
            count += 1;
            text.push_str(&part);
            check_length(&text)
        })?;
    }
    call.text_result(text)
}
