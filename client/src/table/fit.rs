//! Which widths columns get when there is not room for all of them.

use super::BETWEEN_COLUMNS;

/// A column that has to give way keeps at least this many characters.
const MIN_COLUMN_WIDTH: usize = 6;

/// The widths of as many leading columns as fit into `available` characters. The widest columns
/// give way first; what still does not fit is left out, but never the first column.
pub(super) fn fit(natural: &[usize], available: usize) -> Vec<usize> {
    let minimum = |width: &usize| (*width).min(MIN_COLUMN_WIDTH);
    let mut widths: Vec<usize> = Vec::new();
    let mut least = 0_usize;
    for width in natural {
        least = least.saturating_add(minimum(width)).saturating_add(BETWEEN_COLUMNS);
        if least > available && !widths.is_empty() {
            break;
        }
        widths.push(*width);
    }
    let room = available.saturating_sub(widths.len().saturating_mul(BETWEEN_COLUMNS));
    let cap = widest_cap(&widths, room);
    widths.into_iter().map(|width| width.min(cap)).collect()
}

/// The greatest width such that columns cut to it fit into `room` together.
fn widest_cap(widths: &[usize], room: usize) -> usize {
    let total = |cap: usize| widths.iter().map(|width| (*width).min(cap)).sum::<usize>();
    let (mut fits, mut too_wide) = (1, widths.iter().max().map_or(1, |widest| widest + 1));
    while too_wide - fits > 1 {
        let middle = fits + (too_wide - fits) / 2;
        if total(middle) <= room {
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
    fn the_widest_give_way_first() {
        assert_eq!(fit(&[5, 10], 100), [5, 10]);
        assert_eq!(fit(&[5, 100, 8], 9 + 5 + 8 + 20), [5, 20, 8]);
        assert_eq!(fit(&[50, 50], 6 + 40), [20, 20]);
    }

    #[test]
    fn columns_that_do_not_fit_are_left_out() {
        assert_eq!(fit(&[50, 50, 50], 2 * (MIN_COLUMN_WIDTH + BETWEEN_COLUMNS)), [6, 6]);
        assert_eq!(fit(&[50], 0), [1]);
        assert!(fit(&[], 10).is_empty());
    }
}
