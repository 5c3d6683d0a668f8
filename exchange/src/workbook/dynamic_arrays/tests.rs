use cellar_functions::limits::Limits;
use cellar_functions::{
    ArrayMode, CellSource, DateOrder, EvaluationContext, EvaluationOutcome, Size, evaluate_text,
};
use cellar_sheet::a1::CellName;
use cellar_sheet::cell::Value;

use super::*;

fn shown(text: &str, evaluation: Evaluation) -> String {
    let formula = Formula::parse(text, &NoSheets).unwrap();
    as_shown(formula, evaluation).text().to_owned()
}

/// Ordinary formulas, and what Excel shows.
const ORDINARY: &[(&str, &str)] = &[
    ("=A1:A3", "=@A1:A3"),
    ("=A1:A3*2", "=@A1:A3*2"),
    ("=2*-(A1:A3)%", "=2*-@(A1:A3)%"),
    ("=A:A&$1:$1", "=@A:A&@$1:$1"),
    ("=A1*B2+A1:A1", "=A1*B2+A1:A1"),
    ("=Sheet2!A1:B2=1", "=@Sheet2!A1:B2=1"),
    ("=A1:C1 B1:B3+1", "=@A1:C1 B1:B3+1"),
    ("=A1:INDEX(B:B,3)*2", "=@A1:INDEX(B:B,3)*2"),
    ("=SUM(A1:A3)", "=SUM(A1:A3)"),
    ("=SUM(A1:A3*B1:B3)", "=SUM(@A1:A3*@B1:B3)"),
    ("=SUMPRODUCT(A1:A3*B1:B3)", "=SUMPRODUCT(A1:A3*B1:B3)"),
    ("=ABS(A1:A3)", "=ABS(@A1:A3)"),
    ("=VLOOKUP(A:A,C:D,2,0)", "=VLOOKUP(@A:A,C:D,2,0)"),
    ("=COUNTIF(A:A,A:A)", "=COUNTIF(A:A,@A:A)"),
    ("=IF(A1:A3>0,B1:B3,C1)", "=IF(@A1:A3>0,@B1:B3,C1)"),
    ("=SUM(IF(A1:A3>0,B1:B3))", "=SUM(IF(@A1:A3>0,B1:B3))"),
    ("=SWITCH(A1,B1:B2,C1:C2,D1:D2)", "=SWITCH(A1,@B1:B2,@C1:C2,@D1:D2)"),
    ("=SUM(IFS(A1,B1:B2,C1:C2,D1:D2))", "=SUM(IFS(A1,B1:B2,@C1:C2,D1:D2))"),
    ("=SUM(CHOOSE(A1:A2,B1:B2))", "=SUM(CHOOSE(@A1:A2,B1:B2))"),
    ("=IFERROR(A1:A3/0,0)", "=IFERROR(@A1:A3/0,0)"),
    ("=INDIRECT(A1)+1", "=@INDIRECT(A1)+1"),
    ("=SUM(INDIRECT(A1))", "=SUM(INDIRECT(A1))"),
    ("=OFFSET(A1,1,B1:B3)", "=OFFSET(A1,1,@B1:B3)"),
    ("=OFFSET(A1,1,0,2)", "=@OFFSET(A1,1,0,2)"),
    ("=INDEX(A:A,MATCH(B:B,C:C,0))", "=INDEX(A:A,MATCH(@B:B,C:C,0))"),
    ("=INDEX(A:C,B1,2)", "=@INDEX(A:C,B1,2)"),
    ("=INDEX(A:C,,2)", "=@INDEX(A:C,,2)"),
    ("={1,2}*2", "=@({1,2}*2)"),
    ("=({1,2}*2)", "=@({1,2}*2)"),
    ("=({1,2})*(2)", "=@(({1,2})*(2))"),
    ("=-TRANSPOSE(A1:A3)", "=@(-TRANSPOSE(A1:A3))"),
    ("=SQRT({1,4})", "=@SQRT({1,4})"),
    ("=SUM(SQRT({1,4}))", "=SUM(SQRT({1,4}))"),
    ("=_xlfn.SEQUENCE(3)", "=@_xlfn.SEQUENCE(3)"),
    ("=XLOOKUP(A1,B:B,C:C)", "=XLOOKUP(A1,B:B,C:C)"),
    ("=XLOOKUP(A1:A2,B:B,C:C)", "=XLOOKUP(@A1:A2,B:B,C:C)"),
    ("=XLOOKUP(A1,B:B,C:D)", "=@XLOOKUP(A1,B:B,C:D)"),
    ("=LAMBDA(x,x*A1:A3)(A1:A2)", "=@LAMBDA(x,x*A1:A3)(A1:A2)"),
    ("=UNKNOWN(A1:A3)", "=@UNKNOWN(A1:A3)"),
    ("=@A1:A3*2", "=@A1:A3*2"),
    ("=\"A1:A3\"&'A1 A3'!B2", "=\"A1:A3\"&'A1 A3'!B2"),
    ("=ROW(A1:A3)", "=@ROW(A1:A3)"),
    ("=ROW(INDIRECT(\"A1:A3\"))*2", "=@(ROW(INDIRECT(\"A1:A3\"))*2)"),
    ("=ROWS(A1:A3)", "=ROWS(A1:A3)"),
];

