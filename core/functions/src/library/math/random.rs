//! Random numbers. They depend on the seed of the evaluation and on nothing else.

use cellar_sheet::cell::{ErrorCode, Value};

use crate::call::{Call, ensure, number_result};
use crate::evaluate::Evaluator;
use crate::function::{Function, eager};
use crate::number::to_length;
use crate::operand::{Operand, Outcome};

pub(super) static FUNCTIONS: &[Function] = &[
    eager("RAND", 0, 0, "s", |call| number_result(next_random(call.evaluator))),
    eager("RANDARRAY", 0, 5, "s", random_array),
    eager("RANDBETWEEN", 2, 2, "s", |call| {
        let (low, high) = (call.number(0)?.ceil(), call.number(1)?.floor());
        ensure(low <= high, ErrorCode::Num)?;
        number_result(random_integer(call.evaluator, low, high))
    }),
];

/// Returns the next number from 0 to 1, without 1. The generator is SplitMix64.
fn next_random(evaluator: &Evaluator<'_>) -> f64 {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    const STEPS_OF_DOUBLE: f64 = 9_007_199_254_740_992.0;
    let draw = evaluator.random_draws.get().wrapping_add(1);
    evaluator.random_draws.set(draw);
    let mut state = evaluator.context.random_seed.wrapping_add(draw.wrapping_mul(STEP));
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^= state >> 31;
    #[allow(clippy::cast_precision_loss, reason = "the number has 53 bits")]
    let high_bits = (state >> 11) as f64;
    high_bits / STEPS_OF_DOUBLE
}

fn random_integer(evaluator: &Evaluator<'_>, low: f64, high: f64) -> f64 {
    low + (next_random(evaluator) * (high - low + 1.0)).floor()
}

fn random_array(call: &Call<'_, '_>) -> Outcome<Operand> {
    let rows = call.given_number_or(0, 1.0)?.trunc();
    let columns = call.given_number_or(1, 1.0)?.trunc();
    let (low, high) = (call.given_number_or(2, 0.0)?, call.given_number_or(3, 1.0)?);
    let is_integer = call.given_boolean_or(4, false)?;
    ensure(rows >= 1.0 && columns >= 1.0, ErrorCode::Value)?;
    ensure(low <= high, ErrorCode::Value)?;
    ensure(!is_integer || (low.fract() == 0.0 && high.fract() == 0.0), ErrorCode::Value)?;
    let (rows, columns) = (to_length(rows), to_length(columns));
    let matrix = call.evaluator.build(rows, columns, |_, _| {
        Value::Number(if is_integer {
            random_integer(call.evaluator, low, high)
        } else {
            low + next_random(call.evaluator) * (high - low)
        })
    })?;
    Ok(matrix.into())
}
