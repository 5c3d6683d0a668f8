//! Hostile formulas fail with an error after a bounded amount of work and memory.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod sheet;

use cellar_base::limits::{MAX_EXPRESSION_DEPTH, MAX_FORMULA_BYTES, MAX_FORMULA_DEPTH};
use cellar_functions::limits::{LimitExceeded, Limits, MAX_ARRAY_VALUES, MAX_TEXT_CHARACTERS};
use cellar_functions::{EvaluationError, EvaluationOutcome, SyntaxProblem};
use cellar_sheet::cell::{ErrorCode, Value};
use sheet::{Numbers, evaluate_over, evaluate_with};

fn limit(result: &Result<EvaluationOutcome, EvaluationError>) -> Option<LimitExceeded> {
    match result {
        Err(EvaluationError::Limit(limit)) => Some(*limit),
        _ => None,
    }
}

fn evaluate(formula: &str) -> Result<EvaluationOutcome, EvaluationError> {
    evaluate_over(&Numbers(10), formula)
}

#[test]
fn formulas_are_limited_in_length() {
    let formula = |bytes: usize| format!("=\"{}\"", "a".repeat(bytes - 3));
    assert!(evaluate(&formula(MAX_FORMULA_BYTES)).is_ok());
    let bytes = MAX_FORMULA_BYTES + 1;
    assert_eq!(syntax_problem(&formula(bytes)), Some(SyntaxProblem::TooLong { bytes }));
}

fn syntax_problem(formula: &str) -> Option<SyntaxProblem> {
    match evaluate(formula) {
        Err(EvaluationError::Syntax(error)) => Some(error.problem),
        _ => None,
    }
}

#[test]
fn nested_formulas_are_rejected() {
    for (open, close) in [("(", ")"), ("-", ""), ("ABS(", ")"), ("{", "}"), ("IF(1,", ")")] {
        let count = MAX_FORMULA_BYTES / (open.len() + close.len()).max(1) - 2;
        let formula = format!("={}1{}", open.repeat(count), close.repeat(count));
        assert!(syntax_problem(&formula).is_some(), "{open}");
    }
}

#[test]
fn nesting_is_limited_at_n_and_n_plus_1() {
    let signs = |count: usize| format!("={}1", "-".repeat(count));
    let number = |number: f64| Ok(EvaluationOutcome::Value(Value::Number(number)));
    assert_eq!(evaluate(&signs(MAX_EXPRESSION_DEPTH)), number(1.0));
    let problem = syntax_problem(&signs(MAX_EXPRESSION_DEPTH + 1));
    assert_eq!(problem, Some(SyntaxProblem::OperatorsTooDeep));
    // The deepest formula has a call, a sign and operators at each level of parentheses.
    let count = MAX_FORMULA_DEPTH;
    let deepest = format!("={}1%{}", "1+-MAX(".repeat(count), ")".repeat(count));
    assert!(evaluate(&deepest).is_ok());
    let calls = format!("={}1{}", "IFERROR(".repeat(count), ",0)".repeat(count));
    assert_eq!(evaluate(&calls), number(1.0));
}

/// A chain of operators can be as long as its formula, and does not count as nesting.
#[test]
fn long_chains_have_values() {
    let number = |number: f64| Ok(EvaluationOutcome::Value(Value::Number(number)));
    assert_eq!(evaluate(&format!("=1{}", "+1".repeat(4_000))), number(4_001.0));
    assert_eq!(evaluate(&format!("=2{}", "^1".repeat(4_000))), number(2.0));
    assert_eq!(evaluate(&format!("=0{}", "%".repeat(8_000))), number(0.0));
    assert_eq!(evaluate(&format!("=SUM(A1:A3{})", " A2:A4".repeat(1_000))), number(5.0));
    let text = evaluate(&format!("=\"\"{}", "&1".repeat(4_000)));
    assert_eq!(text, Ok(EvaluationOutcome::Value(Value::Text("1".repeat(4_000)))));
    let calls = format!("=LET(f,LAMBDA(g,g),(f){})", "(f)".repeat(2_000));
    let error = Ok(EvaluationOutcome::Value(Value::Error(ErrorCode::Calc)));
    assert_eq!(evaluate(&calls), error);
}

