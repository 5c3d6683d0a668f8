//! `ADDRESS`, `INDIRECT`, `FORMULATEXT` and `HYPERLINK`.

use std::rc::Rc;

use cellar_sheet::a1::column_name;
use cellar_sheet::cell::ErrorCode;

use crate::call::{Call, ensure};
use crate::evaluate::Scope;
use crate::expression::{Link, Node, Operator};
use crate::function::{Function, eager};
use crate::number::{to_i64, to_u32};
use crate::operand::{Area, Operand, Outcome, Stop};
use crate::parse::Formula;

pub(super) static FUNCTIONS: &[Function] = &[
    eager("ADDRESS", 2, 5, "s", address),
    eager("FORMULATEXT", 1, 1, "w", |call| {
        let area = call.area(0)?;
        let formula = call.evaluator.source.formula(area.sheet, area.first);
        call.text_result(formula.ok_or(ErrorCode::NotAvailable)?)
    }),
    eager("HYPERLINK", 1, 2, "s", |call| {
        call.text(0)?;
        Ok(call.value(if call.has(1) { 1 } else { 0 })?.into())
    }),
    eager("INDIRECT", 1, 2, "s", indirect),
];

/// Returns a sheet name as written in a reference: in single quotes if necessary.
pub(in crate::library) fn quoted_sheet(name: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || matches!(character, '_' | '.');
    let starts_with_digit = name.starts_with(|first: char| first.is_ascii_digit());
    let looks_like_cell = name.len() <= 10
        && name.chars().any(|character| character.is_ascii_digit())
        && name
            .trim_start_matches(|letter: char| letter.is_ascii_alphabetic())
            .bytes()
            .all(|byte| byte.is_ascii_digit())
        && name.bytes().take_while(u8::is_ascii_alphabetic).count() <= 3;
    if name.chars().all(is_plain) && !starts_with_digit && !looks_like_cell {
        return name.to_owned();
    }
    format!("'{}'", name.replace('\'', "''"))
}

fn address(call: &Call<'_, '_>) -> Outcome<Operand> {
    let grid = call.evaluator.source.grid_size();
    let (row, column) = (call.number(0)?.trunc(), call.number(1)?.trunc());
    let kind = to_i64(call.given_number_or(2, 1.0)?);
    let is_a1 = call.given_boolean_or(3, true)?;
    ensure((1..=4).contains(&kind), ErrorCode::Value)?;
    let (fixed_row, fixed_column) = (kind == 1 || kind == 2, kind == 1 || kind == 3);
    let is_row = (1.0..=f64::from(grid.rows)).contains(&row);
    let is_column = (1.0..=f64::from(grid.columns)).contains(&column);
    let text = if is_a1 {
        ensure(is_row && is_column, ErrorCode::Value)?;
        let dollar = |is_fixed: bool| if is_fixed { "$" } else { "" };
        let letters = column_name(to_u32(column) - 1);
        format!("{}{letters}{}{row}", dollar(fixed_column), dollar(fixed_row))
    } else {
        let part = |letter: char, number: f64, is_fixed: bool| match is_fixed {
            true => format!("{letter}{number}"),
            false if number == 0.0 => letter.to_string(),
            false => format!("{letter}[{number}]"),
        };
        let row_allowed = is_row || (!fixed_row && row.abs() < f64::from(grid.rows));
        let column_allowed = is_column || (!fixed_column && column.abs() < f64::from(grid.columns));
        ensure(row_allowed && column_allowed, ErrorCode::Value)?;
        format!("{}{}", part('R', row, fixed_row), part('C', column, fixed_column))
    };
    if !call.has(4) {
        return call.text_result(text);
    }
    let sheet = call.text(4)?;
    let sheet = if sheet.is_empty() { String::new() } else { quoted_sheet(&sheet) };
    call.text_result(format!("{sheet}!{text}"))
}

