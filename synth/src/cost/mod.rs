//! What a stack costs in a month: estimated from its use, or by AWS's own meters. Exact to the
//! pico-dollar, and without I/O.

mod bill;
mod estimate;
mod facts;
mod measured;
mod meter;

use serde_json::Value;

pub(crate) use bill::Bill;
pub(crate) use estimate::{Usage, assumptions, estimate};
pub(crate) use facts::Facts;
pub(crate) use measured::{Measured, Used, measured, not_measured, queries};

/// Hours of a month, as AWS reckons.
pub(crate) const MONTH_HOURS: u128 = 730;
/// Bytes of a GB, as AWS bills it.
pub(crate) const GB: u128 = 1 << 30;

/// What a stack of this template costs in a month in which nobody uses it, besides what is stored: dollars
/// as a decimal number. A template that is no JSON was not deployed by us, and nothing is known of it.
pub(crate) fn idle_dollars(template: &str) -> Option<String> {
    let template: Value = serde_json::from_str(template).ok()?;
    let amounts = estimate(&Usage::default(), &Facts::of(&template), None);
    Some(Bill::of(&amounts).total().to_owned())
}

#[cfg(test)]
mod tests {
    use cellar_stacks::{Architecture, Config, cellar_stack};

    use super::*;

    #[test]
    fn idle_costs_only_what_the_configuration_asks_for() {
        let idle = |config: &Config| {
            idle_dollars(&cellar_stack(config, Architecture::Arm64).unwrap().to_json()).unwrap()
        };
        assert_eq!(idle(&Config::default()), "0");
        assert_eq!(idle(&Config { dashboard: true, ..Config::default() }), "3");
        assert_eq!(idle_dollars("Resources: {}"), None);
    }
}
