//! Computes column widths that fit the terminal width.

use super::COLUMN_SEPARATOR_WIDTH;

/// Minimum width of a shrunk column, in characters.
const MIN_COLUMN_WIDTH: usize = 6;

/// Returns the widths of as many leading columns as fit in `available` characters. Shrinks the
/// widest columns first. Omits columns that do not fit even at minimum width, except the first
/// column.
pub(super) fn fit_columns(natural_widths: &[usize], available: usize) -> Vec<usize> {
    let mut widths: Vec<usize> = Vec::new();
    let mut minimum_total = 0_usize;
    for &width in natural_widths {
        minimum_total += width.min(MIN_COLUMN_WIDTH) + COLUMN_SEPARATOR_WIDTH;
        if minimum_total > available && !widths.is_empty() {
            break;
        }
        widths.push(width);
    }
    let cell_space = available.saturating_sub(widths.len() * COLUMN_SEPARATOR_WIDTH);
    let max_width = largest_fitting_width(&widths, cell_space);
    widths.into_iter().map(|width| width.min(max_width)).collect()
}

/// Returns the largest maximum width, at least 1, at which all columns fit in `cell_space`
/// characters. Uses binary search.
fn largest_fitting_width(widths: &[usize], cell_space: usize) -> usize {
    let total_width = |max: usize| widths.iter().map(|&width| width.min(max)).sum::<usize>();
    let mut fits = 1;
    let mut too_wide = widths.iter().max().map_or(1, |widest| widest + 1);
    while too_wide - fits > 1 {
        let middle = usize::midpoint(fits, too_wide);
        if total_width(middle) <= cell_space {
            fits = middle;
        } else {
            too_wide = middle;
        }
    }
    fits
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
