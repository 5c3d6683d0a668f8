//! Regular expression functions.

use cellar_sheet::cell::{ErrorCode, Value};
use regex_lite::{Captures, Regex, RegexBuilder};

use crate::call::{Call, ensure};
use crate::function::{Function, eager};
use crate::number::to_i64;
use crate::operand::{Matrix, Operand, Outcome};

pub(super) static FUNCTIONS: &[Function] = &[
    eager("REGEXEXTRACT", 2, 4, "s", extract),
    eager("REGEXREPLACE", 3, 5, "s", replace),
    eager("REGEXTEST", 2, 3, "s", |call| {
        let regex = regex_argument(call, 1, 2)?;
        Ok(regex.is_match(&call.text(0)?).into())
    }),
];

/// Maximum size of a compiled regular expression, in bytes.
const MAX_REGEX_BYTES: usize = 256 * 1024;

/// Maximum number of groups in a regular expression, including the implicit group of the whole
/// match.
const MAX_GROUPS: usize = 100;

/// Compiles a pattern. Fails with `#VALUE!` if it is invalid, or if it contains look-around or a
/// backreference, which Excel supports but `regex_lite` does not.
pub(in crate::library) fn compile_regex(pattern: &str, ignores_case: bool) -> Outcome<Regex> {
    let regex = RegexBuilder::new(pattern)
        .case_insensitive(ignores_case)
        .size_limit(MAX_REGEX_BYTES)
        .build()
        .map_err(|_| ErrorCode::Value)?;
    ensure(regex.captures_len() <= MAX_GROUPS, ErrorCode::Value)?;
    Ok(regex)
}

fn regex_argument(call: &Call<'_, '_>, pattern: usize, case: usize) -> Outcome<Regex> {
    let ignores_case = match to_i64(call.given_number_or(case, 0.0)?) {
        0 => false,
        1 => true,
        _ => return Err(ErrorCode::Value.into()),
    };
    let text = call.text(0)?;
    let pattern = call.text(pattern)?;
    // Search time is proportional to the product of the two lengths.
    call.spend(text.len().saturating_mul(pattern.len()) / 16)?;
    compile_regex(&pattern, ignores_case)
}

fn extract(call: &Call<'_, '_>) -> Outcome<Operand> {
    let regex = regex_argument(call, 1, 3)?;
    let text = call.text(0)?;
    let value = |text: &str| Value::Text(text.to_owned());
    match to_i64(call.given_number_or(2, 0.0)?) {
        0 => {
            let found = regex.find(&text).ok_or(ErrorCode::NotAvailable)?;
            call.text_result(found.as_str().to_owned())
        }
        1 => {
            let all: Vec<_> = regex.find_iter(&text).map(|found| value(found.as_str())).collect();
            ensure(!all.is_empty(), ErrorCode::NotAvailable)?;
            Ok(Matrix::from_row(all).into())
        }
        2 => {
            let captures = regex.captures(&text).ok_or(ErrorCode::NotAvailable)?;
            let groups = captures.iter().skip(1);
            let groups: Vec<_> =
                groups.map(|group| value(group.map_or("", |found| found.as_str()))).collect();
            ensure(!groups.is_empty(), ErrorCode::Value)?;
            Ok(Matrix::from_row(groups).into())
        }
        _ => Err(ErrorCode::Value.into()),
    }
}

fn replace(call: &Call<'_, '_>) -> Outcome<Operand> {
    let regex = regex_argument(call, 1, 4)?;
    let (text, replacement) = (call.text(0)?, call.text(2)?);
    let occurrence = to_i64(call.given_number_or(3, 0.0)?);
    let matches: Vec<Captures<'_>> = regex.captures_iter(&text).collect();
    let count = i64::try_from(matches.len()).unwrap_or(i64::MAX);
    let wanted = if occurrence < 0 { count + occurrence + 1 } else { occurrence };
    let mut result = String::new();
    let mut end = 0;
    for (number, captures) in (1_i64..).zip(&matches) {
        let Some(whole) = captures.get(0) else { continue };
        result.push_str(text.get(end..whole.start()).unwrap_or(""));
        if occurrence == 0 || number == wanted {
            captures.expand(&replacement, &mut result);
        } else {
            result.push_str(whole.as_str());
        }
        end = whole.end();
        ensure(result.len() < 200_000, ErrorCode::Value)?;
    }
    result.push_str(text.get(end..).unwrap_or(""));
    call.text_result(result)
}
