//! Parses conditions.

use std::cmp::Ordering;
use std::str::FromStr;

use cellar_base::limits::{MAX_CONDITIONS, MAX_SEARCH_BYTES};

use super::{BadCondition, Condition, Conditions, Order, Test, are_equal};
use crate::a1::{column_name, parse_column};
use crate::cell::{Value, typed_or_text};
use crate::text_pattern::{BadPattern, TextPattern};

const AND: &str = "&&";
/// Maximum length, in characters, of a condition that is quoted in an error message.
const SHOWN_CHARACTERS: usize = 60;
const SYNTAX: &str =
    "write a column, an operator and a value, such as D=TX, F>=1000, B~park or B=~^San";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Ordered(Order),
    Contains,
    ContainsNot,
    Regex,
}

const fn ordered(direction: Ordering, or_equal: bool) -> Operator {
    Operator::Ordered(Order { direction, or_equal })
}

/// All operators, sorted so that none is a prefix of a later one.
const OPERATORS: [(&str, Operator); 9] = [
    ("!=", Operator::NotEqual),
    ("!~", Operator::ContainsNot),
    ("=~", Operator::Regex),
    ("<=", ordered(Ordering::Less, true)),
    (">=", ordered(Ordering::Greater, true)),
    ("=", Operator::Equal),
    ("<", ordered(Ordering::Less, false)),
    (">", ordered(Ordering::Greater, false)),
    ("~", Operator::Contains),
];

/// Operators of other languages, and what to write instead.
const OTHER_SIGNS: [(&str, &str); 2] = [("<>", "!="), ("==", "=")];
const NO_OR: &str = "conditions cannot be joined with or; match one of several texts with a regular expression, \
     such as D=~^(TX|AK)$";

/// A value as it is written in a condition.
struct Written<'a> {
    text: std::borrow::Cow<'a, str>,
    is_quoted: bool,
}

impl FromStr for Conditions {
    type Err = BadCondition;

    fn from_str(text: &str) -> Result<Self, BadCondition> {
        if text.len() > MAX_SEARCH_BYTES {
            return Err(BadCondition::TooLong { bytes: text.len() });
        }
        let mut list = Vec::new();
        let mut rest = Some(text);
        while let Some(text) = rest {
            if list.len() >= MAX_CONDITIONS {
                return Err(BadCondition::TooMany);
            }
            let (condition, text_after) = parse_condition(text)?;
            check_equalities(&list, &condition, text)?;
            list.push(condition);
            rest = text_after;
        }
        let is_filled = |condition: &&Condition| !matches!(condition.test, Test::Blank);
        let filled = list.iter().find(is_filled).ok_or(BadCondition::OnlyBlank)?;
        let filled_column = filled.column;
        Ok(Self { list, filled_column })
    }
}

/// No row fulfils two conditions that require different values of the same cell.
fn check_equalities(
    list: &[Condition],
    condition: &Condition,
    text: &str,
) -> Result<(), BadCondition> {
    let Test::Equal(value) = &condition.test else { return Ok(()) };
    let contradicts = |other: &Condition| {
        let Test::Equal(other_value) = &other.test else { return false };
        other.column == condition.column && !are_equal(value, other_value)
    };
    if !list.iter().any(contradicts) {
        return Ok(());
    }
    let column = column_name(condition.column);
    let reason = format!("another condition requires another value of {column}; {NO_OR}");
    let text = text.split(AND).next().unwrap_or_default().trim();
    Err(BadCondition::Malformed { text: shortened(text), reason })
}

/// Parses the first condition. Returns it and the text after `&&`, if any.
fn parse_condition(text: &str) -> Result<(Condition, Option<&str>), BadCondition> {
    let text = text.trim();
    let malformed = |reason: &str| {
        let reason = reason.to_owned();
        BadCondition::Malformed { text: shortened(text), reason }
    };
    let after_letters = text.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
    let letters = text.strip_suffix(after_letters).unwrap_or_default();
    let after_letters = after_letters.trim_start();
    let operator = OPERATORS.iter().find_map(|(sign, operator)| {
        after_letters.strip_prefix(sign).map(|after| (*operator, after.trim_start()))
    });
    let with_other_signs = OTHER_SIGNS.iter().find(|(sign, _)| after_letters.starts_with(sign));
    if let Some((sign, operator)) = with_other_signs {
        return Err(malformed(&format!("write {operator} instead of {sign}")));
    }
    let Some((operator, written)) = operator.filter(|_| !letters.is_empty()) else {
        return Err(malformed(SYNTAX));
    };
    let column = parse_column(letters).ok_or_else(|| BadCondition::NoSuchColumn {
        text: shortened(text),
        word: shortened(letters),
    })?;
    let (value, text_after) = split_value(written).map_err(malformed)?;
    if !value.is_quoted {
        check_unquoted(&value.text, operator).map_err(|reason| malformed(&reason))?;
    }
    let test = build_test(operator, &value).map_err(|fault| match fault {
        Fault::Value(reason) => BadCondition::Malformed { text: shortened(text), reason },
        Fault::Pattern(error) => BadCondition::Pattern { text: shortened(text), error },
    })?;
    Ok((Condition { column, test }, text_after))
}

fn shortened(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN_CHARACTERS).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