/// Each lambda contains the previous one.
#[test]
fn nested_lambdas_are_dropped_without_recursion() {
    let nested = "REDUCE(LAMBDA(x,x),SEQUENCE(100000),LAMBDA(a,b,LAMBDA(x,a(x))))";
    let error = Ok(EvaluationOutcome::Value(Value::Error(ErrorCode::Calc)));
    assert_eq!(evaluate(&format!("={nested}")), error);
    assert_eq!(limit(&evaluate(&format!("={nested}(1)"))), Some(LimitExceeded::Depth));
}

/// Each level of recursion calls several functions. The stack of a test thread has 2 MiB.
#[test]
fn deep_recursion_does_not_exhaust_the_stack() {
    for step in [
        "IF(TRUE,g(g,n+1),0)",
        "SUM(MAP(n,LAMBDA(x,g(g,x+1))))",
        "REDUCE(n,{1,2},LAMBDA(a,b,g(g,a+b)))",
        "LET(x,1+g(g,n+1),x)",
        "IFERROR(SWITCH(1,1,IFS(TRUE,g(g,n+1))),0)",
        "SUM(BYROW(n,LAMBDA(r,-g(g,r+1))))",
        "CHOOSE(1,MAKEARRAY(1,1,LAMBDA(r,c,g(g,n))))",
    ] {
        let formula = format!("=LET(f,LAMBDA(g,n,{step}),f(f,1))");
        assert_eq!(limit(&evaluate(&formula)), Some(LimitExceeded::Depth), "{step}");
    }
}

#[test]
fn recursion_is_limited() {
    let recursive = "=LET(f,LAMBDA(g,n,g(g,n+1)),f(f,1))";
    assert_eq!(limit(&evaluate(recursive)), Some(LimitExceeded::Depth));
    let counted = "=LET(f,LAMBDA(g,n,IF(n=0,0,1+g(g,n-1))),f(f,50))";
    assert_eq!(evaluate(counted), Ok(EvaluationOutcome::Value(Value::Number(50.0))));
    // `IFERROR` cannot catch an exceeded limit.
    let hidden = "=IFERROR(LET(f,LAMBDA(g,n,g(g,n+1)),f(f,1)),0)";
    assert_eq!(limit(&evaluate(hidden)), Some(LimitExceeded::Depth));
}

#[test]
fn texts_are_limited() {
    let text = |count: usize| evaluate(&format!("=LEN(REPT(\"x\",{count}))"));
    let length = f64::from(u32::try_from(MAX_TEXT_CHARACTERS).unwrap());
    assert_eq!(text(MAX_TEXT_CHARACTERS), Ok(EvaluationOutcome::Value(Value::Number(length))));
    let error = Ok(EvaluationOutcome::Value(Value::Error(ErrorCode::Value)));
    assert_eq!(text(MAX_TEXT_CHARACTERS + 1), error);
    let joined = |count: usize| evaluate(&format!("=LEN(REPT(\"x\",{count})&\"y\")"));
    assert_eq!(joined(MAX_TEXT_CHARACTERS - 1), text(MAX_TEXT_CHARACTERS));
    assert_eq!(joined(MAX_TEXT_CHARACTERS), error);
    let tower = format!("={}\"x\"{}", "REPT(".repeat(20), ",32767)".repeat(20));
    assert_eq!(evaluate(&tower), error);
    let substituted = "=SUBSTITUTE(REPT(\"x\",32767),\"x\",REPT(\"y\",32767))";
    assert_eq!(evaluate(substituted), error);
}

