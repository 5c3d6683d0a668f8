//! Discrete probability distributions.

use cellar_sheet::cell::ErrorCode;

use crate::call::{Call, ensure, number_result};
use crate::function::{Function, eager};
use crate::number::to_length;
use crate::numerics::beta::incomplete_beta;
use crate::numerics::gamma::{ln_gamma, upper_gamma};
use crate::numerics::real::Real;
use crate::operand::{Operand, Outcome};

pub(super) static FUNCTIONS: &[Function] = &[
    eager("BINOM.DIST", 4, 4, "s", binomial),
    eager("BINOM.DIST.RANGE", 3, 4, "s", binomial_range),
    eager("BINOM.INV", 3, 3, "s", binomial_inverse),
    eager("BINOMDIST", 4, 4, "s", binomial),
    eager("CRITBINOM", 3, 3, "s", binomial_inverse),
    eager("HYPGEOM.DIST", 5, 5, "s", |call| hypergeometric(call, Some(4))),
    eager("HYPGEOMDIST", 4, 4, "s", |call| hypergeometric(call, None)),
    eager("NEGBINOM.DIST", 4, 4, "s", |call| negative_binomial(call, Some(3))),
    eager("NEGBINOMDIST", 3, 3, "s", |call| negative_binomial(call, None)),
    eager("POISSON", 3, 3, "s", poisson),
    eager("POISSON.DIST", 3, 3, "s", poisson),
];

/// Number of evaluation steps charged for computing one probability.
const TERM_STEPS: usize = 100;

fn ln_combinations(number: f64, chosen: f64) -> f64 {
    if chosen == 0.0 || chosen == number {
        return 0.0;
    }
    ln_gamma(number + 1.0) - ln_gamma(chosen + 1.0) - ln_gamma(number - chosen + 1.0)
}

fn combinations(number: f64, chosen: f64) -> f64 {
    let chosen = chosen.min(number - chosen);
    if chosen > 1_000.0 {
        return f64::INFINITY;
    }
    let mut result: f64 = 1.0;
    let mut taken = 1.0;
    while taken <= chosen && result.is_finite() {
        result *= (number - chosen + taken) / taken;
        taken += 1.0;
    }
    result
}

/// Computes the binomial probability of exactly `successes` successes.
fn binomial_mass(successes: f64, trials: f64, probability: f64) -> f64 {
    if probability == 0.0 {
        return if successes == 0.0 { 1.0 } else { 0.0 };
    }
    if probability == 1.0 {
        return if successes == trials { 1.0 } else { 0.0 };
    }
    let failures = trials - successes;
    let direct = combinations(trials, successes)
        * probability.power(successes)
        * (1.0 - probability).power(failures);
    if direct.is_normal() {
        return direct;
    }
    let logarithm = ln_combinations(trials, successes)
        + successes * probability.natural_logarithm()
        + failures * (-probability).natural_logarithm_plus_1();
    logarithm.exponential()
}

fn binomial_cumulative(successes: f64, trials: f64, probability: f64) -> f64 {
    if successes >= trials {
        return 1.0;
    }
    if successes < 0.0 {
        return 0.0;
    }
    incomplete_beta(trials - successes, successes + 1.0, 1.0 - probability)
}

fn binomial(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (successes, trials) = (call.number(0)?.trunc(), call.number(1)?.trunc());
    let probability = call.number(2)?;
    let is_cumulative = call.boolean(3)?;
    const MOST_TRIALS: f64 = 9_007_199_254_740_992.0;
    let is_valid = successes >= 0.0
        && successes <= trials
        && trials <= MOST_TRIALS
        && (0.0..=1.0).contains(&probability);
    ensure(is_valid, ErrorCode::Num)?;
    call.spend_iterations(trials, 1)?;
    number_result(if is_cumulative {
        binomial_cumulative(successes, trials, probability)
    } else {
        binomial_mass(successes, trials, probability)
    })
}

fn binomial_range(call: &Call<'_, '_>) -> Outcome<Operand> {
    const MOST_TERMS: f64 = 1e4;
    let trials = call.number(0)?.trunc();
    let probability = call.number(1)?;
    let low = call.number(2)?.trunc();
    let high = call.given_number_or(3, low)?.trunc();
    let is_valid = trials >= 0.0
        && (0.0..=1.0).contains(&probability)
        && (0.0..=trials).contains(&low)
        && (low..=trials).contains(&high);
    ensure(is_valid, ErrorCode::Num)?;
    if high - low > MOST_TERMS {
        let below = binomial_cumulative(low - 1.0, trials, probability);
        return number_result(binomial_cumulative(high, trials, probability) - below);
    }
    call.spend(TERM_STEPS.saturating_mul(to_length(high - low)))?;
    let mut sum = 0.0;
    let mut successes = low;
    while successes <= high {
        sum += binomial_mass(successes, trials, probability);
        successes += 1.0;
    }
    number_result(sum)
}