fn indirect(call: &Call<'_, '_>) -> Outcome<Operand> {
    const LONGEST_REFERENCE: usize = 1_000;
    let text = call.text(0)?;
    let text = text.trim_matches(' ');
    ensure(!text.is_empty() && text.len() <= LONGEST_REFERENCE, ErrorCode::Ref)?;
    if call.has(1) && !call.boolean(1)? {
        return relative_reference(call, text);
    }
    let formula = Formula::parse(&format!("={text}")).map_err(|_| ErrorCode::Ref)?;
    let is_reference = match formula.expression().node() {
        Node::Reference(_) | Node::Name(_) => true,
        Node::Chain(chain) => {
            matches!(chain.links.last(), Some(Link::Spill | Link::Operator(Operator::Range, _)))
        }
        _ => false,
    };
    ensure(is_reference, ErrorCode::Ref)?;
    match call.evaluator.evaluate(formula.expression(), &Scope::default(), true) {
        Ok(reference @ Operand::Reference(_)) => Ok(reference),
        Err(limit @ Stop::Limit(_)) => Err(limit),
        _ => Err(ErrorCode::Ref.into()),
    }
}

/// A corner of a reference in R1C1 notation, such as `R[1]C2`. `row` is `None` for a whole column,
/// and `column` is `None` for a whole row.
#[derive(Debug, Clone, Copy)]
struct Corner {
    row: Option<u32>,
    column: Option<u32>,
}

/// Parses a reference in R1C1 notation. Relative rows and columns are offsets from the cell of the
/// formula.
fn relative_reference(call: &Call<'_, '_>, text: &str) -> Outcome<Operand> {
    let (sheet, corners) = match text.rsplit_once('!') {
        Some((sheet, rest)) => (Some(sheet.trim_matches('\'').replace("''", "'")), rest),
        None => (None, text),
    };
    let source = call.evaluator.source;
    let sheet = match sheet {
        Some(name) => source.sheet_index(&name).ok_or(ErrorCode::Ref)?,
        None => call.evaluator.context.sheet,
    };
    let mut parts = corners.split(':');
    let first = parse_corner(call, parts.next().unwrap_or(""))?;
    let last = match parts.next() {
        Some(part) => parse_corner(call, part)?,
        None => first,
    };
    ensure(parts.next().is_none(), ErrorCode::Ref)?;
    let grid = source.grid_size();
    let range = |first: Option<u32>, last: Option<u32>, size: u32| match (first, last) {
        (Some(first), Some(last)) => Ok((first.min(last), first.max(last))),
        (None, None) => Ok((0, size - 1)),
        _ => Err(ErrorCode::Ref),
    };
    let (top, bottom) = range(first.row, last.row, grid.rows)?;
    let (left, right) = range(first.column, last.column, grid.columns)?;
    ensure(bottom < grid.rows && right < grid.columns, ErrorCode::Ref)?;
    let mut area = Area::cell(sheet, top, left);
    area.last.row = bottom;
    area.last.column = right;
    Ok(Operand::Reference(Rc::new(vec![area])))
}

fn parse_corner(call: &Call<'_, '_>, text: &str) -> Outcome<Corner> {
    let upper = text.to_uppercase();
    let own = call.evaluator.context.cell;
    let (row, rest) = parse_axis(&upper, 'R', own.row)?;
    let (column, rest) = parse_axis(rest, 'C', own.column)?;
    ensure(rest.is_empty() && (row.is_some() || column.is_some()), ErrorCode::Ref)?;
    Ok(Corner { row, column })
}

/// Parses the row or column of an R1C1 reference, such as `R`, `R5` or `R[-1]`. Returns the
/// zero-based index and the remaining text. The index is `None` if the text does not start with
/// `letter`.
fn parse_axis(text: &str, letter: char, own: u32) -> Outcome<(Option<u32>, &str)> {
    let Some(rest) = text.strip_prefix(letter) else { return Ok((None, text)) };
    if let Some(inside) = rest.strip_prefix('[') {
        let (offset, rest) = inside.split_once(']').ok_or(ErrorCode::Ref)?;
        let offset: i64 = offset.parse().map_err(|_| ErrorCode::Ref)?;
        let index = i64::from(own).saturating_add(offset);
        return Ok((Some(u32::try_from(index).map_err(|_| ErrorCode::Ref)?), rest));
    }
    let length = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = rest.split_at_checked(length).ok_or(ErrorCode::Ref)?;
    if digits.is_empty() {
        return Ok((Some(own), rest));
    }
    let number: u32 = digits.parse().map_err(|_| ErrorCode::Ref)?;
    Ok((Some(number.checked_sub(1).ok_or(ErrorCode::Ref)?), rest))
}
