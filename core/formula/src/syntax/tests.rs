use cellar_base::limits::{MAX_FORMULA_BYTES, MAX_FORMULA_DEPTH, MAX_FORMULA_REFERENCES};
use proptest::prelude::*;

use super::*;
use crate::Formula;
use crate::testing::{Names, any_formula};

fn parse(text: &str) -> Result<Formula, SyntaxError> {
    Formula::parse(text, &Names::DEFAULT)
}

fn canonical(text: &str) -> String {
    parse(text).unwrap_or_else(|error| panic!("{text}: {error}")).canonical_text(&Names::DEFAULT)
}

#[test]
fn formulas_are_written_as_excel_writes_them() {
    for (text, expected) in [
        ("=a1*2+b3", "=A1*2+B3"),
        ("=sum( $a$1 : b$2 , 3 )", "=SUM( $A$1:B$2 , 3 )"),
        ("=B2:A1+$B2:A$1", "=A1:B2+A$1:$B2"),
        ("=c:$a+5:$3", "=$A:C+$3:5"),
        ("=if(true,Foo,\"a1\"\"b\")", "=IF(TRUE,Foo,\"a1\"\"b\")"),
        ("=sum (A1)", "=SUM(A1)"),
        ("=let(myFn,lambda(x,x+1),myFn(2))", "=LET(myFn,LAMBDA(x,x+1),myFn(2))"),
        ("=LAMBDA(x,x)(2)(3)", "=LAMBDA(x,x)(2)(3)"),
        ("=data!a1+'my sheet'!B2+Other!1:2", "=Data!A1+'My sheet'!B2+Other!1:2"),
        ("='Data'!A1", "=Data!A1"),
        ("='It''s'!A1", "='It''s'!A1"),
        ("=Ärger!a1", "=Ärger!A1"),
        ("=#ref!A1+#n/a", "=#REF!+#N/A"),
        ("=Data!#REF!", "=Data!#REF!"),
        ("=-a1%%^--2", "=-A1%%^--2"),
        ("=A1#+@b:b", "=A1#+@B:B"),
        ("=A1:B2 B1:C3", "=A1:B2 B1:C3"),
        ("=SUM((A1,B2))", "=SUM((A1,B2))"),
        ("=a1:index(b:b,3)", "=A1:INDEX(B:B,3)"),
        ("={1,-2;\"x\",true}", "={1,-2;\"x\",TRUE}"),
        ("=1.5e3+.5+5.", "=1.5e3+.5+5."),
        ("=_xlfn.xlookup(1,A:A,B:B)", "=_XLFN.XLOOKUP(1,A:A,B:B)"),
        ("=log10(1)+IF(,,)+PI()", "=LOG10(1)+IF(,,)+PI()"),
        ("=ABCD1+ABCDEF1+A1073741825+A0+R1C1", "=ABCD1+ABCDEF1+A1073741825+A0+R1C1"),
        ("= A1\n+ 1", "= A1\n+ 1"),
        ("=Sales[[#This Row],[a1]]+[@Amount]", "=Sales[[#This Row],[a1]]+[@Amount]"),
        ("=[1]Sheet1!a1+Sheet1:Sheet3!a1+Data!rate", "=[1]Sheet1!a1+Sheet1:Sheet3!a1+Data!rate"),
        ("='C:\\[a.xlsx]b'!A1", "='C:\\[a.xlsx]b'!A1"),
        ("=a1!B2+A1<>-1", "='a1'!B2+A1<>-1"),
    ] {
        assert_eq!(canonical(text), expected, "{text}");
    }
}

#[test]
fn references_have_their_places_in_the_text() {
    let formula = parse("=SUM(Data!$A1:B2, \"A1\", LOG10(é), 3:4)+Ä1&A1").unwrap();
    let places = formula.references().map(|placed| formula.text().get(placed.span).unwrap());
    assert_eq!(places.collect::<Vec<_>>(), ["Data!$A1:B2", "3:4", "A1"]);
    let mut end = 0;
    for token in formula.tokens() {
        assert_eq!(token.span.start, end);
        end = token.span.end;
    }
    assert_eq!(end, formula.text().len());
    assert_eq!(formula.functions().collect::<Vec<_>>(), ["SUM", "LOG10"]);
}