#[test]
fn ordinary_formulas_use_one_cell_of_a_range() {
    for (text, expected) in ORDINARY {
        assert_eq!(shown(text, Evaluation::Ordinary), *expected, "{text}");
    }
}

/// A sheet in which each cell has the number of its row and column.
struct Numbers;

impl CellSource for Numbers {
    fn grid_size(&self) -> Size {
        Size { rows: 1_048_576, columns: 16_384 }
    }

    fn sheet_count(&self) -> u32 {
        1
    }

    fn sheet_index(&self, _name: &str) -> Option<u32> {
        Some(0)
    }

    fn sheet_name(&self, _sheet: u32) -> Option<String> {
        None
    }

    fn used_size(&self, _sheet: u32) -> Size {
        Size { rows: 9, columns: 9 }
    }

    fn cell(&self, _sheet: u32, cell: CellName) -> Value {
        Value::Number(f64::from(10 * cell.row + cell.column))
    }
}

fn evaluated(text: &str, cell: CellName, array_mode: ArrayMode) -> EvaluationOutcome {
    let context = EvaluationContext {
        sheet: 0,
        cell,
        now: 46_000.0,
        random_seed: 1,
        date_order: DateOrder::MonthFirst,
        array_mode,
        limits: Limits::default(),
    };
    evaluate_text(text, &context, &Numbers).unwrap()
}

#[test]
fn a_formula_has_the_same_value_with_implicit_intersections() {
    for row in 0..4 {
        for (text, expected) in ORDINARY {
            let cell = CellName { row, column: 8 };
            let value = evaluated(text, cell, ArrayMode::Intersect);
            assert_eq!(evaluated(expected, cell, ArrayMode::Spill), value, "{text}");
        }
    }
}

#[test]
fn functions_of_files_become_operators() {
    for (text, expected) in [
        ("=SINGLE(A1:A3)*2", "=@A1:A3*2"),
        ("=_xlfn.SINGLE( A1:A3 )*2", "=@A1:A3*2"),
        ("=SINGLE(A1:A3*2)", "=@(A1:A3*2)"),
        ("=SINGLE((A1:A3*2))", "=@(A1:A3*2)"),
        ("=SINGLE(SINGLE(A1:A3))", "=@@A1:A3"),
        ("=SINGLE(A1:A3):B2", "=SINGLE(A1:A3):B2"),
        ("=SUM(ANCHORARRAY(A1),1)", "=SUM(A1#,1)"),
        ("=SINGLE(ANCHORARRAY(Sheet2!$A$1))", "=@Sheet2!$A$1#"),
        ("=( SINGLE(A1:A3) )*2", "=( @A1:A3 )*2"),
        ("=ANCHORARRAY(INDEX(A:A,1))", "=ANCHORARRAY(INDEX(A:A,1))"),
        ("=SINGLE()+SINGLE(1,2)", "=SINGLE()+SINGLE(1,2)"),
        ("=A1:A3*2", "=A1:A3*2"),
    ] {
        assert_eq!(shown(text, Evaluation::Array), expected, "{text}");
    }
}

