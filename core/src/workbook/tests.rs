//! What operations make of a workbook.

use super::*;

#[test]
fn a_new_workbook_has_one_sheet() {
    let workbook = Workbook::default();
    assert_eq!(workbook.sheet_named("sheet1"), Some(SheetId::FIRST));
    assert_eq!(workbook.next_sheet(), SheetId(1));
}
