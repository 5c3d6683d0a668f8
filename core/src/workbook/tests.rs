//! What operations make of a workbook, against plain lists of ids.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::operation::tests::any_operation;
use crate::oracle::Plain;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn a_workbook_is_what_plain_lists_say(operations in vec(any_operation(), 1..12)) {
        let (mut workbook, mut plain) = (Workbook::default(), Plain::new());
        for (tag, operation) in (1..).zip(&operations) {
            workbook.apply_operation(operation);
            plain.apply(operation, tag);
        }
        if let Some(what) = plain.differs(&workbook) {
            return Err(TestCaseError::fail(format!("{what}: after {operations:?}")));
        }
    }
}

#[test]
fn a_new_workbook_has_one_sheet() {
    let workbook = Workbook::default();
    assert_eq!(workbook.sheet_named("sheet1"), Some(SheetId::FIRST));
    assert_eq!(workbook.next_sheet(), SheetId(1));
}
