//! Counts, frequencies and probabilities.

use std::collections::HashMap;

use cellar_sheet::cell::{ErrorCode, Value};

use super::super::collect::Origin;
use crate::call::{Call, ensure, number_result};
use crate::function::{Function, MANY, eager};
use crate::number::from_length;
use crate::operand::{Matrix, Operand, Outcome};
use crate::source::Block;
use crate::value::to_number;

pub(super) static FUNCTIONS: &[Function] = &[
    eager("COUNT", 1, MANY, "w", count_numbers),
    eager("COUNTA", 1, MANY, "w", |call| {
        let mut count = 0_u32;
        call.visit_values(0, &mut |origin, value| {
            let is_counted = *value != Value::Empty || origin == Origin::Argument;
            count += u32::from(is_counted);
            Ok(())
        })?;
        number_result(f64::from(count))
    }),
    eager("COUNTBLANK", 1, 1, "w", count_blank),
    eager("FREQUENCY", 2, 2, "a", frequency),
    eager("PROB", 3, 4, "aass", probability),
];

fn count_numbers(call: &Call<'_, '_>) -> Outcome<Operand> {
    let mut count = 0_usize;
    for operand in call.arguments {
        if let Operand::Reference(areas) = operand {
            for area in areas.iter() {
                call.evaluator.visit_blocks(*area, &mut |block| {
                    count += match block {
                        Block::Empty(_) => 0,
                        Block::Numbers(numbers) => numbers.len(),
                        Block::Values(values) => {
                            values.iter().filter(|value| matches!(value, Value::Number(_))).count()
                        }
                    };
                    Ok(())
                })?;
            }
            continue;
        }
        call.visit_operand(operand, &mut |origin, value| {
            let is_number = match (origin, value) {
                (_, Value::Number(_)) => true,
                (Origin::Argument, Value::Error(_)) => false,
                (Origin::Argument, value) => to_number(value).is_ok(),
                (Origin::Cell, _) => false,
            };
            count += usize::from(is_number);
            Ok(())
        })?;
    }
    number_result(from_length(count))
}

fn count_blank(call: &Call<'_, '_>) -> Outcome<Operand> {
    let Operand::Reference(areas) = call.operand(0) else { return Err(ErrorCode::Value.into()) };
    let mut filled = 0_u32;
    call.visit_values(0, &mut |_, value| {
        let is_blank = matches!(value, Value::Empty) || *value == Value::Text(String::new());
        filled += u32::from(!is_blank);
        Ok(())
    })?;
    #[allow(clippy::cast_precision_loss, reason = "cell counts are below 2⁵³")]
    let cells = areas.iter().map(|area| area.size()).sum::<u64>() as f64;
    number_result(cells - f64::from(filled))
}

fn frequency(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (numbers, bins) = (call.numbers_of(0)?, call.numbers_of(1)?);
    let mut sorted: Vec<(usize, f64)> = bins.iter().copied().enumerate().collect();
    sorted.sort_by(|left, right| left.1.total_cmp(&right.1));
    let mut counts: HashMap<usize, f64> = HashMap::new();
    call.spend(numbers.len())?;
    for number in &numbers {
        let place = sorted.partition_point(|(_, bin)| bin < number);
        let bin = sorted.get(place).map_or(bins.len(), |(bin, _)| *bin);
        *counts.entry(bin).or_default() += 1.0;
    }
    let values = (0..=bins.len())
        .map(|bin| Value::Number(counts.get(&bin).copied().unwrap_or(0.0)))
        .collect();
    Ok(Matrix::from_column(values).into())
}

fn probability(call: &Call<'_, '_>) -> Outcome<Operand> {
    let pairs = call.pairs(0, 1)?;
    let low = call.number(2)?;
    let high = call.number_or(3, low)?;
    let total: f64 = pairs.iter().map(|(_, probability)| probability).sum();
    let is_valid = pairs.iter().all(|(_, probability)| (0.0..=1.0).contains(probability));
    ensure(is_valid && (total - 1.0).abs() < 1e-9, ErrorCode::Num)?;
    let inside = pairs.iter().filter(|(x, _)| (low..=high).contains(x));
    number_result(inside.map(|(_, probability)| probability).sum())
}
