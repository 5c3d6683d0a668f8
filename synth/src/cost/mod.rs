//! Computes the cost of a stack from either the expected usage or the measured usage. All amounts
//! are integers in pico-dollars. This module performs no I/O.

mod assumptions;
mod bill;
mod estimate;
mod facts;
mod measured;
mod meter;
mod movement;
mod polling;
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

    const README: &str = include_str!("../../../README.md");
    const COST_PAGE: &str = include_str!("../../../docs/cost.md");

    /// Estimates the cost of a month in US dollars, with the defaults of `synth cost`.
    fn estimated_dollars(usage: Usage, architecture: Architecture) -> f64 {
        let config = Config::default();
        let template = cellar_stack(&config, architecture).unwrap().to_value();
        let stack_facts = StackFacts::from_template(&template);
        let usage = Usage { request_ms: 20, viewers_per_edit: 1, ..usage };
        let log_policy = config.snapshots.log_policy();
        Bill::new(&estimated_amounts(&usage, &stack_facts, log_policy)).total().parse().unwrap()
    }

    #[test]
    fn documents_state_the_estimated_costs() {
        let (arm64, x86_64) = (Architecture::Arm64, Architecture::X86_64);
        let edits = |edits| Usage { edits, ..Usage::default() };
        let open = Usage { open_hours: 3_200, ..Usage::default() };
        let both = Usage { edits: 100_000, ..open };
        let open_hour = |architecture| estimated_dollars(open, architecture) / 3_200.0;
        assert_eq!(format!("{:.5}", open_hour(arm64)), format!("{:.5}", open_hour(x86_64)));
        let hour = format!("${:.5}", open_hour(arm64));
        let million = format!("${:.2}", estimated_dollars(edits(1_000_000), arm64));
        let few = format!("${:.2}", estimated_dollars(edits(100_000), arm64));
        let [on_arm64, on_x86_64] = [arm64, x86_64]
            .map(|architecture| format!("${:.2}", estimated_dollars(both, architecture)));
        for (page, statement) in [
            (README, format!("| an open client that polls, per hour | {hour} |")),
            (README, format!("{million} in all on arm64 |")),
            (COST_PAGE, format!("A million edits a month cost {million} on arm64")),
            (COST_PAGE, format!("{on_arm64} a month on arm64 and {on_x86_64} on x86_64")),
            (COST_PAGE, format!("{few} for the edits")),
            (COST_PAGE, format!("costs {hour} per hour")),
        ] {
            let page = page.replace('\n', " ");
            assert!(page.contains(&statement), "{statement}");
        }
    }

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
