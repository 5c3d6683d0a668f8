//! Bessel functions, error functions, `DELTA` and `GESTEP`.

use cellar_sheet::cell::{ErrorCode, Value};

use crate::call::{Call, ensure, number_result};
use crate::function::{Function, eager};
use crate::number::to_length;
use crate::numerics::bessel::{bessel_i, bessel_j, bessel_k, bessel_y};
use crate::numerics::erf::{erf, erfc};
use crate::operand::{Operand, Outcome};

pub(super) static FUNCTIONS: &[Function] = &[
    eager("BESSELI", 2, 2, "s", |call| bessel(call, false, bessel_i)),
    eager("BESSELJ", 2, 2, "s", |call| bessel(call, false, bessel_j)),
    eager("BESSELK", 2, 2, "s", |call| bessel(call, true, bessel_k)),
    eager("BESSELY", 2, 2, "s", |call| bessel(call, true, bessel_y)),
    eager("DELTA", 1, 2, "s", |call| {
        let (first, second) = (exact_number(call, 0)?, exact_number(call, 1)?);
        Ok(f64::from(u8::from(first == second)).into())
    }),
    eager("ERF", 1, 2, "s", |call| {
        let low = exact_number(call, 0)?;
        if !call.has(1) {
            return number_result(erf(low));
        }
        number_result(erf(exact_number(call, 1)?) - erf(low))
    }),
    eager("ERF.PRECISE", 1, 1, "s", |call| number_result(erf(exact_number(call, 0)?))),
    eager("ERFC", 1, 1, "s", |call| number_result(erfc(exact_number(call, 0)?))),
    eager("ERFC.PRECISE", 1, 1, "s", |call| number_result(erfc(exact_number(call, 0)?))),
    eager("GESTEP", 1, 2, "s", |call| {
        let (number, step) = (exact_number(call, 0)?, exact_number(call, 1)?);
        Ok(f64::from(u8::from(number >= step)).into())
    }),
];

/// Returns an argument as a number. Fails with `#VALUE!` for a boolean, as in the functions of
/// Excel's former Analysis ToolPak.
pub(super) fn exact_number(call: &Call<'_, '_>, index: usize) -> Outcome<f64> {
    ensure(!matches!(call.value(index)?, Value::Bool(_)), ErrorCode::Value)?;
    call.number(index)
}

fn bessel(
    call: &Call<'_, '_>,
    needs_positive: bool,
    function: fn(f64, usize) -> f64,
) -> Outcome<Operand> {
    const LARGEST_ORDER: f64 = 100_000.0;
    const LARGEST_X: f64 = 134_217_728.0;
    let (x, order) = (exact_number(call, 0)?, exact_number(call, 1)?.trunc());
    ensure((0.0..LARGEST_ORDER).contains(&order) && x.abs() < LARGEST_X, ErrorCode::Num)?;
    ensure(!needs_positive || x > 0.0, ErrorCode::Num)?;
    call.spend(to_length(order) + to_length(x.abs().min(1e6)))?;
    number_result(function(x, to_length(order)))
}
