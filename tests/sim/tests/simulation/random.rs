//! Random numbers of a run.

use cellar_sim::random::{Rate, SimRandom};

#[test]
fn equal_seeds_give_equal_numbers() {
    let numbers = |seed| {
        let random = SimRandom::of_seed(seed);
        (0..9).map(|_| random.draw_in(0..=u64::MAX)).collect::<Vec<_>>()
    };
    assert_eq!(numbers(7), numbers(7));
    assert_ne!(numbers(7), numbers(8));
}

#[test]
fn events_happen_about_as_often_as_their_rate() {
    let random = SimRandom::of_seed(1);
    let times = (0..10_000).filter(|_| random.happens(Rate(500))).count();
    assert!((400..600).contains(&times), "{times}");
    assert!(!(0..1_000).any(|_| random.happens(Rate(0))));
    assert!((0..1_000).all(|_| random.happens(Rate(10_000))));
}