fn binomial_inverse(call: &Call<'_, '_>) -> Outcome<Operand> {
    let trials = call.number(0)?.trunc();
    let (probability, alpha) = (call.number(1)?, call.number(2)?);
    let is_probability = |number: f64| number > 0.0 && number < 1.0;
    let is_valid = trials >= 0.0 && is_probability(probability) && is_probability(alpha);
    ensure(is_valid, ErrorCode::Num)?;
    call.spend_iterations(trials, super::continuous::INVERSION)?;
    let (mut low, mut high) = (0.0, trials);
    while low < high {
        let middle = ((low + high) / 2.0_f64).floor();
        if binomial_cumulative(middle, trials, probability) >= alpha * (1.0 - 1e-14) {
            high = middle;
        } else {
            low = middle + 1.0;
        }
    }
    number_result(low)
}

fn hypergeometric(call: &Call<'_, '_>, cumulative: Option<usize>) -> Outcome<Operand> {
    const MOST_TERMS: f64 = 1e4;
    let number = |index: usize| -> Outcome<f64> { Ok(call.number(index)?.trunc()) };
    let (successes, sample, good, population) = (number(0)?, number(1)?, number(2)?, number(3)?);
    let is_cumulative = cumulative.map_or(Ok(false), |index| call.boolean(index))?;
    let is_valid = successes >= 0.0
        && population > 0.0
        && (0.0..=population).contains(&sample)
        && (0.0..=population).contains(&good)
        && successes <= sample.min(good);
    let least = (sample - population + good).max(0.0);
    ensure(is_valid, ErrorCode::Num)?;
    ensure(successes >= least || is_cumulative, ErrorCode::Num)?;
    let mass = |successes: f64| {
        let logarithm = ln_combinations(good, successes)
            + ln_combinations(population - good, sample - successes)
            - ln_combinations(population, sample);
        let direct = combinations(good, successes)
            * combinations(population - good, sample - successes)
            / combinations(population, sample);
        if direct.is_normal() { direct } else { logarithm.exponential() }
    };
    if !is_cumulative {
        return number_result(mass(successes));
    }
    ensure(successes - least < MOST_TERMS, ErrorCode::Num)?;
    call.spend(TERM_STEPS.saturating_mul(to_length(successes - least)))?;
    let mut sum = 0.0;
    let mut step = least;
    while step <= successes {
        sum += mass(step);
        step += 1.0;
    }
    number_result(sum)
}

fn negative_binomial(call: &Call<'_, '_>, cumulative: Option<usize>) -> Outcome<Operand> {
    let (failures, successes) = (call.number(0)?.trunc(), call.number(1)?.trunc());
    let probability = call.number(2)?;
    let is_cumulative = cumulative.map_or(Ok(false), |index| call.boolean(index))?;
    let is_valid = failures >= 0.0 && successes >= 1.0 && (0.0..=1.0).contains(&probability);
    ensure(is_valid, ErrorCode::Num)?;
    if is_cumulative {
        ensure(probability > 0.0 && probability < 1.0, ErrorCode::Num)?;
        return number_result(incomplete_beta(successes, failures + 1.0, probability));
    }
    let direct = combinations(failures + successes - 1.0, failures)
        * probability.power(successes)
        * (1.0 - probability).power(failures);
    if direct.is_normal() || probability == 0.0 || probability == 1.0 {
        return number_result(direct);
    }
    let logarithm = ln_combinations(failures + successes - 1.0, failures)
        + successes * probability.natural_logarithm()
        + failures * (-probability).natural_logarithm_plus_1();
    number_result(logarithm.exponential())
}

fn poisson(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (count, mean) = (call.number(0)?.trunc(), call.number(1)?);
    let is_cumulative = call.boolean(2)?;
    ensure(count >= 0.0 && mean >= 0.0, ErrorCode::Num)?;
    if mean == 0.0 {
        return Ok((if is_cumulative || count == 0.0 { 1.0 } else { 0.0 }).into());
    }
    if is_cumulative {
        return number_result(upper_gamma(count + 1.0, mean));
    }
    number_result((count * mean.natural_logarithm() - mean - ln_gamma(count + 1.0)).exponential())
}
