//! Compares Cellar's transforms with those of another engine. Ignored by default, because the
//! engine is installed from a package index; `.ci/run` runs it.

use std::collections::BTreeMap;
use std::path::Path;

use cellar_peer::explain::{difference, explain};
use cellar_peer::rules::Rule;
use cellar_peer::{enumerated, ours, random, theirs};

const RANDOM_PAIRS: usize = 2_000;
/// Maximum number of unexplained pairs in the error message.
const SHOWN: usize = 5;

/// Number of pairs that each set of rules explains. Another number means that one of the engines or
/// the random generator has changed.
const EXPECTED: [(&[Rule], usize); 5] = [
    (&[], 5_148),
    (&[Rule::LosesInsert], 71),
    (&[Rule::ClearGrows], 63),
    (&[Rule::CopiesFormat], 43),
    (&[Rule::StepByStep], 7),
];

#[test]
#[ignore = "installs another engine from npm"]
fn transforms_agree_with_another_engine_except_for_its_rules() {
    let mut pairs = enumerated::pairs();
    pairs.extend(random::pairs(RANDOM_PAIRS));
    let theirs = theirs::cells(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("peer"), &pairs);
    let (mut counts, mut unexplained) = (BTreeMap::new(), Vec::new());
    for (pair, theirs) in pairs.iter().zip(&theirs) {
        match explain(pair, theirs) {
            Some(rules) => *counts.entry(rules).or_insert(0) += 1,
            None => unexplained.push(difference(pair, theirs)),
        }
    }
    let shown = unexplained.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("\n");
    assert!(unexplained.is_empty(), "no rule explains {} pairs:\n{shown}", unexplained.len());
    for rule in Rule::ALL {
        assert!(
            counts.contains_key(&vec![rule]),
            "{rule:?} explains no difference: remove the rule"
        );
        eprintln!("{rule:?}: not in Cellar, since {}", rule.reason());
    }
    let expected: BTreeMap<_, _> =
        EXPECTED.iter().map(|(rules, count)| (rules.to_vec(), *count)).collect();
    assert_eq!(counts, expected, "the number of pairs per set of rules has changed");
    let sensitive_pairs =
        pairs.iter().zip(&theirs).filter(|(pair, is)| ours::cells_unmoved(pair) != **is);
    let sensitive_pairs = sensitive_pairs.count();
    eprintln!("{} pairs, {counts:?}; {sensitive_pairs} depend on the transforms", pairs.len());
    assert!(
        sensitive_pairs > pairs.len() / 3,
        "most pairs end with the same cells if nothing is moved"
    );
}