/// Parses the value of a condition. Returns it and the text after `&&`, if any.
fn split_value(text: &str) -> Result<(Written<'_>, Option<&str>), &'static str> {
    let Some(quoted) = text.strip_prefix('"') else {
        let (value, text_after) = match text.split_once(AND) {
            Some((value, after)) => (value.trim_end(), Some(after)),
            None => (text, None),
        };
        if value.starts_with(['=', '<', '>', '~']) {
            return Err("the value starts with an operator; put it in double quotes");
        }
        return Ok((Written { text: value.into(), is_quoted: false }, text_after));
    };
    let (value, after) = split_quoted(quoted).ok_or("the closing double quote is missing")?;
    let written = Written { text: value.into(), is_quoted: true };
    match after.trim() {
        "" => Ok((written, None)),
        after => match after.strip_prefix(AND) {
            Some(text_after) => Ok((written, Some(text_after))),
            None => {
                Err("only && may follow a value in double quotes; write a quote inside it twice")
            }
        },
    }
}

/// Rejects values that are probably meant as something else. They would otherwise silently match no row.
fn check_unquoted(value: &str, operator: Operator) -> Result<(), String> {
    if value.len() > 1 && value.starts_with('\'') && value.ends_with('\'') {
        let inner = value.trim_matches('\'');
        return Err(format!(
            "single quotes are for the shell; write {inner} without them, or put the value in double \
             quotes if they belong to it"
        ));
    }
    let Some((connective, condition)) = find_joined_condition(value, operator) else {
        return Ok(());
    };
    let advice = match connective {
        Connective::And => "join conditions with &&",
        Connective::Or => NO_OR,
    };
    let condition = shortened(condition);
    Err(format!(
        "its value contains the condition `{condition}`; {advice}, or put the value in double quotes if it \
         is a text"
    ))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Connective {
    And,
    Or,
}

/// Signs and words that other languages join conditions with. None is a prefix of a later one.
const CONNECTIVES: [(&str, Connective); 5] = [
    (" and ", Connective::And),
    (" or ", Connective::Or),
    ("||", Connective::Or),
    ("|", Connective::Or),
    ("&", Connective::And),
];
/// The signs among them are also signs of regular expressions.
const WORDS: usize = 2;
/// Longer words before an operator are probably not columns.
const MAX_COLUMN_LETTERS: usize = 3;

/// Returns the text after the first connective that is followed by a column and an operator.
fn find_joined_condition(value: &str, operator: Operator) -> Option<(Connective, &str)> {
    let count = if operator == Operator::Regex { WORDS } else { CONNECTIVES.len() };
    // Only ASCII letters change, so the indices stay valid.
    let lower_case = value.to_ascii_lowercase();
    for (sign, connective) in CONNECTIVES.iter().take(count) {
        for (index, _) in lower_case.match_indices(sign) {
            let after = value.get(index.saturating_add(sign.len())..).unwrap_or_default().trim();
            if starts_with_column_and_operator(after) {
                return Some((*connective, after));
            }
        }
    }
    None
}

fn starts_with_column_and_operator(text: &str) -> bool {
    let after_letters = text.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
    let letters = text.len().saturating_sub(after_letters.len());
    let after_letters = after_letters.trim_start();
    let has_operator = OPERATORS.iter().any(|(sign, _)| after_letters.starts_with(sign));
    (1..=MAX_COLUMN_LETTERS).contains(&letters) && has_operator
}

/// Parses a quoted value that follows its opening quote. Returns the unescaped value and the text
/// after the closing quote, or `None` if the closing quote is missing.
fn split_quoted(quoted: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut rest = quoted;
    loop {
        let (part, after) = rest.split_once('"')?;
        value.push_str(part);
        match after.strip_prefix('"') {
            Some(after_pair) => {
                value.push('"');
                rest = after_pair;
            }
            None => return Some((value, after)),
        }
    }
}

enum Fault {
    Value(String),
    Pattern(BadPattern),
}

fn build_test(operator: Operator, written: &Written<'_>) -> Result<Test, Fault> {
    let text = written.text.as_ref();
    let pattern = |pattern: Result<TextPattern, BadPattern>, is_negated| match pattern {
        Ok(pattern) => Ok(Test::Text { pattern, is_negated }),
        Err(error) => Err(Fault::Pattern(error)),
    };
    match operator {
        Operator::Equal if text.is_empty() => Ok(Test::Blank),
        Operator::NotEqual if text.is_empty() => Ok(Test::NotBlank),
        Operator::Equal => Ok(Test::Equal(value_of(written))),
        Operator::NotEqual => Ok(Test::NotEqual(value_of(written))),
        Operator::Ordered(order) => {
            let value = value_of(written);
            check_order(&value, written.is_quoted).map_err(Fault::Value)?;
            Ok(Test::Ordered(order, value))
        }
        Operator::Contains => pattern(TextPattern::containing(text), false),
        Operator::ContainsNot => pattern(TextPattern::containing(text), true),
        Operator::Regex => pattern(TextPattern::regex(text), false),
    }
}

fn value_of(written: &Written<'_>) -> Value {
    match written.is_quoted {
        true => Value::Text(written.text.clone().into_owned()),
        false => typed_or_text(&written.text).value,
    }
}

fn check_order(value: &Value, is_quoted: bool) -> Result<(), String> {
    match value {
        Value::Empty => Err("a value is missing after the operator".to_owned()),
        Value::Error(code) => Err(format!("{code} has no order; use = or !=")),
        // Reject numbers in unsupported notations, which would otherwise silently be compared as
        // text.
        Value::Text(text) if !is_quoted => match number_in_other_notation(text) {
            Some(number) => Err(format!(
                "{text} is text and not a number; write the number as {number}, or put the text in \
                 double quotes"
            )),
            None => Ok(()),
        },
        Value::Text(text) if text.is_empty() => {
            Err("a value is missing after the operator".to_owned())
        }
        Value::Text(_) | Value::Number(_) | Value::Bool(_) => Ok(()),
    }
}

fn number_in_other_notation(text: &str) -> Option<String> {
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    let number: f64 = text.replace(',', "").parse().ok()?;
    (has_digit && number.is_finite()).then(|| format!("{number}"))
}
