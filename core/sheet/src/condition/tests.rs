//! Tests of conditions.

use proptest::prelude::*;

use super::*;
use crate::cell::ErrorCode;

fn cell(value: Value) -> Cell {
    Cell { value, ..Cell::default() }
}

fn text(text: &str) -> Cell {
    cell(Value::Text(text.to_owned()))
}

fn number(number: f64) -> Cell {
    cell(Value::Number(number))
}

fn parse(text: &str) -> Conditions {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Returns whether the cell fulfils a condition on column A.
fn fulfils(cell: &Cell, condition: &str) -> bool {
    // Conditions that blank rows fulfil are rejected, so add one that they do not fulfil.
    let conditions = parse(&format!("A{condition} && B!="));
    let [first, _] = conditions.list() else { panic!("{conditions:?}") };
    assert_eq!(first.column(), 0);
    first.is_fulfilled_by(cell)
}

fn assert_fulfilled(cell: &Cell, fulfilled: &[&str], others: &[&str]) {
    for condition in fulfilled {
        assert!(fulfils(cell, condition), "{cell:?} {condition}");
    }
    for condition in others {
        assert!(!fulfils(cell, condition), "{cell:?} {condition}");
    }
}

#[test]
fn numbers_are_compared_with_numbers() {
    let fulfilled = ["=7.5", "= 7.50", "!=7", "!=TX", "<8", "<=7.5", ">-1", ">=7.5", "~.5", "=~^7"];
    let others = [
        "=7", "=\"7.5\"", "!=7.5", "<7.5", "<TX", "<\"9\"", ">7.5", "~x", "!~7", "=~^5", "=",
        "<TRUE",
    ];
    assert_fulfilled(&number(7.5), &fulfilled, &others);
    assert_fulfilled(&number(-0.0), &["=0", ">=0", "<=0"], &["<0", ">0"]);
}

#[test]
fn dates_are_numbers_and_their_displayed_text_is_searched() {
    let format = Some("yyyy-mm-dd".to_owned());
    let date = Cell { format, ..number(46_023.0) };
    let fulfilled = [
        "=2026-01-01",
        "=2026/01/01",
        "=46023",
        ">=2026-01-01",
        "<2026-01-02",
        "~2026-01",
        "=~-01$",
    ];
    assert_fulfilled(
        &date,
        &fulfilled,
        &["=2026-01-02", "~46023", "<2026-01-01", "=\"2026-01-01\""],
    );
    let later = Cell { format: Some("yyyy-mm-dd hh:mm:ss".to_owned()), ..number(46_023.5) };
    let fulfilled = ["=2026-01-01 12:00:00", ">2026-01-01", "<2026-01-02"];
    assert_fulfilled(&later, &fulfilled, &["=2026-01-01"]);
    let rounded = Cell { format: Some("0.00".to_owned()), ..number(1.004) };
    assert_fulfilled(&rounded, &["~1.00", "=1.004"], &["=1.00", "~1.004"]);
}

#[test]
fn texts_ignore_case_except_in_regular_expressions() {
    let fulfilled = [
        "=TX", "=tx", "=\"tX\"", "!=CA", "!=5", "<u", "<=tx", ">TA", ">=TX", "~t", "~X", "!~y",
        "=~^T", "=~(?i)^t",
    ];
    let others = ["=T", "!=tx", "<TX", ">ty", ">5", "~y", "!~t", "=~^t", "=", "=TRUE"];
    assert_fulfilled(&text("TX"), &fulfilled, &others);
    assert_fulfilled(&text("Übung"), &["=ÜBUNG", "~BUNG", ">z"], &["=ubung"]);
    assert_fulfilled(&text("007"), &["=007", "~7"], &["=7", ">5"]);
}

#[test]
fn booleans_and_errors_have_types_of_their_own() {
    let is_true = cell(Value::Bool(true));
    assert_fulfilled(
        &is_true,
        &["=TRUE", ">FALSE", "!=FALSE", "~tru"],
        &["=FALSE", "=true", "=1", "<TRUE"],
    );
    let error = cell(Value::Error(ErrorCode::NotAvailable));
    assert_fulfilled(
        &error,
        &["=#N/A", "!=#REF!", "~n/a", "!="],
        &["=#REF!", "!=#N/A", "=\"#N/A\"", "<z"],
    );
}

#[test]
fn a_blank_cell_fulfils_only_the_test_for_blank_cells() {
    let formatted = Cell { format: Some("0.00".to_owned()), ..Cell::default() };
    for blank in [Cell::default(), text(""), formatted] {
        let others = ["!=", "!=TX", "!=0", "=0", "<1", "<a", "!~x", "=~^$", "=~x*", "=FALSE"];
        assert_fulfilled(&blank, &["=", "=\"\""], &others);
    }
    assert_fulfilled(&text("x"), &["!=", "!=\"\""], &["="]);
}

#[test]
fn conditions_are_joined_and_quoted() {
    let conditions = parse(" d = TX&&F>=1000 && aa=\"R&&D \"\"x\"\"\" && B=~a|b ");
    let columns: Vec<u32> = conditions.list().iter().map(Condition::column).collect();
    assert_eq!(columns, [3, 5, 26, 1]);
    let [state, _, quoted, regex] = conditions.list() else { panic!() };
    assert!(state.is_fulfilled_by(&text("TX")));
    assert!(quoted.is_fulfilled_by(&text("R&&D \"x\"")));
    assert!(regex.is_fulfilled_by(&text("b")) && regex.is_regex() && !quoted.is_regex());
    assert_eq!(parse("B= && D=TX && A!=").filled_column(), 3);
    assert_eq!(parse("A=5\" pipe").list().len(), 1);
}

fn error(text: &str) -> String {
    text.parse::<Conditions>().unwrap_err().to_string()
}

#[test]
fn errors_name_the_condition_and_its_correction() {
    for (text, expected) in [
        ("", "``"),
        ("D", "`D` is not a condition: write a column"),
        ("=TX", "`=TX` is not a condition: write a column"),
        ("D:TX", "`D:TX` is not"),
        ("D1=TX", "`D1=TX` is not"),
        ("D=TX && F", "`F` is not"),
        ("D=TX &&", "`` is not"),
        ("state=TX", "columns are named by letters"),
        ("D==TX", "write = instead of =="),
        ("D=\"TX", "closing double quote"),
        ("D=\"TX\" x", "only && may follow"),
        ("D<", "a value is missing"),
        ("D<\"\"", "a value is missing"),
        ("D~", "the text to find is empty"),
        ("D=~(", "`D=~(`: the regular expression is invalid"),
        ("D<#N/A", "#N/A has no order"),
        ("F>1e5", "write the number as 100000"),
        ("F>1,000", "write the number as 1000"),
        ("F>.5", "write the number as 0.5"),
        ("D=", "add a condition that no blank cell fulfils"),
        ("D= && A=", "add a condition that no blank cell fulfils"),
    ] {
        assert!(error(text).contains(expected), "{text}: {}", error(text));
    }
    assert!(parse("F>\"1e5\" && F>inf && F>nan").list().len() == 3);
    let long = error(&format!("{}=1", "Ä".repeat(1_000)));
    assert!(long.contains('…') && long.len() < 300, "{long}");
}

#[test]
fn limits_the_length_and_number_of_conditions() {
    let most = ["A=1"; MAX_CONDITIONS].join("&&");
    assert_eq!(parse(&most).list().len(), MAX_CONDITIONS);
    let more = format!("{most}&&A=1");
    assert_eq!(more.parse::<Conditions>().unwrap_err(), BadCondition::TooMany);
    let long = format!("A={}", "x".repeat(MAX_SEARCH_BYTES - 2));
    assert!(long.parse::<Conditions>().is_ok());
    let error = BadCondition::TooLong { bytes: MAX_SEARCH_BYTES + 1 };
    assert_eq!(format!("{long}x").parse::<Conditions>().unwrap_err(), error);
}

proptest! {
    #[test]
    fn parsing_any_text_does_not_panic(text in "[A-Cx=<>~!&\" 0-9]{0,24}|\\PC{0,24}") {
        let _ = text.parse::<Conditions>();
    }

    #[test]
    fn a_quoted_text_equals_only_itself(value in "\\PC{1,20}", other in "\\PC{1,20}") {
        let condition = format!("=\"{}\"", value.replace('"', "\"\""));
        prop_assert!(fulfils(&text(&value), &condition));
        prop_assert_eq!(fulfils(&text(&other), &condition), fold(&value) == fold(&other));
    }

    #[test]
    fn exactly_one_order_is_fulfilled(one in -1e9..1e9_f64, other in -1e9..1e9_f64) {
        let typed = format!("{other}");
        let fulfilled = ["<", "=", ">"].map(|sign| fulfils(&number(one), &format!("{sign}{typed}")));
        prop_assert_eq!(fulfilled.iter().filter(|fulfilled| **fulfilled).count(), 1);
    }
}

#[test]
fn signs_of_other_languages_and_contradictions_are_refused() {
    let error = |text: &str| text.parse::<Conditions>().unwrap_err().to_string();
    assert_eq!(error("D<>TX"), "`D<>TX` is not a condition: write != instead of <>");
    assert_eq!(error("D == 3"), "`D == 3` is not a condition: write = instead of ==");
    let contradiction = error("D=TX && F>3 && D=AK && A=1");
    for part in ["`D=AK`", "another value of D", "D=~^(TX|AK)$"] {
        assert!(contradiction.contains(part), "{contradiction}");
    }
    for text in ["D=TX && D=tx", "D=TX && E=AK", "D=1 && D=1.0", "D!=TX && D!=AK", "D=TX && D=~^T"]
    {
        assert!(text.parse::<Conditions>().is_ok(), "{text}");
    }
}

#[test]
fn values_that_contain_another_condition_are_refused() {
    let reason = |text: &str| text.parse::<Conditions>().unwrap_err().to_string();
    for (text, condition) in [
        ("D=tx and F>33", "F>33"),
        ("D=TX & F>33", "F>33"),
        ("D=TX AND F > 33", "F > 33"),
        ("D=~^T and F>33", "F>33"),
    ] {
        let reason = reason(text);
        assert!(reason.contains(&format!("the condition `{condition}`; join")), "{reason}");
    }
    for text in ["D=TX || D=AK", "D=TX | D=AK", "D=TX or d=AK", "D~TX|D~AK"] {
        let reason = reason(text);
        assert!(reason.contains("D=~^(TX|AK)$") && reason.contains("double quotes"), "{reason}");
    }
    for text in ["D=~'^T[XN]'", "D='TX'", "B~'park'"] {
        assert!(reason(text).contains("without them"), "{text}");
    }
    for text in [
        "D=rock and roll",
        "D=rock & roll",
        "D=this or that thing=7",
        "D=\"tx and F>33\"",
        "D=\"'TX'\"",
        "D=~^(a|b=c)$",
        "D='",
        "D=ä and b",
        "D=TX && F>33",
    ] {
        assert!(text.parse::<Conditions>().is_ok(), "{text}");
    }
}
