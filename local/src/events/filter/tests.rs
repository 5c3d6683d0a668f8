use serde_json::json;

use super::parse::{MAX_FILTERS, MAX_NESTING_DEPTH, MAX_PATTERN_BYTES};
use super::*;

fn parse(pattern: &Value) -> Result<Filters, FilterError> {
    Filters::parse(Some(&json!({ "Filters": [{ "Pattern": pattern.to_string() }] })))
}

fn passes(pattern: &Value, record: &Value) -> bool {
    parse(pattern).unwrap().accept(record)
}

#[test]
fn operators_match_values() {
    for (condition, matching, others) in [
        (json!("a"), vec![json!("a"), json!(["b", "a"])], vec![json!("A"), json!(1), json!(null)]),
        (json!(1), vec![json!(1), json!(1.0)], vec![json!("1"), json!(2)]),
        (json!(null), vec![json!(null)], vec![json!(""), json!(0)]),
        (json!(true), vec![json!(true)], vec![json!(false), json!("true")]),
        (json!(""), vec![json!("")], vec![json!(null), json!(" ")]),
        (json!({"prefix": "ab"}), vec![json!("ab"), json!("abc")], vec![json!("a"), json!(1)]),
        (json!({"suffix": "yz"}), vec![json!("yz"), json!("xyz")], vec![json!("z"), json!(1)]),
        (json!({"equals-ignore-case": "aB"}), vec![json!("Ab")], vec![json!("a")]),
        (json!({"anything-but": "a"}), vec![json!("b"), json!(1)], vec![json!("a")]),
        (json!({"anything-but": [1, "a"]}), vec![json!(2)], vec![json!("a"), json!(1.0)]),
        (json!({"anything-but": {"prefix": "a"}}), vec![json!("ba")], vec![json!("ab"), json!(1)]),
        (json!({"numeric": ["=", 5]}), vec![json!(5), json!(5.0)], vec![json!("5"), json!(6)]),
        (json!({"numeric": [">", 1, "<=", 3]}), vec![json!(2), json!(3)], vec![json!(1), json!(4)]),
        (json!({"numeric": [">=", 1]}), vec![json!(1)], vec![json!(0.5)]),
        (json!({"numeric": ["<", 1]}), vec![json!(0)], vec![json!(1)]),
        (json!({"exists": true}), vec![json!("a"), json!(null)], vec![json!({"b": 1})]),
        (json!({"exists": false}), vec![json!({"b": 1})], vec![json!("a"), json!(null)]),
    ] {
        let pattern = json!({ "a": [condition] });
        for value in matching {
            assert!(passes(&pattern, &json!({ "a": value })), "{pattern}: {value}");
        }
        for value in others {
            assert!(!passes(&pattern, &json!({ "a": value })), "{pattern}: {value}");
        }
        let absent = passes(&pattern, &json!({}));
        assert_eq!(absent, pattern["a"][0] == json!({"exists": false}), "{pattern}");
    }
}

#[test]
fn requires_every_field_and_one_value_of_each() {
    let pattern = json!({"a": ["x", "y"], "b": {"c": [{"exists": true}]}});
    assert!(passes(&pattern, &json!({"a": "y", "b": {"c": 1, "d": 2}, "e": 3})));
    for record in [json!({"a": "y"}), json!({"a": "y", "b": 1}), json!({"a": "z", "b": {"c": 1}})] {
        assert!(!passes(&pattern, &record), "{record}");
    }
    let inside_lists = json!({"a": {"b": [1]}});
    assert!(passes(&inside_lists, &json!({"a": [{"b": 2}, {"b": 1}]})));
}

#[test]
fn requires_one_branch_of_or() {
    let pattern = json!({"k": ["x"], "$or": [{"a": [1]}, {"b": {"c": [2]}}]});
    for (record, expected) in [
        (json!({"k": "x", "a": 1}), true),
        (json!({"k": "x", "b": {"c": 2}}), true),
        (json!({"k": "x"}), false),
        (json!({"a": 1}), false),
    ] {
        assert_eq!(passes(&pattern, &record), expected, "{record}");
    }
}

#[test]
fn passes_records_that_match_any_filter() {
    assert!(Filters::parse(None).unwrap().accept(&json!({})));
    let filters = json!({"Filters": [{"Pattern": r#"{"a":[1]}"#}, {"Pattern": r#"{"a":[2]}"#}]});
    let filters = Filters::parse(Some(&filters)).unwrap();
    assert!(filters.accept(&json!({"a": 2})) && !filters.accept(&json!({"a": 3})));
}

#[test]
fn rejects_unsupported_patterns_with_their_path() {
    for (pattern, path) in [
        (json!({"a": {"b": [{"cidr": "10.0.0.0/8"}]}}), "a.b"),
        (json!({"a": [{"wildcard": "x*"}]}), "a"),
        (json!({"a": [{"prefix": 1}]}), "a"),
        (json!({"a": [{"exists": "yes"}]}), "a"),
        (json!({"a": [{"prefix": "x", "suffix": "y"}]}), "a"),
        (json!({"a": [{}]}), "a"),
        (json!({"a": []}), "a"),
        (json!({"a": [["x"]]}), "a"),
        (json!({"a": "x"}), "a"),
        (json!({"a": {}}), "a"),
        (json!({"a": [{"numeric": [">"]}]}), "a"),
        (json!({"a": [{"numeric": []}]}), "a"),
        (json!({"a": [{"numeric": ["!", 1]}]}), "a"),
        (json!({"a": [{"numeric": [">", 1, "<", 2, "=", 3]}]}), "a"),
        (json!({"a": [{"anything-but": []}]}), "a"),
        (json!({"a": [{"anything-but": {"suffix": "x"}}]}), "a"),
        (json!({"$or": [{"a": [1]}]}), "$or"),
        (json!({"$or": [{"a": [1]}, 1]}), "$or"),
        (json!([]), "the pattern"),
        (json!({}), "the pattern"),
    ] {
        assert_eq!(parse(&pattern).unwrap_err().path, path, "{pattern}");
    }
    for criteria in [json!({}), json!({"Filters": [{}]}), json!({"Filters": [{"Pattern": "{"}]})] {
        assert!(Filters::parse(Some(&criteria)).is_err(), "{criteria}");
    }
}

#[test]
fn limits_the_size_of_filters() {
    let nested =
        |levels: usize| (1..levels).fold(json!({"a": [1]}), |inner, _| json!({"a": inner}));
    assert!(parse(&nested(MAX_NESTING_DEPTH)).is_ok());
    assert!(parse(&nested(MAX_NESTING_DEPTH + 1)).is_err());
    let overhead = json!({"a": [""]}).to_string().len();
    let long = |bytes: usize| json!({"a": ["x".repeat(bytes - overhead)]});
    assert!(parse(&long(MAX_PATTERN_BYTES)).is_ok());
    assert!(parse(&long(MAX_PATTERN_BYTES + 1)).is_err());
    let many = |count: usize| json!({"Filters": vec![json!({"Pattern": r#"{"a":[1]}"#}); count]});
    assert!(Filters::parse(Some(&many(MAX_FILTERS))).is_ok());
    assert!(Filters::parse(Some(&many(MAX_FILTERS + 1))).is_err());
}
