//! Look.
#![allow(unused_crate_dependencies)]
use cellar_peer::*;
use std::path::Path;
use std::collections::BTreeMap;

#[test]
#[ignore]
fn look() {
    let mut pairs = enumerated::pairs();
    eprintln!("{}", pairs.len());
    pairs.extend(random::pairs(2000));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("peer");
    let all = theirs::cells(&folder, &pairs);
    let mut by: BTreeMap<String, Vec<(Pair, String)>> = BTreeMap::new();
    let name = |o: &cellar_core::operation::Operation| format!("{o:?}").split('(').next().unwrap().to_owned();
    let mut eq=0;
    for (pair, t) in pairs.into_iter().zip(all) {
        let o = ours::cells(&pair, &[]);
        if o == t { eq+=1; continue }
        let k = format!("{:?} {:?} / {}", rules::explain(&pair, &t), pair.committed.iter().map(name).collect::<Vec<_>>(), name(&pair.mine));
        let d = cells::difference(&o, &t);
        by.entry(k).or_default().push((pair, d));
    }
    eprintln!("equal {eq}");
    for (k, v) in by {
        eprintln!("== {k} {}", v.len());
        for (p, d) in v.iter().take(4) { eprintln!("{}\n{}", serde_json::to_string(p).unwrap(), d); }
    }
}