#[test]
fn formulas_are_stored_as_ordinary_ones_only_if_they_are_read_back() {
    for (text, stored, is_dynamic) in [
        ("=A1*2", "A1*2", false),
        ("=SUM(A1:A3)", "SUM(A1:A3)", false),
        ("=@A1:A3*2", "A1:A3*2", false),
        ("=ABS(@A1:A3)", "ABS(A1:A3)", false),
        ("=@({1,2}*2)", "({1,2}*2)", false),
        ("=A1:A3*2", "A1:A3*2", true),
        ("=A1:A3*@B1:B3", "A1:A3*_xlfn.SINGLE(B1:B3)", true),
        ("=ABS(A1:A3)", "ABS(A1:A3)", true),
        ("=SUM(A1:A3*B1:B3)", "SUM(A1:A3*B1:B3)", true),
        ("=@A1+1", "_xlfn.SINGLE(A1)+1", true),
        ("=@SEQUENCE(3)", "_xlfn.SINGLE(_xlfn.SEQUENCE(3))", true),
        ("=SUM(A1#)", "SUM(_xlfn.ANCHORARRAY(A1))", true),
        ("=(@A1#)%", "(_xlfn.SINGLE(_xlfn.ANCHORARRAY(A1)))%", true),
        ("=INDEX(A:A,B1)", "INDEX(A:A,B1)", true),
        ("=INDEX(A:A,MATCH(1,B:B,0))", "INDEX(A:A,MATCH(1,B:B,0))", false),
        ("=IFS(A1,2)", "_xlfn.IFS(A1,2)", false),
        ("=A1+(", "A1+(", false),
    ] {
        let found = as_stored(text);
        assert_eq!((found.text.as_str(), found.is_dynamic), (stored, is_dynamic), "{text}");
        if let Ok(formula) = Formula::parse(&format!("={stored}"), &NoSheets) {
            let evaluation = if is_dynamic { Evaluation::Array } else { Evaluation::Ordinary };
            let read_back = as_shown(formula, evaluation).text().replace("_xlfn.", "");
            let without_parentheses = |text: &str| text.replace(['(', ')'], "");
            assert_eq!(without_parentheses(&read_back), without_parentheses(text));
        }
    }
}

proptest::proptest! {
    /// Every formula has the same meaning after it is stored and read.
    #[test]
    fn stored_formulas_are_read_back(
        text in "(@?[A-C][1-9](:[A-C][1-9]|#)?[*+ ,]|@?\\(|\\)%?|-|(SUM|ABS|INDEX|IF|SORT)\\(|2){1,12}",
    ) {
        let text = format!("={text}");
        if let Ok(formula) = Formula::parse(&text, &NoSheets) {
            let stored = as_stored(&text);
            let evaluation =
                if stored.is_dynamic { Evaluation::Array } else { Evaluation::Ordinary };
            let shown_text = crate::workbook::functions::without_prefixes(&stored.text);
            let read_back = shown(&format!("={shown_text}"), evaluation);
            let plain = |text: &str| text.replace(['(', ')', ' '], "");
            proptest::prop_assert_eq!(plain(&read_back), plain(formula.text()));
        }
    }

    #[test]
    fn no_text_panics(text in "=[A-C1-9@#:,(){}%+ \"']{0,20}|=\\PC{0,20}") {
        let _ = (as_stored(&text), as_stored_array(&text));
        if let Ok(formula) = Formula::parse(&text, &NoSheets) {
            let _ = as_shown(formula, Evaluation::Ordinary);
        }
    }
}
