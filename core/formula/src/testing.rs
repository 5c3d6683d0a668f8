//! Sheet names and random formulas for tests.

use cellar_grid::SheetId;
use proptest::prelude::*;

use crate::reference::SheetNames;

/// Numbers and names of the sheets of a spreadsheet.
pub(crate) struct Names(pub(crate) &'static [(u32, &'static str)]);

impl Names {
    pub(crate) const DEFAULT: Self = Self(&[(0, "Sheet1"), (3, "Data"), (5, "My sheet")]);
}

impl SheetNames for Names {
    fn number(&self, name: &str) -> Option<SheetId> {
        let found = self.0.iter().find(|(_, other)| other.eq_ignore_ascii_case(name));
        found.map(|(number, _)| SheetId(*number))
    }

    fn name(&self, sheet: SheetId) -> Option<&str> {
        self.0.iter().find(|(number, _)| *number == sheet.0).map(|(_, name)| *name)
    }
}

/// Generates references in upper or lower case, with and without `$` and sheet names.
pub(crate) fn any_reference() -> impl Strategy<Value = String> {
    let cell = "\\$?[A-Za-c]\\$?[1-9][0-9]?";
    let area = prop_oneof![
        4 => cell,
        4 => (cell, cell).prop_map(|(first, last)| format!("{first}:{last}")),
        1 => "\\$?[A-H]:\\$?[A-H]",
        1 => "\\$?[1-9]:\\$?[1-9]",
        1 => Just("#REF!".to_owned()),
    ];
    let sheet = prop_oneof![
        6 => Just(""), 1 => Just("data!"), 1 => Just("'My sheet'!"), 1 => Just("Sheet1!"), 1 => Just("Missing!"),
    ];
    (sheet, area).prop_map(|(sheet, area)| format!("{sheet}{area}"))
}

/// Generates formulas with valid syntax.
pub(crate) fn any_formula() -> impl Strategy<Value = String> {
    let constant = prop_oneof![
        "[0-9]{1,3}(\\.[0-9])?(E[0-9])?",
        "\"[a-zA-Z1 \"\"]{0,4}\"".prop_map(|text| {
            let inside = text.get(1..text.len() - 1).unwrap().replace('"', "\"\"");
            format!("\"{inside}\"")
        }),
        Just("true".to_owned()),
        Just("#n/a".to_owned()),
        Just("{1,\"a\";-2,TRUE}".to_owned()),
        Just("rate_x".to_owned()),
    ];
    let leaf = prop_oneof![3 => any_reference(), 1 => constant];
    let operator = prop_oneof![
        Just("+"),
        Just(" - "),
        Just("*"),
        Just("/"),
        Just("^"),
        Just("&"),
        Just("="),
        Just("<>"),
        Just(">= "),
    ];
    let expression = leaf.prop_recursive(4, 24, 3, move |inner| {
        prop_oneof![
            (inner.clone(), operator.clone(), inner.clone())
                .prop_map(|(one, operator, other)| format!("{one}{operator}{other}")),
            (inner.clone(), inner.clone()).prop_map(|(one, other)| format!("sum({one},{other})")),
            (inner.clone(), inner.clone()).prop_map(|(one, other)| format!("IF({one},,{other})")),
            inner.clone().prop_map(|value| format!("(-{value})")),
            inner.prop_map(|value| format!("Log10 ( {value} )%")),
        ]
    });
    expression.prop_map(|expression| format!("={expression}"))
}