#[test]
fn arrays_are_limited() {
    let sum = |values: u64| evaluate(&format!("=ROWS(SEQUENCE({values}))"));
    assert!(sum(MAX_ARRAY_VALUES).is_ok());
    let values = MAX_ARRAY_VALUES + 1;
    assert_eq!(limit(&sum(values)), Some(LimitExceeded::ArrayValues { values }));
    for formula in [
        "=SEQUENCE(1048576,16384)",
        "=MAKEARRAY(1E9,1E9,LAMBDA(r,c,1))",
        "=EXPAND(1,1E6,1E6,0)",
        "=MUNIT(1E5)",
        "=RANDARRAY(1E5,1E5)",
        "=SEQUENCE(1E5)+SEQUENCE(1,1E5)",
        "=ROW(1:1048576)+COLUMN(1:16384)",
    ] {
        assert!(
            matches!(limit(&evaluate(formula)), Some(LimitExceeded::ArrayValues { .. })),
            "{formula}: {:?}",
            evaluate(formula)
        );
    }
}

#[test]
fn cells_read_are_limited() {
    let limits = Limits { cells_read: 10, ..Limits::default() };
    let source = Numbers(1_000);
    assert!(evaluate_with(&source, "=SUM(A1:A10)", limits).is_ok());
    let limit = Err(EvaluationError::Limit(LimitExceeded::CellsRead { limit: 10 }));
    assert_eq!(evaluate_with(&source, "=SUM(A1:A11)", limits), limit);
    assert_eq!(evaluate_with(&source, "=IFERROR(SUM(A1:A11),0)", limits), limit);
    assert_eq!(evaluate_with(&source, "=COUNTIF(A:A,1)", limits), limit);
    assert_eq!(evaluate_with(&source, "=MATCH(-1,A:A,0)", limits), limit);
    // Cells outside the used range are not counted.
    assert!(evaluate_with(&source, "=SUM(B:XFD)", limits).is_ok());
}

#[test]
fn steps_are_limited() {
    let limits = Limits { steps: 100, ..Limits::default() };
    let limit = Err(EvaluationError::Limit(LimitExceeded::Steps { limit: 100 }));
    let terms = |count: usize| format!("=1{}", "+1".repeat(count));
    // Each operator and each literal counts as a step.
    assert!(evaluate_with(&Numbers(1), &terms(49), limits).is_ok());
    assert_eq!(evaluate_with(&Numbers(1), &terms(50), limits), limit);
    let limits = Limits { steps: 1_000_000, ..Limits::default() };
    let limit = Err(EvaluationError::Limit(LimitExceeded::Steps { limit: 1_000_000 }));
    for formula in [
        "=REDUCE(0,SEQUENCE(100000),LAMBDA(a,b,a+SUM(SEQUENCE(1000))))",
        "=SUM(MAP(SEQUENCE(1000),LAMBDA(x,SUM(MAP(SEQUENCE(1000),LAMBDA(y,x*y))))))",
        "=LET(f,LAMBDA(x,x+x+x+x),REDUCE(1,SEQUENCE(900000),LAMBDA(a,b,f(f(f(a))))))",
        "=SUMPRODUCT(--(SEQUENCE(1000)=SEQUENCE(1,1000)))",
        "=BESSELJ(1E5,99999)+SUM(BESSELJ(SEQUENCE(1000,,9E4),5))",
        "=MDETERM(RANDARRAY(500,500))",
    ] {
        assert_eq!(evaluate_with(&Numbers(1), formula, limits), limit, "{formula}");
    }
}

