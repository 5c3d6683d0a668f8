use cellar_base::limits::{MAX_EXPRESSION_DEPTH, MAX_FORMULA_BYTES, MAX_FORMULA_DEPTH};
use proptest::prelude::*;

use super::*;
use crate::Formula;
use crate::reference::write_reference;
use crate::syntax::SyntaxProblem;
use crate::testing::{Names, any_formula};

fn parse(text: &str) -> Formula {
    Formula::parse(text, &Names::DEFAULT).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Formats an expression with parentheses around each operation.
fn format_expression(expression: &Expression) -> String {
    let mut texts: Vec<String> = Vec::new();
    for node in expression.nodes() {
        let text = |index: &NodeIndex| texts[index.get()].clone();
        let list = |indices: &[NodeIndex]| indices.iter().map(text).collect::<Vec<_>>().join(",");
        texts.push(match node {
            Node::Constant(constant) => format_constant(constant),
            Node::Array { columns, values } => {
                let rows = values
                    .chunks(*columns)
                    .map(|row| row.iter().map(format_constant).collect::<Vec<_>>().join(","));
                format!("{{{}}}", rows.collect::<Vec<_>>().join(";"))
            }
            Node::Reference(reference) => {
                let mut text = String::new();
                write_reference(reference, &Names::DEFAULT, &mut text);
                text
            }
            Node::SeveralSheets { first_sheet, last_sheet, area } => {
                format!("<{first_sheet}|{last_sheet}|{area:?}>")
            }
            Node::Unsupported { kind, text } => format!("<{kind:?} {text}>"),
            Node::Name(name) => name.clone(),
            Node::Omitted => "_".to_owned(),
            Node::Prefix { operator, operand } => format!("({operator:?} {})", text(operand)),
            Node::Postfix { operator, operand } => format!("({} {operator:?})", text(operand)),
            Node::Binary { operator, left, right } => {
                format!("({} {operator:?} {})", text(left), text(right))
            }
            Node::Call { function, arguments } => format!("{function}[{}]", list(arguments)),
            Node::CallOf { callee, arguments } => format!("{}[{}]", text(callee), list(arguments)),
        });
    }
    texts[expression.root().get()].clone()
}

fn format_constant(constant: &Constant) -> String {
    match constant {
        Constant::Number(number) => number.to_string(),
        Constant::Text(text) => format!("{text:?}"),
        Constant::Boolean(value) => value.to_string(),
        Constant::Error(code) => (*code).to_owned(),
    }
}

#[test]
fn nodes_have_their_place_in_the_text() {
    for (text, expected) in [
        ("=A1+2*B2", "A1|2|B2|2*B2|A1+2*B2"),
        ("=-( A1 )%", "( A1 )|-( A1 )|-( A1 )%"),
        ("=(A1:B2 C3)#", "A1:B2|C3|(A1:B2 C3)|(A1:B2 C3)#"),
        ("=SUM(A1,,{1,-2;3,4},)", "A1||{1,-2;3,4}||SUM(A1,,{1,-2;3,4},)"),
        ("=((@x))", "x|((@x))"),
        ("=LAMBDA(x,x)(1)(\"ä\")", "x|x|LAMBDA(x,x)|1|LAMBDA(x,x)(1)|\"ä\"|LAMBDA(x,x)(1)(\"ä\")"),
        ("=Sheet1!A1#&#N/A", "Sheet1!A1|Sheet1!A1#|#N/A|Sheet1!A1#&#N/A"),
    ] {
        let formula = parse(text);
        let expression = formula.expression();
        let spans = expression.indexed_nodes().map(|(index, _)| expression.span(index).unwrap());
        let texts: Vec<_> = spans.map(|span| text.get(span).unwrap()).collect();
        assert_eq!(texts.join("|"), expected, "{text}");
    }
}

#[test]
fn operators_are_applied_in_the_order_of_excel() {
    for (text, expected) in [
        ("=1", "1"),
        ("=a1*2+b3", "((A1 Multiply 2) Add B3)"),
        ("=1+2*3^4", "(1 Add (2 Multiply (3 Power 4)))"),
        ("=1-2-3/4/5", "((1 Subtract 2) Subtract ((3 Divide 4) Divide 5))"),
        ("=-2^2", "((Minus 2) Power 2)"),
        ("=2^3^2", "((2 Power 3) Power 2)"),
        ("=2^-3^2", "((2 Power (Minus 3)) Power 2)"),
        ("=2^5%", "(2 Power (5 Percent))"),
        ("=-5%", "((Minus 5) Percent)"),
        ("=5%%", "((5 Percent) Percent)"),
        ("=2*-5%+1", "((2 Multiply ((Minus 5) Percent)) Add 1)"),
        ("=-+-1", "(Minus (Plus (Minus 1)))"),
        ("=1&2+3=4&5", "((1 Concatenate (2 Add 3)) Equal (4 Concatenate 5))"),
        (
            "=1<2<=3<>4>5>=6=7",
            "((((((1 Less 2) LessOrEqual 3) NotEqual 4) Greater 5) GreaterOrEqual 6) Equal 7)",
        ),
        ("=(1+2)*3", "((1 Add 2) Multiply 3)"),
        ("=A1:B2 B1:C3", "(A1:B2 Intersection B1:C3)"),
        ("=A1 B1 C1", "((A1 Intersection B1) Intersection C1)"),
        ("=(A1 (B1))", "(A1 Intersection B1)"),
        ("=A1:INDEX(B:B,3)", "(A1 Range INDEX[B:B,3])"),
        (
            "=SUM((A1,B1 C1:INDEX(D:D,1)))",
            "SUM[(A1 Union (B1 Intersection (C1 Range INDEX[D:D,1])))]",
        ),
        ("=-(A1,B1)", "(Minus (A1 Union B1))"),
        ("=@A1:A3", "(ImplicitIntersection A1:A3)"),
        ("=-@A1:INDEX(A:A,2)+1", "((Minus (ImplicitIntersection (A1 Range INDEX[A:A,2]))) Add 1)"),
        ("=A1#", "(A1 Spill)"),
        ("=-A1#%", "((Minus (A1 Spill)) Percent)"),
        ("=A1:F(1)#", "(A1 Range (F[1] Spill))"),
    ] {
        assert_eq!(format_expression(parse(text).expression()), expected, "{text}");
    }
}

#[test]
fn calls_arrays_and_constants_are_nodes() {
    for (text, expected) in [
        ("=PI()", "PI[]"),
        ("=pi ( )", "PI[]"),
        ("=IF(A1,,2)", "IF[A1,_,2]"),
        ("=IF(,,)", "IF[_,_,_]"),
        ("=F( , )", "F[_,_]"),
        ("=F((A1,B1),C1)", "F[(A1 Union B1),C1]"),
        ("=F(1)(2)(3,)", "F[1][2][3,_]"),
        ("=-F(1)()", "(Minus F[1][])"),
        ("=F(1) (B1)", "(F[1] Intersection B1)"),
        ("=(A1)(2)", "A1[2]"),
        ("=LAMBDA(x,x+1)(2)", "LAMBDA[X,(X Add 1)][2]"),
        ("=_xlfn.xlookup(1,A:A)", "_XLFN.XLOOKUP[1,A:A]"),
        ("=LET(größe,1,größe)", "LET[GRÖSSE,1,GRÖSSE]"),
        ("={1,2;3,4}", "{1,2;3,4}"),
        ("={ - 1 , +2 ; \"a\"\"b\" , #n/a }+1", "({-1,2;\"a\\\"b\",#N/A} Add 1)"),
        ("={true,#ref!}", "{true,#REF!}"),
        ("=1.5E3&.5&5.&1E999", "(((1500 Concatenate 0.5) Concatenate 5) Concatenate inf)"),
        ("=#n/a+#REF!A1+Data!#REF!", "((#N/A Add #REF!) Add Data!#REF!)"),
        ("=true&TRUE()&\"\"", "((true Concatenate TRUE[]) Concatenate \"\")"),
        ("=SUM(data!a1:b2,Other!C:C)", "SUM[Data!A1:B2,Other!C:C]"),
        (
            "=Sales[a]+[@b]+[1]Sheet1!A1+Data!rate",
            "(((<Table Sales[a]> Add <Table [@b]>) Add <File [1]Sheet1!A1>) Add <SheetName Data!rate>)",
        ),
    ] {
        assert_eq!(format_expression(parse(text).expression()), expected, "{text}");
    }
}

#[test]
fn references_to_several_sheets_have_their_parts() {
    let last = |text: &str| parse(text).expression().nodes().first().unwrap().clone();
    for (text, first_name, last_name, cells) in [
        ("=Sheet1:Sheet3!A1", "Sheet1", "Sheet3", "=A1"),
        ("=Sheet1:Sheet3!$A1:B2", "Sheet1", "Sheet3", "=$A1:B2"),
        ("='My sheet:It''s'!3:4", "My sheet", "It's", "=3:4"),
        // Files have fewer columns, so `Data1` is a sheet name there.
        ("=Data1:Data3!#REF!", "Data1", "Data3", "=#REF!"),
    ] {
        let Node::Reference(reference) = last(cells) else { panic!("{cells}") };
        let expected = Node::SeveralSheets {
            first_sheet: first_name.to_owned(),
            last_sheet: last_name.to_owned(),
            area: reference.area,
        };
        assert_eq!(last(text), expected, "{text}");
    }
    let name = last("=Sheet1:Sheet3!rate");
    let text = "Sheet1:Sheet3!rate".to_owned();
    assert_eq!(name, Node::Unsupported { kind: Unsupported::Sheets, text });
    // `A1` is a cell in all programs and not a sheet name.
    assert_eq!(format_expression(parse("=A1:Data!B2").expression()), "(A1 Range Data!B2)");
}

#[test]
fn the_depth_is_limited_at_n_and_n_plus_1() {
    let open = "(1+-";
    for (part, levels) in [("-", 1), ("@", 1), (open, 3)] {
        let repeated = |depth: usize| {
            let mut text = format!("={}", part.repeat(depth / levels));
            text.push_str(&"-".repeat(depth % levels));
            let close = if part == open { ")".repeat(depth / levels) } else { String::new() };
            Formula::parse(&format!("{text}1{close}"), &Names::DEFAULT)
        };
        assert!(repeated(MAX_EXPRESSION_DEPTH).is_ok(), "{part}");
        let error = repeated(MAX_EXPRESSION_DEPTH + 1).unwrap_err();
        assert_eq!(error.problem, SyntaxProblem::OperatorsTooDeep, "{part}");
    }
    assert_eq!(MAX_EXPRESSION_DEPTH, 3 * MAX_FORMULA_DEPTH);
    let signs = format!("={}1", "-".repeat(MAX_FORMULA_BYTES - 2));
    let error = Formula::parse(&signs, &Names::DEFAULT).unwrap_err();
    assert_eq!(
        error.to_string(),
        "character 194: operators and parentheses are nested more than 192 levels deep; \
         remove repeated signs, or move parts of the formula to other cells"
    );
}

/// A tree of boxed nodes would overflow the stack when it is dropped, cloned or compared.
#[test]
fn long_chains_are_no_depth() {
    let calls = format!("=F(){}", "()".repeat(4_000));
    let percents = format!("=1{}", "%".repeat(8_000));
    let intersections = format!("=x{}", " x".repeat(4_000));
    for text in [format!("=1{}", "+1".repeat(4_000)), calls, percents, intersections] {
        let formula = parse(&text);
        assert!(formula.expression().nodes().len() > 4_000);
        assert_eq!(formula.clone(), formula);
    }
}

/// Returns whether each node except the root has exactly one parent, which follows it.
fn is_tree(expression: &Expression) -> bool {
    let mut parent_counts = vec![0; expression.nodes().len()];
    for (index, node) in expression.nodes().iter().enumerate() {
        let children: Vec<NodeIndex> = match node {
            Node::Prefix { operand, .. } | Node::Postfix { operand, .. } => vec![*operand],
            Node::Binary { left, right, .. } => vec![*left, *right],
            Node::Call { arguments, .. } => arguments.clone(),
            Node::CallOf { callee, arguments } => [&[*callee], arguments.as_slice()].concat(),
            _ => Vec::new(),
        };
        for child in children {
            if child.get() >= index {
                return false;
            }
            parent_counts[child.get()] += 1;
        }
    }
    parent_counts.pop() == Some(0) && parent_counts.iter().all(|count| *count == 1)
}

proptest! {
    #[test]
    fn the_canonical_text_has_the_same_tree(text in any_formula()) {
        let formula = parse(&text);
        let again = parse(&formula.canonical_text(&Names::DEFAULT));
        prop_assert_eq!(again.expression(), formula.expression());
        prop_assert!(is_tree(formula.expression()));
    }

    #[test]
    fn any_text_that_is_parsed_has_a_tree(text in "=[A-Ca1-3$:!'\"#(){},;+%@ \\[\\]._^-]{0,24}") {
        if let Ok(formula) = Formula::parse(&text, &Names::DEFAULT) {
            prop_assert!(is_tree(formula.expression()), "{}", format_expression(formula.expression()));
            let again = parse(&formula.canonical_text(&Names::DEFAULT));
            prop_assert_eq!(again.expression(), formula.expression());
        }
    }
}
