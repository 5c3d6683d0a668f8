//! Number formats, for `TEXT` and `CELL`.

use cellar_sheet::cell::{NumberFormat, Value};

/// Shows a value in a number format. Returns `None` if the format or the value is not valid.
pub(crate) fn format_value(value: &Value, format: &str) -> Option<String> {
    match value {
        Value::Text(text) => match super::parse_number(text, super::DateRules::default()) {
            Some(number) => format_number(number, format),
            None => Some(format_text(text, format)),
        },
        Value::Bool(true) => Some(format_text("TRUE", format)),
        Value::Bool(false) => Some(format_text("FALSE", format)),
        Value::Empty => format_number(0.0, format),
        Value::Number(number) => format_number(*number, format),
        Value::Error(_) => None,
    }
}

/// Shows a number in a number format. Returns `None` if the format is not valid or cannot show it.
pub(crate) fn format_number(number: f64, format: &str) -> Option<String> {
    if format.is_empty() {
        return Some(String::new());
    }
    NumberFormat::parse_as_excel(format).ok()?.try_display(number)
}

fn format_text(text: &str, format: &str) -> String {
    match NumberFormat::parse_as_excel(format) {
        Ok(parsed) => parsed.display_text(text),
        Err(_) => text.to_owned(),
    }
}

/// Returns whether negative numbers have a color.
pub(crate) fn has_color_of_negatives(format: &str) -> bool {
    format.split(';').nth(1).is_some_and(|section| section.contains('['))
}

/// Returns whether positive numbers are in parentheses.
pub(crate) fn has_parentheses(format: &str) -> bool {
    format.split(';').next().is_some_and(|section| section.contains('(') && !section.contains("_("))
}

/// Returns the code that `CELL("format")` has for a number format.
pub(crate) fn cell_code(format: &str) -> String {
    let lower = format.to_lowercase();
    let first = lower.split(';').next().unwrap_or("");
    let plain: String =
        first.chars().filter(|character| !matches!(character, '\\' | '"')).collect();
    let code = date_code(&plain).map(str::to_owned).unwrap_or_else(|| numeric_code(&plain));
    let color = if has_color_of_negatives(format) { "-" } else { "" };
    let parentheses = if has_parentheses(format) { "()" } else { "" };
    format!("{code}{color}{parentheses}")
}

fn date_code(format: &str) -> Option<&'static str> {
    Some(match format {
        "m/d/yy" | "m/d/yyyy" | "mm-dd-yy" | "d/m/yy" | "m/d/yy h:mm" | "mm/dd/yyyy"
        | "dd/mm/yyyy" | "yyyy-mm-dd" => "D4",
        "d-mmm-yy" | "dd-mmm-yy" => "D1",
        "d-mmm" | "dd-mmm" => "D2",
        "mmm-yy" => "D3",
        "mm/dd" => "D5",
        "h:mm:ss am/pm" => "D6",
        "h:mm am/pm" => "D7",
        "h:mm:ss" => "D8",
        "h:mm" => "D9",
        _ => return None,
    })
}

fn numeric_code(format: &str) -> String {
    if format == "general" || format.is_empty() || format.contains('?') {
        return "G".to_owned();
    }
    let decimals = format
        .split_once('.')
        .map_or(0, |(_, after)| after.chars().take_while(|digit| *digit == '0').count());
    if !format.contains(['0', '#']) {
        return "G".to_owned();
    }
    let letter = if format.contains('%') {
        'P'
    } else if format.contains("e+") || format.contains("e-") {
        'S'
    } else if format.contains('$') || format.contains('€') || format.contains('£') {
        'C'
    } else if format.contains(',') {
        ','
    } else {
        'F'
    };
    format!("{letter}{decimals}")
}
