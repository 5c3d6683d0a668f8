//! How a change of the template moves the estimated cost.

use cellar_api::cost::Dollars;
use cellar_stacks::difference::Document;
use serde::{Serialize, Serializer};

use super::bill::Bill;
use super::estimate::{Usage, estimated_amounts};
use super::facts::StackFacts;

/// Number of edits whose cost is compared.
const EDITS: u64 = 1_000_000;
/// Average duration of a request that appends an edit, as in `synth cost`.
const REQUEST_MS: u64 = 20;
const PICODOLLARS_PER_DOLLAR: u128 = 1_000_000_000_000;
/// The numbers of decimals that are tried until two amounts differ.
const DECIMALS: [u32; 3] = [2, 4, 6];

/// The costs that a change moves, at the prices of us-east-1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct CostMovement {
    /// The cost of a month without usage and without storage.
    #[serde(rename = "idle_month_dollars", skip_serializing_if = "Option::is_none")]
    pub(crate) idle_month: Option<Movement>,
    /// The cost that a million edits in a month add to that of an idle month.
    #[serde(rename = "million_edits_dollars", skip_serializing_if = "Option::is_none")]
    pub(crate) million_edits: Option<Movement>,
}

/// A cost before and after the change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Movement {
    #[serde(serialize_with = "serialize_decimal")]
    old: Dollars,
    #[serde(serialize_with = "serialize_decimal")]
    new: Dollars,
}

impl CostMovement {
    /// Returns `None` if the change moves neither cost.
    pub(crate) fn between(old: &Document, new: &Document) -> Option<Self> {
        let (old, new) = (Costs::of(old), Costs::of(new));
        let idle_month = Movement::between(old.idle_month, new.idle_month);
        let million_edits = Movement::between(old.million_edits, new.million_edits);
        if idle_month.is_none() && million_edits.is_none() {
            return None;
        }
        Some(Self { idle_month, million_edits })
    }
}

impl Movement {
    fn between(old: Dollars, new: Dollars) -> Option<Self> {
        (old != new).then_some(Self { old, new })
    }

    /// Describes the movement, such as `$3.00 instead of $0.00`. Both amounts have enough decimals
    /// to be different.
    pub(crate) fn describe(&self) -> String {
        let texts = DECIMALS.map(|decimals| [self.new, self.old].map(|one| rounded(one, decimals)));
        let different = texts.iter().find(|[new, old]| new != old);
        let exact = [self.new, self.old].map(|one| one.to_string());
        let [new, old] = different.unwrap_or(&exact);
        format!("{new} instead of {old}")
    }
}

fn rounded(dollars: Dollars, decimals: u32) -> String {
    let unit = PICODOLLARS_PER_DOLLAR / 10_u128.pow(decimals);
    let units = dollars.picodollars().saturating_add(unit / 2) / unit;
    let units_per_dollar = PICODOLLARS_PER_DOLLAR / unit;
    let (whole, fraction) = (units / units_per_dollar, units % units_per_dollar);
    let width = usize::try_from(decimals).unwrap_or_default();
    format!("${whole}.{fraction:0width$}")
}

fn serialize_decimal<S: Serializer>(dollars: &Dollars, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&dollars.to_decimal())
}

struct Costs {
    idle_month: Dollars,
    million_edits: Dollars,
}

impl Costs {
    fn of(document: &Document) -> Self {
        let stack_facts = StackFacts::from_resources(document.resources());
        let cost_of = |edits| {
            let usage = Usage { edits, request_ms: REQUEST_MS, ..Usage::default() };
            Bill::new(&estimated_amounts(&usage, &stack_facts, stack_facts.log_policy)).sum()
        };
        let (idle_month, busy_month) = (cost_of(0), cost_of(EDITS));
        let difference = busy_month.picodollars().saturating_sub(idle_month.picodollars());
        Self { idle_month, million_edits: Dollars::from_picodollars(difference) }
    }
}

#[cfg(test)]
mod tests {
    use cellar_stacks::config::Webhook;
    use cellar_stacks::{Architecture, Config, FeedScope, cellar_stack};

    use super::*;

    fn document(config: &Config) -> Document {
        Document::from(&cellar_stack(config, Architecture::Arm64).unwrap())
    }

    /// Returns how a change of the default configuration moves the cost of an idle month and of a
    /// million edits.
    fn movement(config: &Config) -> [Option<String>; 2] {
        let default = document(&Config::default());
        let movement = CostMovement::between(&default, &document(config));
        let describe = |movement: Option<Movement>| movement.map(|movement| movement.describe());
        match movement {
            Some(CostMovement { idle_month, million_edits }) => {
                [describe(idle_month), describe(million_edits)]
            }
            None => [None, None],
        }
    }

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn optional_features_move_the_cost_that_they_affect() {
        let dashboard = Config { dashboard: true, ..Config::default() };
        assert_eq!(movement(&dashboard), [some("$3.00 instead of $0.00"), None]);
        let feed = Config { feed: FeedScope::Everything, ..Config::default() };
        assert_eq!(movement(&feed), [None, some("$1.86 instead of $1.43")]);
        let tracing = Config { tracing: true, ..Config::default() };
        assert_eq!(movement(&tracing), [None, some("$6.44 instead of $1.43")]);
        let url = "https://hooks.example.com/".to_owned();
        let webhook = Some(Webhook { url, payloads: true });
        let webhook = Config { webhook, ..Config::default() };
        assert_eq!(movement(&webhook)[0], some("$0.10 instead of $0.00"), "the eleventh alarm");
        let mut larger = Config::default();
        larger.api.memory_mb = 1_024;
        assert_eq!(movement(&larger), [None, some("$1.57 instead of $1.43")]);
    }

    #[test]
    fn snapshots_are_read_from_the_template() {
        let mut config = Config::default();
        config.snapshots.enabled = false;
        assert_eq!(movement(&config), [None, some("$1.39 instead of $1.43")]);
    }

    #[test]
    fn other_changes_move_no_cost() {
        let mut config = Config { deletion_protection: false, ..Config::default() };
        config.tags = [("team".to_owned(), "books".to_owned())].into();
        let (old, new) = (document(&Config::default()), document(&config));
        assert_eq!(CostMovement::between(&old, &new), None);
    }

    #[test]
    fn both_amounts_have_the_decimals_that_tell_them_apart() {
        let described = |old, new| {
            let [old, new] = [old, new].map(Dollars::from_picodollars);
            Movement::between(old, new).map(|movement| movement.describe())
        };
        let dollar = PICODOLLARS_PER_DOLLAR;
        assert_eq!(described(dollar, dollar), None);
        assert_eq!(described(0, 3 * dollar), some("$3.00 instead of $0.00"));
        assert_eq!(described(dollar, dollar + dollar / 1_000), some("$1.0010 instead of $1.0000"));
        assert_eq!(described(0, dollar / 1_000_000), some("$0.000001 instead of $0.000000"));
        assert_eq!(described(0, 1), some("$0.000000000001 instead of $0"));
    }
}
