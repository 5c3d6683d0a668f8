//! Functions that find, extract and replace substrings. Excel counts UTF-16 code units, so a
//! character outside the Basic Multilingual Plane counts as two.

use cellar_sheet::cell::{ErrorCode, Value};

use crate::call::{Call, ensure, number_result};
use crate::function::{Function, eager};
use crate::limits::MAX_TEXT_CHARACTERS;
use crate::number::{from_length, to_length};
use crate::operand::{Operand, Outcome};
use crate::value::wildcard::Pattern;

pub(super) static FUNCTIONS: &[Function] = &[
    eager("FIND", 2, 3, "s", find),
    eager("FINDB", 2, 3, "s", find),
    eager("LEFT", 1, 2, "s", left),
    eager("LEFTB", 1, 2, "s", left),
    eager("LEN", 1, 1, "s", length),
    eager("LENB", 1, 1, "s", length),
    eager("MID", 3, 3, "s", middle),
    eager("MIDB", 3, 3, "s", middle),
    eager("REPLACE", 4, 4, "s", replace),
    eager("REPLACEB", 4, 4, "s", replace),
    eager("REPT", 2, 2, "s", repeat),
    eager("RIGHT", 1, 2, "s", right),
    eager("RIGHTB", 1, 2, "s", right),
    eager("SEARCH", 2, 3, "s", search),
    eager("SEARCHB", 2, 3, "s", search),
    eager("SUBSTITUTE", 3, 4, "s", substitute),
];

fn units(text: &str) -> Vec<u16> {
    text.encode_utf16().collect()
}

fn text_of(units: &[u16]) -> String {
    String::from_utf16_lossy(units)
}

fn length(call: &Call<'_, '_>) -> Outcome<Operand> {
    number_result(from_length(call.text(0)?.encode_utf16().count()))
}

fn left(call: &Call<'_, '_>) -> Outcome<Operand> {
    let count = call.length_or(1, 1)?;
    let units = units(&call.text(0)?);
    call.text_result(text_of(units.get(..count).unwrap_or(&units)))
}

fn right(call: &Call<'_, '_>) -> Outcome<Operand> {
    let count = call.length_or(1, 1)?;
    let units = units(&call.text(0)?);
    let start = units.len().saturating_sub(count);
    call.text_result(text_of(units.get(start..).unwrap_or(&[])))
}

fn middle(call: &Call<'_, '_>) -> Outcome<Operand> {
    let text = call.text(0)?;
    let (start, count) = (call.number(1)?.trunc(), call.number(2)?.trunc());
    ensure(start >= 1.0 && count >= 0.0, ErrorCode::Value)?;
    let units: Vec<u16> =
        text.encode_utf16().skip(to_length(start) - 1).take(to_length(count)).collect();
    call.text_result(text_of(&units))
}

fn replace(call: &Call<'_, '_>) -> Outcome<Operand> {
    let text = call.text(0)?;
    let (start, count) = (call.number(1)?.trunc(), call.number(2)?.trunc());
    ensure(start >= 1.0 && count >= 0.0, ErrorCode::Value)?;
    let all = units(&text);
    let start = (to_length(start) - 1).min(all.len());
    let end = start.saturating_add(to_length(count)).min(all.len());
    let before = text_of(all.get(..start).unwrap_or(&[]));
    let after = text_of(all.get(end..).unwrap_or(&[]));
    call.text_result(format!("{before}{}{after}", call.text(3)?))
}

fn repeat(call: &Call<'_, '_>) -> Outcome<Operand> {
    let text = call.text(0)?;
    let count = call.number(1)?.trunc();
    ensure(count >= 0.0, ErrorCode::Value)?;
    let characters = from_length(text.chars().count()) * count;
    ensure(characters <= from_length(MAX_TEXT_CHARACTERS), ErrorCode::Value)?;
    if text.is_empty() {
        return Ok(String::new().into());
    }
    call.text_result(text.repeat(to_length(count)))
}

/// Returns the zero-based index at which `FIND` and `SEARCH` start to search. Fails with `#VALUE!`
/// if it is larger than `length`, the length of the text.
fn search_start(call: &Call<'_, '_>, length: usize) -> Outcome<usize> {
    let start = call.number_or(2, 1.0)?.trunc();
    ensure(start >= 1.0 && start <= from_length(length) + 1.0, ErrorCode::Value)?;
    Ok(to_length(start) - 1)
}

fn find(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (wanted, text) = (units(&call.text(0)?), units(&call.text(1)?));
    let start = search_start(call, text.len())?;
    if wanted.is_empty() {
        return number_result(from_length(start) + 1.0);
    }
    let rest = text.get(start..).unwrap_or(&[]);
    call.spend(rest.len())?;
    let place = rest.windows(wanted.len()).position(|window| window == wanted);
    number_result(from_length(start + place.ok_or(ErrorCode::Value)?) + 1.0)
}

fn search(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (wanted, text) = (call.text(0)?, call.text(1)?);
    let length = text.chars().count();
    let start = search_start(call, length)?;
    // The pattern is matched from every index to the end of the text, so the time grows with the
    // square of the text length.
    call.spend((length - start.min(length)).saturating_mul(length.max(1)) / 64)?;
    let place = Pattern::new(&wanted).find(&text, start).ok_or(ErrorCode::Value)?;
    number_result(from_length(place) + 1.0)
}

fn substitute(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (text, old, new) = (call.text(0)?, call.text(1)?, call.text(2)?);
    let instance = if call.is_given(3) {
        ensure(!matches!(call.value(3)?, Value::Bool(_)), ErrorCode::Value)?;
        let number = call.number(3)?.trunc();
        ensure(number >= 1.0, ErrorCode::Value)?;
        Some(to_length(number))
    } else {
        ensure(!call.has(3), ErrorCode::Value)?;
        None
    };
    if old.is_empty() {
        return call.text_result(text);
    }
    let places = text.match_indices(&old).count();
    let grown = new.len().saturating_mul(places);
    ensure(grown <= 4 * MAX_TEXT_CHARACTERS || instance.is_some(), ErrorCode::Value)?;
    let Some(instance) = instance else { return call.text_result(text.replace(&old, &new)) };
    let Some((place, _)) = text.match_indices(&old).nth(instance - 1) else {
        return call.text_result(text);
    };
    let (before, rest) = text.split_at_checked(place).unwrap_or((&text, ""));
    let after = rest.get(old.len()..).unwrap_or("");
    call.text_result(format!("{before}{new}{after}"))
}
