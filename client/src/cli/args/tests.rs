//! Tests of the command line.

use super::*;
use crate::cli::help::misplaced_commands;

#[test]
fn the_command_line_is_consistent_and_every_command_has_examples() {
    Cli::grouped().debug_assert();
    assert_eq!(misplaced_commands(&Cli::command(), &GROUPS), [""; 0]);
    let cli = Cli::command();
    let nested = cli.get_subcommands().flat_map(clap::Command::get_subcommands);
    for command in cli.get_subcommands().chain(nested) {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        assert!(help.contains("cellar "), "{} has no example", command.get_name());
    }
}

#[test]
fn parses_catalog_and_feed_commands() {
    for line in [
        "cellar unarchive",
        "cellar undelete",
        "cellar list",
        "cellar list budget --mine --json",
        "cellar list --shared --status deleted",
        "cellar list --forks",
        "cellar create Budget",
        "cellar create --name Budget",
        "cellar use Budget",
        "cellar use https://h/#/s/00000000-0000-0000-0000-000000000000",
        "cellar get -s Budget",
        "cellar login https://example.com",
        "cellar logout",
        "cellar feed --follow --checkpoint x",
        "cellar feed --after 1000001 --payloads --page-size 1000",
        "cellar rename Plan",
        "cellar share bob --role owner --issuer https://i",
        "cellar unshare bob",
        "cellar links --json",
        "cellar links create --expires-in 30d --label press",
        "cellar links revoke 0123456789abcdef",
        "cellar delete -s 00000000-0000-0000-0000-000000000000",
    ] {
        assert!(Cli::try_parse_from(line.split(' ')).is_ok(), "{line}");
    }
    for line in [
        "cellar rename",
        "cellar list --mine --shared",
        "cellar create Budget --name Plan",
        "cellar use",
        "cellar use https://example.com",
        "cellar get -s https://example.com/#/s/7",
        "cellar login",
        "cellar list --status gone",
        "cellar feed --after -1",
        "cellar feed --after 9007199254740992",
        "cellar feed --after 1 --checkpoint x",
        "cellar feed --page-size 1001",
        "cellar share",
        "cellar share bob --role admin",
        "cellar links create --role owner",
        "cellar links revoke x",
        "cellar import a.csv --into 00000000-0000-0000-0000-000000000000 --name x",
    ] {
        assert!(Cli::try_parse_from(line.split(' ')).is_err(), "{line}");
    }
}

#[test]
fn parses_other_commands() {
    for line in [
        "cellar set A1 -5 B1 -2.5",
        "cellar set A1 007 --text",
        "cellar clear A1 B1",
        "cellar set -- A1 --dashes",
        "cellar get -r A1:G20 --at 0.3 --json",
        "cellar --url http://h health",
        "cellar import a.csv --ragged pad --delimiter tab",
        "cellar import a.csv --delimiter ; --encoding windows-1252",
        "cellar import a.csv --types A=text,C=number --dry-run",
        "cellar import a.xlsx --sheets One,Two --replace Costs",
        "cellar import a.csv --sheet Costs --cell B2",
        "cellar export -",
        "cellar export - --format xlsx --sheet Costs",
        "cellar set A1 1 --cost --json",
        "cellar --cost head",
        "cellar rows insert 3 --count 2 --sheet Costs",
        "cellar rows delete 3:5 9",
        "cellar columns insert C",
        "cellar columns delete C:D",
        "cellar sheets --json",
        "cellar sheets --at 0.3",
        "cellar sheets rename Costs Prices",
        "cellar clear My!A1:B5",
        "cellar format A:C 0.00",
        "cellar undo",
        "cellar undo 0.3 --json",
        "cellar revert --to 0.3",
        "cellar revert --to 0.3 --sheet Costs --json",
        "cellar revert --to 0.3 --range Costs!A1:C10",
        "cellar revert --to 0.3 -r A:C --sheet Costs",
        "cellar diff 0.3",
        "cellar diff 0.3 1.0",
        "cellar replay --onto latest",
        "cellar create --nonce x -s 00000000-0000-0000-0000-000000000000",
    ] {
        assert!(Cli::try_parse_from(line.split(' ')).is_ok(), "{line}");
    }
    for line in [
        "cellar",
        "cellar set",
        "cellar history --limit 0",
        "cellar create --nonce=",
        "cellar get --range nonsense",
        "cellar import a.csv --cell B2",
        "cellar import a.csv --types A=words",
        "cellar import a.csv --types A=text --text",
        "cellar import a.csv --sheet A --replace B",
        "cellar export a --format pdf",
        "cellar rows",
        "cellar rows insert 3 --count 0",
        "cellar rows delete",
        "cellar sheets rename Costs",
        "cellar sheets --at 0.3 add x",
        "cellar clear",
        "cellar format A1",
        "cellar undo x",
        "cellar revert 0.3",
        "cellar revert --sheet Costs",
        "cellar revert --to 0.3 --range nonsense",
        "cellar revert",
        "cellar diff",
    ] {
        assert!(Cli::try_parse_from(line.split(' ')).is_err(), "{line}");
    }
}

#[test]
fn parses_searches() {
    for line in [
        "cellar get --where D=TX --where F>=30 --range A:C --limit 5 --json",
        "cellar get --where D=TX --count --sum f --sheet Costs --at 0.3",
        "cellar get A3370:$G",
        "cellar get Costs!A:C --last 10",
        "cellar get --count",
        "cellar get A:C --sum F --sum G",
        "cellar find austin",
        "cellar find austin --sheet Costs --range A:C --at yesterday --limit 5",
        "cellar find ^San --regex --count --json",
    ] {
        assert!(Cli::try_parse_from(line.split(' ')).is_ok(), "{line}");
    }
    for line in [
        "cellar get --where D",
        "cellar get --where F>1e5",
        "cellar get --where D=~(",
        "cellar get --limit 5",
        "cellar get A1:B2 --range A1",
        "cellar get Notes",
        "cellar get A3370:7",
        "cellar get --last 0",
        "cellar get --last 2 --count",
        "cellar get --where D=TX --sum 7",
        "cellar find",
        "cellar find x --limit 0",
    ] {
        assert!(Cli::try_parse_from(line.split(' ')).is_err(), "{line}");
    }
}

#[test]
fn parses_times() {
    for line in [
        "cellar get --at yesterday",
        "cellar export - --at 2026-11-24T00:14Z",
        "cellar sheets --at 2026-11-24T00:14:00+01:00",
        "cellar history --until yesterday",
        "cellar revert --to 2026-11-24T00:14Z",
        "cellar fork --at yesterday",
        "cellar diff yesterday 0.3",
        "cellar watch --after yesterday --until 0.3",
        "cellar replay --onto yesterday",
    ] {
        assert!(Cli::try_parse_from(line.split(' ')).is_ok(), "{line}");
    }
    for line in [
        "cellar get --at tomorrow",
        "cellar get --at 2026-11-24",
        "cellar get --at 2026-11-24T00:14",
        "cellar undo yesterday",
    ] {
        assert!(Cli::try_parse_from(line.split(' ')).is_err(), "{line}");
    }
}
