//! Formatting of numbers and counts for display.

/// Formats a non-negative number with commas as thousands separators: `23,632`.
pub fn grouped(number: impl TryInto<u64>) -> String {
    let digits = number.try_into().unwrap_or(u64::MAX).to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a count with its noun: `1 cell`, `2 cells`, `23,632 cells`.
pub fn count(number: impl TryInto<u64>, one: &str, many: &str) -> String {
    let number = number.try_into().unwrap_or(u64::MAX);
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_counts_with_commas_and_nouns() {
        assert_eq!(count(1_u32, "cell", "cells"), "1 cell");
        assert_eq!(count(0_usize, "cell", "cells"), "0 cells");
        for (number, text) in [(999, "999"), (1_000, "1,000"), (23_632, "23,632"), (0, "0")] {
            assert_eq!(grouped(number), text);
        }
        assert_eq!(grouped(1_234_567), "1,234,567");
    }
}
