//! Computes the cost of a stack from either the expected usage or the measured usage. All amounts
//! are integers in pico-dollars. This module performs no I/O.

mod assumptions;
mod bill;
mod estimate;
mod facts;
mod measured;
mod meter;
mod movement;
mod units;

use serde_json::Value;

pub(crate) use assumptions::estimate_assumptions;
pub(crate) use bill::Bill;
pub(crate) use estimate::{Usage, estimated_amounts};
pub(crate) use facts::StackFacts;
pub(crate) use measured::{
    MeasuredUsage, UsageQuery, measured_amounts, measurement_notes, usage_queries,
};
pub(crate) use movement::CostMovement;
pub(crate) use units::MONTH_HOURS;

/// Returns the monthly cost of an idle stack without storage, in US dollars as a decimal number.
/// Returns `None` if the template is not JSON.
pub(crate) fn idle_dollars(template_text: &str) -> Option<String> {
    let template: Value = serde_json::from_str(template_text).ok()?;
    let stack_facts = StackFacts::from_template(&template);
    let amounts = estimated_amounts(&Usage::default(), &stack_facts, None);
    Some(Bill::new(&amounts).total().to_owned())
}

#[cfg(test)]
mod tests {
    use cellar_stacks::{Architecture, Config, cellar_stack};

    use super::*;

    #[test]
    fn only_optional_features_cost_money_while_idle() {
        let idle = |config: &Config| {
            idle_dollars(&cellar_stack(config, Architecture::Arm64).unwrap().to_json()).unwrap()
        };
        assert_eq!(idle(&Config::default()), "0");
        assert_eq!(idle(&Config { dashboard: true, ..Config::default() }), "3");
        assert_eq!(idle_dollars("Resources: {}"), None);
    }
}
