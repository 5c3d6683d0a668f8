//! `TEXTBEFORE`, `TEXTAFTER` and `TEXTSPLIT`.

use cellar_sheet::cell::{ErrorCode, Value};

use crate::call::{Call, ensure};
use crate::function::{Function, eager};
use crate::number::{to_i64, to_length};
use crate::operand::{Operand, Outcome};
use crate::value::to_text;

pub(super) static FUNCTIONS: &[Function] = &[
    eager("TEXTAFTER", 2, 6, "swsssw", |call| before_or_after(call, true)),
    eager("TEXTBEFORE", 2, 6, "swsssw", |call| before_or_after(call, false)),
    eager("TEXTSPLIT", 2, 6, "swwssw", text_split),
];

/// The start and exclusive end of a delimiter in the text, in characters.
type Occurrence = (usize, usize);

/// The text to search. Delimiters are compared with `compared`, which is case-folded if case is
/// ignored, and results are taken from `original`.
struct Haystack {
    original: Vec<char>,
    compared: Vec<char>,
}

impl Haystack {
    fn new(text: &str, ignores_case: bool) -> Self {
        let original: Vec<char> = text.chars().collect();
        let compared = compared(text, ignores_case);
        Self { original, compared }
    }

    fn part(&self, start: usize, end: usize) -> String {
        self.original.get(start..end).unwrap_or(&[]).iter().collect()
    }

    /// Returns the occurrences of the delimiters in order, without overlaps. If several delimiters
    /// match at the same index, the longest one is used.
    fn occurrences(
        &self,
        call: &Call<'_, '_>,
        delimiters: &[Vec<char>],
    ) -> Outcome<Vec<Occurrence>> {
        call.spend(self.compared.len().saturating_mul(delimiters.len()))?;
        let mut occurrences = Vec::new();
        let mut start = 0;
        while start < self.compared.len() {
            let rest = self.compared.get(start..).unwrap_or(&[]);
            let found = delimiters.iter().filter(|delimiter| rest.starts_with(delimiter));
            match found.map(Vec::len).max() {
                Some(length) if length > 0 => {
                    occurrences.push((start, start + length));
                    start += length;
                }
                _ => start += 1,
            }
        }
        Ok(occurrences)
    }
}

fn compared(text: &str, ignores_case: bool) -> Vec<char> {
    if ignores_case { crate::value::wildcard::fold_text(text) } else { text.chars().collect() }
}

fn delimiters(call: &Call<'_, '_>, index: usize, ignores_case: bool) -> Outcome<Vec<Vec<char>>> {
    let matrix = call.matrix(index)?;
    matrix.values.iter().map(|value| Ok(compared(&to_text(value)?, ignores_case))).collect()
}

fn ignores_case(call: &Call<'_, '_>, index: usize) -> Outcome<bool> {
    match to_i64(call.given_number_or(index, 0.0)?) {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(ErrorCode::Value.into()),
    }
}

fn before_or_after(call: &Call<'_, '_>, is_after: bool) -> Outcome<Operand> {
    let text = call.text(0)?;
    let instance = to_i64(call.given_number_or(2, 1.0)?.floor());
    let ignores_case = ignores_case(call, 3)?;
    let matches_end = match to_i64(call.given_number_or(4, 0.0)?) {
        0 => false,
        1 => true,
        _ => return Err(ErrorCode::Value.into()),
    };
    let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    let delimiters = delimiters(call, 1, ignores_case)?;
    ensure(instance != 0 && (instance.abs() <= length.max(1) || length == 0), ErrorCode::Value)?;
    let is_longer =
        |delimiter: &Vec<char>| i64::try_from(delimiter.len()).unwrap_or(i64::MAX) > length;
    let may_be_longer = length == 0 || !call.is_given(2);
    ensure(may_be_longer || !delimiters.iter().any(is_longer), ErrorCode::Value)?;
    let haystack = Haystack::new(&text, ignores_case);
    let end = haystack.original.len();
    if delimiters.iter().any(Vec::is_empty) {
        // An empty delimiter matches before the first and after the last character.
        let is_whole = is_after == (instance > 0);
        return call.text_result(if is_whole { text } else { String::new() });
    }
    let mut occurrences = haystack.occurrences(call, &delimiters)?;
    if matches_end {
        if instance > 0 {
            occurrences.push((end, end));
        } else {
            occurrences.insert(0, (0, 0));
        }
    }
    let rank = to_length(crate::number::from_i64(instance.abs())) - 1;
    let occurrence =
        if instance > 0 { occurrences.get(rank) } else { occurrences.iter().rev().nth(rank) };
    let Some((start, after)) = occurrence.copied() else {
        return match call.operand(5) {
            Operand::Omitted => Err(ErrorCode::NotAvailable.into()),
            Operand::Value(Value::Error(code)) => Err((*code).into()),
            other => match call.evaluator.single_or_error(Ok(other.clone()))? {
                Value::Empty => Ok(String::new().into()),
                value => Ok(value.into()),
            },
        };
    };
    call.text_result(if is_after { haystack.part(after, end) } else { haystack.part(0, start) })
}

fn text_split(call: &Call<'_, '_>) -> Outcome<Operand> {
    let text = call.text(0)?;
    let ignores_case = ignores_case(call, 4)?;
    let skips_empty = call.given_boolean_or(3, false)?;
    let padding =
        if call.is_given(5) { call.any_value(5)? } else { Value::Error(ErrorCode::NotAvailable) };
    let column_delimiters =
        if call.is_given(1) { delimiters(call, 1, ignores_case)? } else { Vec::new() };
    let row_delimiters =
        if call.is_given(2) { delimiters(call, 2, ignores_case)? } else { Vec::new() };
    let has_empty = column_delimiters.iter().chain(&row_delimiters).any(Vec::is_empty);
    ensure(!has_empty, ErrorCode::Value)?;
    ensure(!column_delimiters.is_empty() || !row_delimiters.is_empty(), ErrorCode::Value)?;
    let mut rows = Vec::new();
    for line in pieces(call, &text, &row_delimiters, ignores_case, skips_empty)? {
        let row = pieces(call, &line, &column_delimiters, ignores_case, skips_empty)?;
        if !(row.is_empty() && skips_empty) {
            rows.push(row);
        }
    }
    let width = rows.iter().map(Vec::len).max().unwrap_or(0);
    ensure(width > 0, ErrorCode::Calc)?;
    let value = |row: usize, column: usize| match rows.get(row).and_then(|row| row.get(column)) {
        Some(text) => Value::Text(text.clone()),
        None => padding.clone(),
    };
    Ok(call.evaluator.build(rows.len(), width, value)?.into())
}

fn pieces(
    call: &Call<'_, '_>,
    text: &str,
    delimiters: &[Vec<char>],
    ignores_case: bool,
    skips_empty: bool,
) -> Outcome<Vec<String>> {
    let haystack = Haystack::new(text, ignores_case);
    let mut pieces = Vec::new();
    let mut start = 0;
    let end = haystack.original.len();
    for (occurrence, after) in
        haystack.occurrences(call, delimiters)?.into_iter().chain(std::iter::once((end, end)))
    {
        let piece = haystack.part(start, occurrence);
        start = after;
        if !(piece.is_empty() && skips_empty) {
            pieces.push(piece);
        }
    }
    Ok(pieces)
}
