use cellar_grid::Axis;

use super::*;
use crate::operation::Operation;

fn sheets() -> BTreeMap<String, SheetId> {
    BTreeMap::from([("Sheet1".to_owned(), SheetId(0)), ("My data".to_owned(), SheetId(3))])
}

fn validated(name: &str, formula: &str) -> Result<SetName, String> {
    let set =
        SetName { name: name.to_owned(), formula: Some(formula.to_owned()), sheets: sheets() };
    match Operation::SetName(set).validated() {
        Ok(Operation::SetName(set)) => Ok(set),
        Ok(other) => Err(format!("{other:?}")),
        Err(fault) => Err(fault.to_string()),
    }
}

#[test]
fn names_follow_the_rules_of_excel_and_are_no_cells_of_larger_sheets() {
    for name in ["TAX", "_x", "Ümsatz", "a", "rate_2024.old", "C3PO", "Row", "RCA", "ABCDEF1"] {
        assert_eq!(check_name(name), Ok(()), "{name}");
    }
    for (name, reason) in [
        ("", "it is empty"),
        ("1st", "start with a letter"),
        (".x", "start with a letter"),
        ("a b", "other characters"),
        ("a-b", "other characters"),
        ("A$1", "other characters"),
        ("a!b", "other characters"),
        ("A1", "it is a cell"),
        ("tax2024", "it is a cell"),
        ("DATA1", "it is a cell"),
        ("R", "R1C1"),
        ("c", "R1C1"),
        ("rc", "R1C1"),
        ("R1C1", "R1C1"),
        ("r10", "R1C1"),
        ("RC12", "R1C1"),
        ("true", "logical"),
        ("False", "logical"),
        ("_xlnm.Print_Area", "meaning in Excel"),
        ("_xlfn.X", "meaning in Excel"),
    ] {
        let fault = check_name(name).map_err(|fault| fault.to_string());
        assert!(fault.as_ref().is_err_and(|fault| fault.contains(reason)), "{name} {fault:?}");
    }
}

#[test]
fn formulas_are_stored_in_canonical_form_with_the_sheets_that_they_use() {
    let set = validated("Tax", "=sum('my DATA'!$B$2:$a$1, rate)").unwrap();
    assert_eq!(set.formula.as_deref(), Some("=SUM('My data'!$A$1:$B$2, rate)"));
    assert_eq!(set.sheets, BTreeMap::from([("My data".to_owned(), SheetId(3))]));
    assert_eq!(validated("t", "=0.19").unwrap().sheets, BTreeMap::new());
    assert!(validated("t", "=Sheet1!$A:$B+Sheet1!$1:$2+#REF!").is_ok());
}

#[test]
fn formulas_that_are_ambiguous_or_wrong_are_rejected_with_a_remedy() {
    let long = format!("={}", "1".repeat(MAX_DEFINED_NAME_FORMULA_BYTES));
    for (formula, remedy) in [
        ("=B1", "refers to B1 without a sheet; write Sheet1!$B$1"),
        ("=Sheet1!B$1:C2", "write Sheet1!$B$1:$C$2"),
        ("=Data!$B$1", "names the sheet `Data`; add its number to `sheets`"),
        ("=Sales[Amount]", "references to tables are not supported"),
        ("=1+", "character 4: a value is missing after `+`"),
        ("0.19", "a formula starts with `=`"),
        (&long, "at most 2048 are allowed; write a part of it in a cell"),
    ] {
        let fault = validated("TAX", formula);
        assert!(fault.as_ref().is_err_and(|fault| fault.contains(remedy)), "{formula} {fault:?}");
    }
}

#[test]
fn limits_hold_at_n_and_n_plus_1() {
    for (more, fits) in [(0, true), (1, false)] {
        assert_eq!(check_name(&"x".repeat(MAX_DEFINED_NAME_BYTES + more)).is_ok(), fits);
        let digits = "1".repeat(MAX_DEFINED_NAME_FORMULA_BYTES - 1 + more);
        assert_eq!(validated("x", &format!("={digits}")).is_ok(), fits);
    }
    // The formulas of a log, which moved references have made longer, are still accepted.
    let digits = "1".repeat(MAX_DEFINED_NAME_FORMULA_BYTES);
    let formula = Some(format!("={digits}"));
    let set = SetName { name: "x".to_owned(), formula, sheets: BTreeMap::new() };
    assert!(Operation::SetName(set).validated_from_log().is_ok());
}

#[test]
fn names_of_sheets_in_an_operation_are_unique() {
    let with = |labels: &[&str]| {
        let sheets = labels.iter().map(|label| ((*label).to_owned(), SheetId(0))).collect();
        SetName { name: "x".to_owned(), formula: Some("=1".to_owned()), sheets }.validated()
    };
    assert!(with(&["a", "b"]).is_ok());
    assert!(with(&["a", "A"]).is_err());
    assert!(with(&[&"x".repeat(MAX_SHEET_NAME_CHARACTERS)]).is_ok());
    assert!(with(&[&"x".repeat(MAX_SHEET_NAME_CHARACTERS + 1)]).is_err());
}

#[test]
fn a_moved_definition_keeps_its_cells() {
    let set = validated("x", "=SUM(Sheet1!$A$2:$A$10)+'My data'!$B$5").unwrap();
    let unmoved = || (AxisMap::identity(Axis::Rows), AxisMap::identity(Axis::Columns));
    let moved = set.moved(|sheet| match sheet {
        SheetId(0) => (Some(sheet), AxisMap::insert(Axis::Rows, 4, 3), unmoved().1),
        _ => (Some(SheetId(7)), unmoved().0, AxisMap::insert(Axis::Columns, 0, 1)),
    });
    assert_eq!(moved.formula.as_deref(), Some("=SUM(Sheet1!$A$2:$A$13)+'My data'!$C$5"));
    assert_eq!(moved.sheets.get("My data"), Some(&SheetId(7)));
    let gone =
        set.moved(|sheet| (Some(sheet).filter(|sheet| sheet.0 == 3), unmoved().0, unmoved().1));
    assert_eq!(gone.formula.as_deref(), Some("=SUM(#REF!)+'My data'!$B$5"));
    assert!(Operation::SetName(gone).validated_from_log().is_ok());
}

#[test]
fn typed_ranges_are_completed() {
    let labels = sheets();
    let names = Labels::of(&labels);
    for (text, formula) in [
        ("B2:B10", "='My data'!$B$2:$B$10"),
        ("=B2*sheet1!A1", "='My data'!$B$2*Sheet1!$A$1"),
        (" 0.19 ", "=0.19"),
        ("A:B", "='My data'!$A:$B"),
        ("=#REF!", "=#REF!"),
    ] {
        let completed = completed_formula("x", text, SheetId(3), &names);
        assert_eq!(completed.as_deref(), Ok(formula), "{text}");
    }
    let fault =
        completed_formula("x", "B2:", SheetId(3), &names).map_err(|fault| fault.to_string());
    assert!(fault.is_err_and(|fault| fault.contains("a value is missing after `:`")));
    let unknown = SetName::define("x", "=Data!$A$1", &names).map_err(|fault| fault.to_string());
    assert!(
        unknown.is_err_and(|fault| fault.contains("names the sheet `Data`, which does not exist"))
    );
    let set = SetName::define("x", "='My data'!$A$1", &names).unwrap();
    assert_eq!(set.sheets, BTreeMap::from([("My data".to_owned(), SheetId(3))]));
}