#[test]
fn exponential_growth_ends() {
    // Each variable contains twice as many values as the previous one.
    let mut formula = String::from("=LET(item_0,SEQUENCE(1000)");
    for step in 1..60 {
        formula.push_str(&format!(",item_{step},VSTACK(item_{0},item_{0})", step - 1));
    }
    formula.push_str(",ROWS(item_59))");
    let is_limited = matches!(
        limit(&evaluate(&formula)),
        Some(LimitExceeded::ArrayValues { .. } | LimitExceeded::CreatedBytes { .. })
    );
    assert!(is_limited);
    // Each function calls the previous one twice.
    let mut calls = String::from("=LET(call_0,LAMBDA(x,x+1)");
    for step in 1..60 {
        calls.push_str(&format!(",call_{step},LAMBDA(x,call_{0}(call_{0}(x)))", step - 1));
    }
    calls.push_str(",call_59(1))");
    let limits = Limits { steps: 1_000_000, ..Limits::default() };
    let result = limit(&evaluate_with(&Numbers(1), &calls, limits));
    assert!(
        matches!(result, Some(LimitExceeded::Steps { .. } | LimitExceeded::Depth)),
        "{result:?}"
    );
}

#[test]
fn created_bytes_are_limited() {
    let limits = Limits { created_bytes: 1_000_000, ..Limits::default() };
    let limit = Err(EvaluationError::Limit(LimitExceeded::CreatedBytes { limit: 1_000_000 }));
    for formula in [
        "=MAP(SEQUENCE(1000),LAMBDA(x,REPT(\"x\",32767)))",
        "=LET(t,REPT(\"x\",32767),MAKEARRAY(100,100,LAMBDA(r,c,t)))",
        "=LET(t,REPT(\"x\",32767),IF(SEQUENCE(100)>0,t,1))",
        "=LET(t,REPT(\"x\",32767),EXPAND(1,100,100,t))",
        "=LET(t,REPT(\"x\",32767),a,HSTACK(t,t,t,t,t,t),VSTACK(a,a,a,a,a,a,a))",
        "=ROWS(CHOOSEROWS(REPT(\"x\",32767),SEQUENCE(1000,,1,0)))",
    ] {
        assert_eq!(evaluate_with(&Numbers(1), formula, limits), limit, "{formula}");
    }
    // An array of 31,250 values needs exactly 1,000,000 bytes.
    assert!(evaluate_with(&Numbers(1), "=ROWS(SEQUENCE(31250))", limits).is_ok());
    assert_eq!(evaluate_with(&Numbers(1), "=ROWS(SEQUENCE(31251))", limits), limit);
}

#[test]
fn invalid_formulas_are_errors() {
    for formula in [
        "",
        "1",
        "=",
        "=(",
        "=)",
        "=1+",
        "=\"",
        "={",
        "={1,2;3}",
        "=A1:",
        "='x",
        "=#",
        "=@",
        "=!",
        "=,",
        "=SUM(",
        "=LET(",
        "=LAMBDA()",
        "=\u{0}",
        "=[",
        "=A1#",
        "=B9#",
    ] {
        let _ = evaluate(formula);
    }
    assert_eq!(syntax_problem("1"), Some(SyntaxProblem::NoStart));
    let error = evaluate("=1+é+*2").unwrap_err();
    assert_eq!(error.to_string(), "character 6: a value is missing before `*`");
}

/// Calls every function with pseudo-random arguments of all kinds.
#[test]
fn no_function_panics() {
    let arguments = [
        "1",
        "0",
        "-1",
        "1E308",
        "-1E308",
        "1E-300",
        "0.5",
        "\"\"",
        "\"abc\"",
        "TRUE",
        "A1",
        "A1:A3",
        "A:A",
        "{1,2;3,4}",
        "#N/A",
        "",
        "Z99",
        "\"1/1/2024\"",
        "LAMBDA(x,x)",
        "45000",
        "(A1,A2)",
    ];
    let limits = Limits { steps: 200_000, cells_read: 200_000, created_bytes: 20_000_000 };
    let mut state = 7_u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        arguments[usize::try_from(state >> 33).unwrap() % arguments.len()]
    };
    for name in cellar_functions::function_names() {
        for count in 0..9 {
            for _ in 0..12 {
                let list: Vec<_> = (0..count).map(|_| next()).collect();
                let formula = format!("={name}({})", list.join(","));
                let _ = evaluate_with(&Numbers(5), &formula, limits);
            }
        }
    }
}
