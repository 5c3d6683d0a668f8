//! The transform against plain lists of ids.

use super::*;
use crate::operation::{InsertBefore, Operation, SheetId};

#[test]
fn an_insert_into_the_same_gap_lands_behind_what_was_there_first() {
    let insert =
        |before| Operation::InsertRows(InsertBefore { sheet: SheetId::FIRST, before, count: 2 });
    let map = SpaceMap::of(&[insert(3)]);
    assert_eq!(transform(&insert(3), &map), Some(vec![insert(5)]));
    assert_eq!(transform(&insert(2), &map), None);
}
