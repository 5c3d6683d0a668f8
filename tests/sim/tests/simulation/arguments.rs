//! The arguments of the command.

use cellar_sim::command::arguments::Arguments;
use cellar_sim::scenarios::Scenario;
use clap::Parser as _;

fn parsed(arguments: &[&str]) -> Arguments {
    Arguments::try_parse_from([&["sim"], arguments].concat()).unwrap()
}

#[test]
fn shards_share_the_seeds() {
    let seeds = |shard| {
        let arguments = parsed(&["--seeds", "10", "--from", "5", "--shard", shard]);
        arguments.seeds().collect::<Vec<_>>()
    };
    assert_eq!(seeds("1/3"), [6, 9, 12]);
    let mut all = [seeds("1/3"), seeds("2/3"), seeds("3/3")].concat();
    all.sort_unstable();
    assert_eq!(all, (5..15).collect::<Vec<_>>());
}

#[test]
fn invalid_arguments_are_refused() {
    let wrong = [
        vec!["nowhere"],
        vec!["--shard", "0/3"],
        vec!["--shard", "4/3"],
        vec!["--shard", "x"],
        vec!["--trace"],
        vec!["--seed", "1", "--seeds", "2"],
    ];
    for arguments in wrong {
        let refused = Arguments::try_parse_from([vec!["sim"], arguments.clone()].concat());
        assert!(refused.is_err(), "{arguments:?}");
    }
    assert_eq!(parsed(&["roll-race"]).scenarios(), [Scenario::RollRace]);
    assert_eq!(parsed(&[]).scenarios(), Scenario::ALL);
}
