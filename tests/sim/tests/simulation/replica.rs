//! The data that eventually consistent reads see.

use cellar_sim::replica::Versions;

#[test]
fn each_item_shows_at_its_own_time() {
    let versions = Versions::default();
    versions.write(1, 0, 10, Some("a"));
    versions.write(2, 0, 5, Some("b"));
    assert_eq!(versions.range(.., 4), []);
    assert_eq!(versions.range(.., 5), [(2, "b")], "a hole");
    assert_eq!(versions.range(..=1, 10), [(1, "a")]);
}

#[test]
fn an_item_never_goes_back() {
    let versions = Versions::default();
    versions.write(1, 0, 50, Some("a"));
    versions.write(1, 1, 20, Some("b"));
    assert_eq!(versions.range(.., 20), []);
    assert_eq!(versions.range(.., 50), [(1, "b")]);
    versions.write(1, 60, 70, None);
    assert_eq!((versions.range(.., 69), versions.range(.., 70)), (vec![(1, "b")], vec![]));
}
