//! Generates random formulas.

use std::collections::BTreeMap;

/// Constants and references to single cells.
pub(crate) const SINGLE_VALUES: &[&str] = &[
    "A1",
    "B2",
    "$C3",
    "Sheet1!D$4",
    "0",
    "1",
    "2",
    "3",
    "-1",
    "0.5",
    "TRUE",
    "\"a b\"",
    "\"[a-z]\"",
    "\"A1:A3\"",
    "\" \"",
    "",
];

/// References to several cells and array constants.
const SEVERAL_VALUES: &[&str] = &[
    "A1:A3",
    "A1:C1",
    "B1:B3",
    "A1:C3",
    "$A$1:B2",
    "A1:A1",
    "B:B",
    "A:C",
    "2:2",
    "A1#",
    "(A1,B2)",
    "(A1:A3,C1:C3)",
    "(A1:C2 B2:D3)",
    "Sheet1!B1:B3",
    "Sheet1:Sheet1!A1:A3",
    "A1:INDEX(A:A,3)",
    "{1,2}",
    "{1;2;3}",
    "{1,2;3,4}",
    "{0}",
    "{1}",
];

/// Names: variables, and functions that are passed to others.
const NAMES: &[&str] = &["x", "f", "y", "x", "SUM", "_xleta.SEQUENCE", "INDEX", "OFFSET", "ABS"];

/// Functions whose shape has rules of its own, and functions that take or return arrays.
const SPECIAL_FUNCTIONS: &[&str] = &[
    "INDEX",
    "OFFSET",
    "XLOOKUP",
    "TREND",
    "GROWTH",
    "CHOOSE",
    "IF",
    "IFS",
    "SWITCH",
    "IFERROR",
    "INDIRECT",
    "LOOKUP",
    "VLOOKUP",
    "MATCH",
    "REDUCE",
    "FILTER",
    "SORT",
    "TAKE",
    "TRIMRANGE",
    "SUM",
    "SUMIFS",
    "COUNTIFS",
    "TEXTJOIN",
    "AGGREGATE",
    "ROW",
    "SEQUENCE",
    "LET",
    "LAMBDA",
];

const OPERATORS: &[&str] = &["+", "-", "*", "/", "^", "&", "=", "<", ">=", "<>", " ", ":"];

/// Random numbers for a seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    pub(crate) fn one_of<'t, T>(&mut self, items: &'t [T]) -> &'t T {
        let index = self.below(u64::try_from(items.len()).unwrap());
        &items[usize::try_from(index).unwrap()]
    }
}

pub(crate) struct Generated {
    pub(crate) text: String,
    /// Whether a row or column number of `INDEX` is not a constant, so it can be 0.
    pub(crate) has_calculated_index: bool,
}

pub(crate) struct Generator {
    /// The numbers of arguments that each function accepts.
    counts: BTreeMap<&'static str, Vec<usize>>,
    names: Vec<&'static str>,
    random: Random,
    has_calculated_index: bool,
}

impl Generator {
    pub(crate) fn new(counts: BTreeMap<&'static str, Vec<usize>>) -> Self {
        let names = counts.keys().copied().collect();
        Self { counts, names, random: Random(0), has_calculated_index: false }
    }

    /// Returns the formula with this number.
    pub(crate) fn formula(&mut self, seed: u64) -> Generated {
        self.random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        self.has_calculated_index = false;
        self.random.below(9);
        let depth = 1 + self.random.below(3);
        let text = format!("={}", self.expression(depth));
        Generated { text, has_calculated_index: self.has_calculated_index }
    }

    fn expression(&mut self, depth: u64) -> String {
        if depth == 0 {
            return self.leaf();
        }
        let depth = depth - 1;
        match self.random.below(12) {
            0 => self.leaf(),
            1 => {
                let operator = *self.random.one_of(&["-", "+", "@"]);
                format!("{operator}({})", self.expression(depth))
            }
            2 => format!("({})%", self.expression(depth)),
            3 | 4 => {
                let operator = *self.random.one_of(OPERATORS);
                format!("({}){operator}({})", self.expression(depth), self.expression(depth))
            }
            5 => self.with_variables(depth),
            6..9 => {
                let name = *self.random.one_of(&self.names);
                self.call(name, depth)
            }
            _ => {
                let name = *self.random.one_of(SPECIAL_FUNCTIONS);
                self.call(name, depth)
            }
        }
    }

    fn leaf(&mut self) -> String {
        let leaves = match self.random.below(8) {
            0..5 => SINGLE_VALUES,
            5..7 => SEVERAL_VALUES,
            _ => NAMES,
        };
        (*self.random.one_of(leaves)).to_owned()
    }

    fn with_variables(&mut self, depth: u64) -> String {
        let (one, other) = (self.expression(depth), self.expression(depth));
        let third = self.leaf();
        match self.random.below(9) {
            0 => format!("LET(x,{one},{other})"),
            1 => format!("LET(x,{third},y,{one},{other})"),
            2 => format!("LAMBDA(x,{one})({other})"),
            3 => format!("LET(f,LAMBDA(x,{one}),f({other}))"),
            4 => format!("LAMBDA([x],{one})()"),
            5 => format!("REDUCE({third},{other},LAMBDA(x,y,{one}))"),
            6 => format!("MAP({other},LAMBDA(x,{one}))"),
            7 => format!("LAMBDA(f,f({other}))(LAMBDA(x,{one}))"),
            _ => format!("LET(f,{third},f({other},{one}))"),
        }
    }

    fn call(&mut self, name: &str, depth: u64) -> String {
        let count = match self.counts.get(name) {
            Some(counts) if !counts.is_empty() => *self.random.one_of(counts),
            _ => 1,
        };
        let arguments: Vec<_> = (0..count).map(|_| self.argument(depth)).collect();
        let is_constant = |number: &String| {
            let is_cell = number.starts_with(|first: char| first.is_ascii_uppercase());
            let is_value = SINGLE_VALUES.contains(&number.as_str());
            (is_value && !is_cell && !number.starts_with('$')) || number.starts_with('{')
        };
        if name == "INDEX" && !arguments.iter().skip(1).take(2).all(is_constant) {
            self.has_calculated_index = true;
        }
        format!("{name}({})", arguments.join(","))
    }

    fn argument(&mut self, depth: u64) -> String {
        if self.random.below(2) == 0 { self.leaf() } else { self.expression(depth) }
    }
}
