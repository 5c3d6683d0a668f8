//! Computes column widths so that a table fits the terminal.

use super::COLUMN_SEPARATOR_WIDTH;

/// Minimum width of a column that was shrunk, in characters.
const MIN_COLUMN_WIDTH: usize = 6;

/// Shrinks the widest columns until the table fits in `available_width` characters. Returns the
/// width of each shown column. If the columns do not fit even at their minimum width, the rightmost
/// ones are omitted, but the first column is always shown.
pub(super) fn fit_columns(natural_widths: &[usize], available_width: usize) -> Vec<usize> {
    let mut widths: Vec<usize> = Vec::new();
    let mut minimum_total_width = 0_usize;
    for &width in natural_widths {
        minimum_total_width += width.min(MIN_COLUMN_WIDTH) + COLUMN_SEPARATOR_WIDTH;
        if minimum_total_width > available_width && !widths.is_empty() {
            break;
        }
        widths.push(width);
    }
    let available_for_cells = available_width.saturating_sub(widths.len() * COLUMN_SEPARATOR_WIDTH);
    let max_column_width = largest_fitting_width(&widths, available_for_cells);
    widths.into_iter().map(|width| width.min(max_column_width)).collect()
}

/// Returns the largest width at which all columns fit in `available_width` characters, if wider
/// columns are truncated to this width. The result is at least 1.
fn largest_fitting_width(widths: &[usize], available_width: usize) -> usize {
    let total_width_at =
        |max_width: usize| widths.iter().map(|&width| width.min(max_width)).sum::<usize>();
    // Binary search. `fitting_width` always fits and `excessive_width` never does.
    let mut fitting_width = 1;
    let mut excessive_width = widths.iter().max().map_or(1, |widest| widest + 1);
    while excessive_width - fitting_width > 1 {
        let middle = usize::midpoint(fitting_width, excessive_width);
        if total_width_at(middle) <= available_width {
            fitting_width = middle;
        } else {
            excessive_width = middle;
        }
    }
    fitting_width
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shrinks_the_widest_columns_first() {
        assert_eq!(fit_columns(&[5, 10], 100), [5, 10]);
        assert_eq!(fit_columns(&[5, 100, 8], 9 + 5 + 8 + 20), [5, 20, 8]);
        assert_eq!(fit_columns(&[50, 50], 6 + 40), [20, 20]);
    }

    #[test]
    fn omits_columns_that_do_not_fit() {
        assert_eq!(
            fit_columns(&[50, 50, 50], 2 * (MIN_COLUMN_WIDTH + COLUMN_SEPARATOR_WIDTH)),
            [6, 6]
        );
        assert_eq!(fit_columns(&[50], 0), [1]);
        assert!(fit_columns(&[], 10).is_empty());
    }
}
