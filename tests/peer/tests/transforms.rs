//! Cellar's transforms beside those of another engine. Ignored by default, since that one is installed
//! from a package index; `.ci/run` runs it.

use std::collections::BTreeMap;
use std::path::Path;

use cellar_peer::explain::{difference, explain};
use cellar_peer::rules::Rule;
use cellar_peer::{enumerated, ours, random, theirs};

const RANDOM_PAIRS: usize = 2_000;
/// Unexplained pairs that are shown.
const SHOWN: usize = 5;

/// How many pairs come out otherwise by which rules. Another number is another behaviour of one of the
/// engines, or of the generator of random numbers.
const EXPECTED: [(&[Rule], usize); 5] = [
    (&[], 5_148),
    (&[Rule::LosesInsert], 71),
    (&[Rule::ClearGrows], 63),
    (&[Rule::CopiesFormat], 43),
    (&[Rule::StepByStep], 7),
];

#[test]
#[ignore = "installs another engine from npm"]
fn transforms_end_with_the_cells_of_another_engine_but_for_the_rules() {
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
        assert!(counts.contains_key(&vec![rule]), "{rule:?} explains nothing: take it away");
        eprintln!("{rule:?}: not in Cellar, since {}", rule.reason());
    }
    let expected: BTreeMap<_, _> =
        EXPECTED.iter().map(|(rules, count)| (rules.to_vec(), *count)).collect();
    assert_eq!(counts, expected, "other pairs come out otherwise than before");
    let told = pairs.iter().zip(&theirs).filter(|(pair, is)| ours::cells_unmoved(pair) != **is);
    let told = told.count();
    eprintln!("{} pairs, {counts:?}; {told} tell whether anything is moved", pairs.len());
    assert!(told > pairs.len() / 3, "most pairs end with the same cells if nothing is moved");
}
