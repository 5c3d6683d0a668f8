//! Axis indexes equal the spans that they encode.

use proptest::prelude::*;

use super::*;

#[test]
fn a_regular_grid_of_any_size_is_two_pairs() {
    let mut index = AxisIndex::default();
    for first in (0..1_000_000).step_by(100) {
        assert!(index.push(Span { first, count: 100 }));
    }
    assert_eq!(pairs(&index), [(0, 10_000), (1_000_000, 0)]);
    assert_eq!(index.get(9_999), Some(span(999_900, 1_000_000)));
    assert_eq!(
        (index.first_ending_after(123_456), index.first_ending_after(u32::MAX)),
        (1_234, 10_000)
    );
    // A gap, then spans of another size.
    assert!(index.push(span(2_000_000, 2_000_001)) && index.push(span(2_000_001, 2_000_003)));
    let behind = [(0, 10_000), (1_000_000, 0), (2_000_000, 1), (2_000_001, 1), (2_000_003, 0)];
    assert_eq!(pairs(&index), behind);
    assert!(
        !index.push(span(2_000_002, 2_000_005)) && !index.push(Span { first: 3_000_000, count: 0 })
    );
    assert_eq!((pairs(&index), index.len()), (behind.to_vec(), 10_002));
}

#[test]
fn noncanonical_pairs_are_rejected() {
    let read = |pairs: &[(u32, u32)]| {
        let pairs = pairs.iter().map(|(start, count)| RunStart { start: *start, count: *count });
        AxisIndex::from_runs(pairs.collect())
    };
    assert_eq!(read(&[]), Some(AxisIndex::default()));
    assert!(read(&[(3, 2), (5, 0), (7, 1), (8, 1), (10, 0)]).is_some());
    for bad in [
        &[(0, 1)][..],                     // no end
        &[(0, 0)],                         // nothing but an end
        &[(0, 0), (1, 1), (2, 0)],         // a gap at the beginning
        &[(0, 2), (3, 0)],                 // no whole sizes
        &[(0, 4), (3, 0)],                 // parts of nothing
        &[(0, 1), (0, 1), (1, 0)],         // twice the same start
        &[(5, 1), (4, 0)],                 // backwards
        &[(0, 1), (4, 0), (4, 1), (6, 0)], // a gap of nothing
        &[(0, 1), (4, 0), (5, 0)],         // two gaps
        &[(0, 1), (4, 1), (8, 0)],         // equal parts that are not one run
        &[(0, u32::MAX), (u32::MAX, u32::MAX), (1, 0)],
    ] {
        assert_eq!(read(bad), None, "{bad:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn an_axis_index_contains_the_pushed_spans(spans in any_spans(MAX_ROWS), asked in some_spans(MAX_ROWS)) {
        let mut index = AxisIndex::default();
        prop_assert!(spans.iter().all(|span| index.push(*span)));
        prop_assert_eq!(&index.iter().collect::<Vec<_>>()[..], &spans[..]);
        prop_assert_eq!(AxisIndex::from_runs(index.runs().to_vec()), Some(index.clone()));
        let bytes = minicbor::to_vec(&index).unwrap();
        prop_assert_eq!(&minicbor::decode::<AxisIndex>(&bytes).unwrap(), &index);
        let met: Vec<usize> = (0..).zip(&spans).filter(|(_, span)| meets(&asked, **span)).map(|(number, _)| number).collect();
        prop_assert_eq!(index.overlapping(&asked).collect::<Vec<_>>(), met);
        for place in spans.iter().flat_map(|span| [span.first.saturating_sub(1), span.first, span.end()]) {
            let number = spans.iter().position(|span| span.end() > place).unwrap_or(spans.len());
            prop_assert_eq!(index.first_ending_after(place), number);
        }
    }
}