#[test]
fn errors_name_the_place_and_the_remedy() {
    for (text, expected) in [
        ("A1", "character 1: a formula starts with `=`"),
        ("=", "character 2: a value is missing after `=`"),
        ("=1+", "character 4: a value is missing after `+`"),
        ("=1+*2", "character 4: a value is missing before `*`"),
        ("=SUM(A1", "character 8: `(` is not closed; add `)`"),
        ("=SUM(A1))", "character 9: `)` has no matching `(`; remove `)` or add `(`"),
        ("=()", "character 3: a value is missing after `(`"),
        ("=(A1,)", "character 6: a value is missing after `,`"),
        ("=A1 5", "character 5: an operator or `,` is missing before `5`"),
        ("=é+1A1", "character 5: an operator or `,` is missing before `A1`"),
        ("=1.2.3", "character 5: an operator or `,` is missing before `.3`"),
        ("=\"a", "character 2: the closing \" is missing"),
        ("='a!A1", "character 2: the closing ' is missing"),
        (
            "='a'A1",
            "character 2: a cell or range is missing after the sheet name; add it, as in Sheet1!A1",
        ),
        (
            "=Data!+1",
            "character 2: a cell or range is missing after the sheet name; add it, as in Sheet1!A1",
        ),
        ("=''!A1", "character 2: the sheet name before `!` is empty"),
        ("=!A1", "character 2: the sheet name before `!` is empty"),
        ("=2024!A1", "character 2: put the sheet name in quotes: '2024'!"),
        (
            "=A1;B1",
            "character 4: `;` can only separate the rows of an array; use `,` to separate arguments",
        ),
        (
            "=A1,B1",
            "character 4: `,` can only separate the arguments of a function; enclose a union of ranges in parentheses",
        ),
        (
            "={1,A1}",
            "character 5: an array can only contain numbers, quoted strings, TRUE, FALSE and error values; `A1` is not allowed here",
        ),
        (
            "={1,2;3}",
            "character 8: all rows of an array must have the same number of values; the first row has 2, this row has 1",
        ),
        ("={}", "character 3: a value is missing after `{`"),
        (
            "={-\"a\"}",
            "character 4: an array can only contain numbers, quoted strings, TRUE, FALSE and error values; `\"a\"` is not allowed here",
        ),
        ("=#FOO!", "character 2: `#FOO!` is not an error value; enclose strings in double quotes"),
        ("=1#", "character 3: `#` is not an error value; enclose strings in double quotes"),
        (
            "=$A",
            "character 2: `$` is only allowed in references such as $A$1; `$A` is not a reference",
        ),
        ("=A1:3", "character 5: `:` can only join two references, as in A1:B2"),
        ("=5:A1", "character 3: `:` can only join two references, as in A1:B2"),
        ("=A1~2", "character 4: `~` is not allowed in a formula outside quotes"),
        ("=\"\u{1}\"", "character 3: control character `\\u{1}` is not allowed in a formula"),
        ("=Sales[A", "character 2: `[` is not closed; add `]`"),
        ("=}", "character 2: `}` has no matching `{`; remove `}` or add `{`"),
        ("=A1@B1", "character 4: an operator or `,` is missing before `@`"),
        ("=%", "character 2: a value is missing before `%`"),
    ] {
        match parse(text) {
            Ok(formula) => panic!("{text}: {:?}", formula.tokens()),
            Err(error) => assert_eq!(error.to_string(), expected, "{text}"),
        }
    }
}

