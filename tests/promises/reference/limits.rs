//! Generates `docs/reference/limits.md` from the constants of `core/base/src/limits` and
//! `core/functions/src/limits.rs`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::super::bounds::LIMITS;
use super::{assert_page, push_row, push_table_head};

#[test]
fn the_page_of_the_limits_is_up_to_date() {
    let mut text = "# Limits\n\nEvery constant of `core/base/src/limits` and `core/functions/src/limits.rs`. \
                    `tests/promises/bounds.txt` names the tests of each at its value and one above.\n"
        .to_owned();
    let files = LIMITS.map(|(_, source)| (source, constants(source)));
    let mut values = BTreeMap::new();
    // Some constants refer to a constant of a later file, so a second pass is needed.
    for constant in files.iter().chain(&files).flat_map(|(_, constants)| constants) {
        values.extend(evaluate(constant.expression, &values).map(|v| (constant.name, v)));
    }
    for (source, constants) in files {
        assert!(!constants.is_empty(), "no constants in {source}");
        let title = source.lines().next().unwrap().trim_start_matches("//! ");
        writeln!(text, "\n## {}\n", title.trim_end_matches('.')).unwrap();
        push_table_head(&mut text, &["Constant", "Value", "Meaning"]);
        for Constant { name, expression, meaning } in constants {
            let value = values.get(name).map(|value| grouped(*value));
            let value = value.unwrap_or_else(|| format!("`{expression}`"));
            push_row(&mut text, &[&format!("`{name}`"), &value, &meaning]);
        }
    }
    assert_page("limits.md", "limits.rs", &text);
}

struct Constant<'a> {
    name: &'a str,
    expression: &'a str,
    meaning: String,
}

/// Returns the public constants of a file in the order of their definitions. Requires rustfmt's
/// layout.
fn constants(source: &str) -> Vec<Constant<'_>> {
    let mut constants = Vec::new();
    let mut meaning: Vec<&str> = Vec::new();
    for item in source.split_inclusive('\n') {
        let line = item.trim();
        if let Some(doc) = line.strip_prefix("///") {
            meaning.push(doc.trim());
            continue;
        }
        if let Some(declaration) = line.strip_prefix("pub const ") {
            let (name, _) = declaration.split_once(':').unwrap();
            // The expression may begin on the next line.
            let start = source.find(&format!("pub const {name}:")).unwrap();
            let statement = source.get(start..).unwrap().split(';').next().unwrap();
            let (_, expression) = statement.split_once('=').unwrap();
            constants.push(Constant {
                name,
                expression: expression.trim(),
                meaning: meaning.join(" "),
            });
        }
        meaning.clear();
    }
    constants
}

/// Returns the value of a product, sum, difference or shift of numbers and known constants.
fn evaluate(expression: &str, known: &BTreeMap<&str, u128>) -> Option<u128> {
    let expression = expression.trim();
    let inner = expression.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    if let Some(inner) = inner.filter(|inner| !inner.contains(['(', ')'])) {
        return evaluate(inner, known);
    }
    for operator in [" - ", " + ", " << ", " / ", " * "] {
        let Some((left, right)) = split_outside(expression, operator) else { continue };
        let (left, right) = (evaluate(left, known)?, evaluate(right, known)?);
        return match operator {
            " - " => left.checked_sub(right),
            " + " => left.checked_add(right),
            " << " => left.checked_shl(u32::try_from(right).ok()?),
            " / " => left.checked_div(right),
            _ => left.checked_mul(right),
        };
    }
    let name = expression.split(" as ").next()?;
    known.get(name).copied().or_else(|| name.replace('_', "").parse().ok())
}

/// Splits an expression at the last `operator` outside of parentheses.
fn split_outside<'a>(expression: &'a str, operator: &str) -> Option<(&'a str, &'a str)> {
    let (at, _) = expression.rmatch_indices(operator).find(|(at, _)| {
        let left = expression.get(..*at).unwrap_or_default();
        left.matches('(').count() == left.matches(')').count()
    })?;
    Some((expression.get(..at)?, expression.get(at + operator.len()..)?))
}

/// Formats a number with commas between thousands.
fn grouped(number: u128) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[test]
fn expressions_are_evaluated() {
    let known = BTreeMap::from([("A", 3)]);
    for (expression, value) in [
        ("1_000", 1_000),
        ("4 * 1024", 4_096),
        ("(1 << 53) - 1", (1 << 53) - 1),
        ("2 * A as usize", 6),
    ] {
        assert_eq!(evaluate(expression, &known), Some(value), "{expression}");
    }
    assert_eq!(evaluate("B + 1", &known), None);
}
