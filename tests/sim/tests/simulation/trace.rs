//! The trace of a run.

use cellar_sim::trace::Trace;

fn hash(events: &[(u64, &str)]) -> u64 {
    let trace = Trace::new(false);
    events.iter().for_each(|(at_ms, what)| trace.event(*at_ms, "a", format_args!("{what}")));
    assert_eq!(trace.events(), events.len() as u64);
    trace.hash()
}

#[test]
fn every_event_counts_and_so_does_its_order() {
    let all = [hash(&[(1, "x"), (2, "y")]), hash(&[(1, "y"), (2, "x")]), hash(&[(1, "x")])];
    assert!(all[0] != all[1] && all[1] != all[2] && all[0] != all[2]);
    assert_eq!(all[0], hash(&[(1, "x"), (2, "y")]));
}

#[test]
fn text_is_kept_if_it_is_wanted() {
    let (kept, unkept) = (Trace::new(true), Trace::new(false));
    for trace in [&kept, &unkept] {
        trace.event(61_007, "api-1", format_args!("put 0.1"));
    }
    assert_eq!(kept.hash(), unkept.hash());
    assert_eq!(kept.take_lines(), ["      61.007 api-1        put 0.1"]);
    assert!(unkept.take_lines().is_empty());
}