#[test]
fn references_that_are_not_calculated_are_kept_or_refused() {
    for (text, reason) in [
        ("=1+Sales[A]", "character 4: references to tables are not supported"),
        ("=[1]Sheet1!A1", "character 2: references to other files are not supported"),
        ("='[a.xlsx]b'!A1", "character 2: references to other files are not supported"),
        ("=SUM(Sheet1:Data!A1)", "character 6: references to several sheets are not supported"),
        ("=SUM('Sheet1:Data'!A1)", "character 6: references to several sheets are not supported"),
        ("=Data!rate", "character 2: names after a sheet name are not supported"),
        ("=LAMBDA([y],[y])", "character 13: references to tables are not supported"),
        ("=SUM([y])", "character 6: references to tables are not supported"),
        ("=LAMBDA([@y],1)", "character 9: references to tables are not supported"),
    ] {
        let formula = parse(text).unwrap();
        assert_eq!(formula.canonical_text(&Names::DEFAULT), text);
        let error = formula.check_supported().unwrap_err().to_string();
        assert!(error.starts_with(reason), "{error}");
    }
    assert!(parse("=A1+rate+FOO(1)").unwrap().check_supported().is_ok());
    assert!(parse("=1+LAMBDA(x,[y],[z_1],x+y)(2)").unwrap().check_supported().is_ok());
}

#[test]
fn limits_hold_at_n_and_n_plus_1() {
    let of_bytes = |bytes: usize| parse(&format!("=\"{}\"", "x".repeat(bytes - 3)));
    assert!(of_bytes(MAX_FORMULA_BYTES).is_ok());
    let bytes = MAX_FORMULA_BYTES + 1;
    assert_eq!(of_bytes(bytes).unwrap_err().problem, SyntaxProblem::TooLong { bytes });

    for (open, close) in [("(", ")"), ("ABS(", ")")] {
        let nested =
            |depth: usize| parse(&format!("={}1{}", open.repeat(depth), close.repeat(depth)));
        assert!(nested(MAX_FORMULA_DEPTH).is_ok());
        let error = nested(MAX_FORMULA_DEPTH + 1).unwrap_err();
        assert_eq!(error.problem, SyntaxProblem::TooDeep);
    }
    let array = |depth: usize| parse(&format!("={}{{1}}{}", "(".repeat(depth), ")".repeat(depth)));
    assert!(array(MAX_FORMULA_DEPTH - 1).is_ok() && array(MAX_FORMULA_DEPTH).is_err());

    let of_references = |count: usize| parse(&format!("={}1", "A1:B2+".repeat(count)));
    assert!(of_references(MAX_FORMULA_REFERENCES).is_ok());
    let error = of_references(MAX_FORMULA_REFERENCES + 1).unwrap_err();
    assert_eq!(error.problem, SyntaxProblem::TooManyReferences);
}

/// A tokenizer that looks ahead at each character would need seconds for some of these formulas.
#[test]
fn hostile_formulas_take_linear_time() {
    let start = std::time::Instant::now();
    for part in [
        "(", ")", "A1:", "A1 ", "1.", ".1", "a", "a:", "a ", " ", "[", "'", "\"", "#", "#REF!",
        "$", "-", "@", "%", "{1,", "1;", "A1(", "é", "A:", "1:", "!", "=", ",", "x!", "IF(", "A1#",
        "1E",
    ] {
        for head in ["=", "=A1", "=1+", "=SUM("] {
            let text = format!("{head}{}", part.repeat((MAX_FORMULA_BYTES - 8) / part.len()));
            let _ = parse(&text);
        }
    }
    let elapsed_ms = start.elapsed().as_millis();
    assert!(elapsed_ms < 2_000, "{elapsed_ms} ms");
}

proptest! {
    #[test]
    fn any_text_is_parsed_or_refused_at_a_place(text in "=?[A-Ca1-3$:!'\"#(){},;+%@ \\[\\]._é-]{0,24}|\\PC{0,20}") {
        match parse(&text) {
            Ok(formula) => {
                let canonical = formula.canonical_text(&Names::DEFAULT);
                let again = parse(&canonical).unwrap();
                prop_assert_eq!(again.canonical_text(&Names::DEFAULT), canonical);
            }
            Err(error) => {
                prop_assert!(text.get(error.span.clone()).is_some(), "{:?}", error.span);
                prop_assert!(error.character <= text.chars().count() + 1);
            }
        }
    }

    #[test]
    fn a_formula_without_a_token_is_parsed_or_refused(text in any_formula(), index in 1..40_usize) {
        let formula = parse(&text).unwrap();
        let tokens = formula.tokens();
        let without = tokens.get(index % tokens.len()).unwrap();
        let mut shorter = formula.text().to_owned();
        shorter.replace_range(without.span.clone(), "");
        let _ = parse(&shorter);
    }
}
