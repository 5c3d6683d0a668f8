//! Reads the workbooks in `facts.txt`, with the values that Excel calculated.

pub(crate) mod compare;

use std::collections::{BTreeMap, BTreeSet};

use cellar_functions::{CellFacts, CellSource, SheetIndex, Size};
use cellar_sheet::a1::{CellName, Range, Rectangle};
use cellar_sheet::cell::Value;

pub(crate) struct Fact {
    pub(crate) formula: String,
    pub(crate) area: Rectangle,
    pub(crate) is_array: bool,
}

#[derive(Default)]
pub(crate) struct Sheet {
    pub(crate) name: String,
    pub(crate) facts: Vec<Fact>,
    pub(crate) cells: BTreeMap<(u32, u32), Value>,
    formulas: BTreeMap<(u32, u32), String>,
    formats: BTreeMap<(u32, u32), String>,
    hidden_rows: BTreeSet<u32>,
    size: Size,
}

#[derive(Default)]
pub(crate) struct Workbook {
    pub(crate) name: String,
    pub(crate) sheets: Vec<Sheet>,
    pub(crate) names: BTreeMap<String, String>,
}

impl Sheet {
    #[allow(dead_code, reason = "some test targets do not use it")]
    pub(crate) fn values_in(&self, area: Rectangle) -> Vec<Value> {
        let rows = area.first.row..=area.last.row;
        rows.flat_map(|row| (area.first.column..=area.last.column).map(move |column| (row, column)))
            .map(|key| self.cells.get(&key).cloned().unwrap_or_default())
            .collect()
    }
}

fn unescaped(text: &str) -> String {
    let mut result = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        result.push(match (character, character == '\\') {
            (_, true) => match characters.next() {
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                other => other.unwrap_or('\\'),
            },
            (other, false) => other,
        });
    }
    result
}

fn value_of(field: &str) -> Value {
    if let Some(text) = field.strip_prefix('"') {
        return Value::Text(unescaped(text));
    }
    match field {
        "TRUE" => Value::Bool(true),
        "FALSE" => Value::Bool(false),
        _ => match field.parse() {
            Ok(number) => Value::Number(number),
            Err(_) => {
                Value::Error(field.parse().unwrap_or_else(|_| panic!("invalid value {field}")))
            }
        },
    }
}

fn rectangle(text: &str) -> Rectangle {
    text.parse::<Range>().unwrap().rectangle
}

pub(crate) fn read_workbooks() -> Vec<Workbook> {
    let text = match std::env::var("FACTS") {
        Ok(path) => std::fs::read_to_string(path).unwrap(),
        Err(_) => include_str!("../facts.txt").to_owned(),
    };
    let mut workbooks: Vec<Workbook> = Vec::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        if fields[0] == "@workbook" {
            workbooks.push(Workbook { name: fields[1].to_owned(), ..Workbook::default() });
            continue;
        }
        read_line(workbooks.last_mut().unwrap(), &fields);
    }
    workbooks
}

fn read_line(workbook: &mut Workbook, fields: &[&str]) {
    match fields[0] {
        "@name" => {
            workbook.names.insert(fields[1].to_uppercase(), fields[2].to_owned());
        }
        "@sheet" => {
            workbook.sheets.push(Sheet { name: unescaped(fields[1]), ..Sheet::default() });
        }
        "@hidden" => {
            let rows = fields[1..].iter().map(|row| row.parse::<u32>().unwrap() - 1);
            workbook.sheets.last_mut().unwrap().hidden_rows.extend(rows);
        }
        address => match address.strip_prefix('%') {
            Some(address) => {
                let cell = rectangle(address).first;
                let sheet = workbook.sheets.last_mut().unwrap();
                sheet.formats.insert((cell.row, cell.column), fields[1].to_owned());
            }
            None => read_cell(workbook.sheets.last_mut().unwrap(), fields),
        },
    }
}

fn read_cell(sheet: &mut Sheet, fields: &[&str]) {
    let cell = rectangle(fields[0]).first;
    let key = (cell.row, cell.column);
    sheet.cells.insert(key, value_of(fields[1]));
    sheet.size.rows = sheet.size.rows.max(cell.row + 1);
    sheet.size.columns = sheet.size.columns.max(cell.column + 1);
    let Some(formula) = fields.get(2) else { return };
    let formula = unescaped(formula);
    sheet.formulas.insert(key, formula.clone());
    let is_array = fields.len() > 3;
    let area = rectangle(if is_array { fields[3] } else { fields[0] });
    sheet.facts.push(Fact { formula, area, is_array });
}

impl CellSource for Workbook {
    fn grid_size(&self) -> Size {
        Size { rows: 1_048_576, columns: 16_384 }
    }

    fn sheet_count(&self) -> u32 {
        u32::try_from(self.sheets.len()).unwrap()
    }

    fn sheet_index(&self, name: &str) -> Option<SheetIndex> {
        let index = self.sheets.iter().position(|sheet| sheet.name.eq_ignore_ascii_case(name))?;
        u32::try_from(index).ok()
    }

    fn sheet_name(&self, sheet: SheetIndex) -> Option<String> {
        self.sheets.get(sheet as usize).map(|sheet| sheet.name.clone())
    }

    fn used_size(&self, sheet: SheetIndex) -> Size {
        self.sheets[sheet as usize].size
    }

    fn cell(&self, sheet: SheetIndex, cell: CellName) -> Value {
        let cells = &self.sheets[sheet as usize].cells;
        cells.get(&(cell.row, cell.column)).cloned().unwrap_or_default()
    }

    fn formula(&self, sheet: SheetIndex, cell: CellName) -> Option<String> {
        self.sheets[sheet as usize].formulas.get(&(cell.row, cell.column)).cloned()
    }

    fn defined_name(&self, _sheet: SheetIndex, name: &str) -> Option<String> {
        self.names.get(&name.to_uppercase()).cloned()
    }

    fn spilled_area(&self, sheet: SheetIndex, cell: CellName) -> Option<Rectangle> {
        let facts = &self.sheets[sheet as usize].facts;
        facts.iter().find(|fact| fact.is_array && fact.area.first == cell).map(|fact| fact.area)
    }

    fn is_row_hidden(&self, sheet: SheetIndex, row: u32) -> bool {
        self.sheets[sheet as usize].hidden_rows.contains(&row)
    }

    fn facts(&self, sheet: SheetIndex, cell: CellName) -> CellFacts {
        let formats = &self.sheets[sheet as usize].formats;
        CellFacts { format: formats.get(&(cell.row, cell.column)).cloned(), column_width: None }
    }
}
