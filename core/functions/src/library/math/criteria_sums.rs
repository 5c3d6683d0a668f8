//! Counts, sums, averages, minima and maxima of the cells that meet criteria.

use std::rc::Rc;

use cellar_sheet::cell::{ErrorCode, Value};

use crate::call::{Call, ensure, number_result};
use crate::function::{Function, MANY, eager};
use crate::operand::{Operand, Outcome};

pub(super) static FUNCTIONS: &[Function] = &[
    eager("AVERAGEIF", 2, 3, "wsw", |call| average(&totals_if(call)?)),
    eager("AVERAGEIFS", 3, MANY, "w|ws", |call| average(&totals_ifs(call)?)),
    eager("COUNTIF", 2, 2, "ws", |call| {
        check_range(call, 0)?;
        count_result(call.select(0, 2, None)?.count())
    }),
    eager("COUNTIFS", 2, MANY, "|ws", |call| {
        ensure(call.len().is_multiple_of(2), ErrorCode::Value)?;
        count_result(call.select(0, call.len(), None)?.count())
    }),
    eager("MAXIFS", 3, MANY, "w|ws", |call| number_result(totals_ifs(call)?.largest)),
    eager("MINIFS", 3, MANY, "w|ws", |call| number_result(totals_ifs(call)?.smallest)),
    eager("SUMIF", 2, 3, "wsw", |call| number_result(totals_if(call)?.sum)),
    eager("SUMIFS", 3, MANY, "w|ws", |call| number_result(totals_ifs(call)?.sum)),
];

#[derive(Debug, Default)]
struct Totals {
    sum: f64,
    count: f64,
    smallest: f64,
    largest: f64,
}

impl Totals {
    fn add(&mut self, number: f64) {
        if self.count == 0.0 {
            (self.smallest, self.largest) = (number, number);
        }
        self.sum += number;
        self.count += 1.0;
        self.smallest = self.smallest.min(number);
        self.largest = self.largest.max(number);
    }
}

fn average(totals: &Totals) -> Outcome<Operand> {
    ensure(totals.count > 0.0, ErrorCode::Div0)?;
    number_result(totals.sum / totals.count)
}

#[allow(clippy::cast_precision_loss, reason = "cell counts are below 2⁵³")]
fn count_result(count: u64) -> Outcome<Operand> {
    number_result(count as f64)
}

/// Fails with `#VALUE!` if an argument is not a reference.
fn check_range(call: &Call<'_, '_>, index: usize) -> Outcome<()> {
    match call.operand(index) {
        Operand::Reference(_) => Ok(()),
        Operand::Value(Value::Error(code)) => Err((*code).into()),
        _ => Err(ErrorCode::Value.into()),
    }
}

/// Aggregates the cells that meet a single criterion. The range of values is resized to the size of
/// the range that the criterion tests.
fn totals_if(call: &Call<'_, '_>) -> Outcome<Totals> {
    check_range(call, 0)?;
    let values = if call.is_given(2) {
        check_range(call, 2)?;
        let (rows, columns) = call.evaluator.size(call.operand(0))?;
        let mut area = call.area(2)?;
        let grid = call.evaluator.source.grid_size();
        let last = |first: u32, length: usize, limit: u32| {
            first.saturating_add(u32::try_from(length - 1).unwrap_or(u32::MAX)).min(limit - 1)
        };
        area.last.row = last(area.first.row, rows, grid.rows);
        area.last.column = last(area.first.column, columns, grid.columns);
        Operand::Reference(Rc::new(vec![area]))
    } else {
        call.operand(0).clone()
    };
    let selection = call.select(0, 2, Some(&values))?;
    let mut totals = Totals::default();
    call.visit_selected(&values, &selection, &mut |number| totals.add(number))?;
    Ok(totals)
}

fn totals_ifs(call: &Call<'_, '_>) -> Outcome<Totals> {
    ensure(!call.len().is_multiple_of(2), ErrorCode::Value)?;
    check_range(call, 0)?;
    for index in (1..call.len()).step_by(2) {
        check_range(call, index)?;
    }
    let size = call.evaluator.size(call.operand(0))?;
    ensure(call.evaluator.size(call.operand(1))? == size, ErrorCode::Value)?;
    let values = call.operand(0).clone();
    let selection = call.select(1, call.len(), Some(&values))?;
    let mut totals = Totals::default();
    call.visit_selected(&values, &selection, &mut |number| totals.add(number))?;
    Ok(totals)
}
