//! Places of labels that must not overlap.

/// Returns a place for each label, close to the wanted one, at least `step` from the others, and
/// between `first` and `last` if all fit.
pub(super) fn spread(wanted: &[f64], step: f64, first: f64, last: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    let wanted_at = |index: &usize| wanted.get(*index).copied().unwrap_or(first);
    order.sort_by(|one, other| wanted_at(one).total_cmp(&wanted_at(other)));
    let mut sorted: Vec<f64> = order.iter().map(wanted_at).collect();
    let mut min_place = first;
    for place in &mut sorted {
        *place = place.max(min_place);
        min_place = *place + step;
    }
    let mut max_place = last;
    for place in sorted.iter_mut().rev() {
        *place = place.min(max_place);
        max_place = *place - step;
    }
    let mut places = wanted.to_vec();
    for (index, place) in order.into_iter().zip(sorted) {
        if let Some(target) = places.get_mut(index) {
            *target = place;
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_keep_their_order_and_distance() {
        assert_eq!(spread(&[50.0, 10.0], 10.0, 0.0, 100.0), [50.0, 10.0]);
        assert_eq!(spread(&[50.0, 50.0, 48.0], 10.0, 0.0, 100.0), [58.0, 68.0, 48.0]);
        assert_eq!(spread(&[99.0, 98.0, 100.0], 10.0, 0.0, 100.0), [90.0, 80.0, 100.0]);
        assert_eq!(spread(&[-5.0, -6.0], 10.0, 0.0, 100.0), [10.0, 0.0]);
        assert_eq!(spread(&[], 10.0, 0.0, 100.0), [0.0; 0]);
    }
}
