//! `--cost`: what a command cost.

use std::io::{self, Write as _};

use cellar_api::cost::Prices;

use super::output::count;
use crate::RequestCosts;
use crate::table::to_json;

/// Says on stderr what was spent: standard output is the command's own.
pub(super) fn print(spent: &RequestCosts, json: bool) {
    let line = if json { to_json(&as_json(spent)) } else { as_words(spent) };
    // There is nowhere left to say that stderr is gone.
    let _ = writeln!(io::stderr(), "{line}");
}

fn as_words(spent: &RequestCosts) -> String {
    let dollars = Prices::US_EAST_1.dollars(&spent.cost);
    let unknown = match spent.unknown_requests {
        0 => String::new(),
        requests => {
            format!(" (besides {} of unknown cost)", count(requests, "request", "requests"))
        }
    };
    format!("cost: {}: {dollars}{unknown}", spent.cost)
}

/// One object with the key `cost`, as an error has the key `error`. Dollars are a text: they are
/// exact.
fn as_json(spent: &RequestCosts) -> serde_json::Value {
    let RequestCosts { cost, unknown_requests } = spent;
    serde_json::json!({
        "cost": {
            "readUnits": cost.read_units(),
            "writeUnits": cost.write_units,
            "tableRequests": cost.table_requests,
            "objectPuts": cost.object_puts,
            "objectGets": cost.object_gets,
            "objectTags": cost.object_tags,
            "objectDeletes": cost.object_deletes,
            "objectBytesSent": cost.object_bytes_sent,
            "objectBytesReceived": cost.object_bytes_received,
            "queueRequests": cost.queue_requests,
            "unknownRequests": unknown_requests,
            "dollars": Prices::US_EAST_1.dollars(cost).to_decimal(),
        }
    })
}

#[cfg(test)]
mod tests {
    use cellar_api::cost::Cost;

    use super::*;

    fn spent(unknown_requests: u64) -> RequestCosts {
        let cost = Cost { read_half_units: 1, write_units: 3, ..Cost::default() };
        RequestCosts { cost, unknown_requests }
    }

    #[test]
    fn a_cost_for_people_says_what_is_not_in_it() {
        let told = "cost: 3 write units, 0.5 read units: $0.0000019375";
        assert_eq!(as_words(&spent(0)), told);
        assert_eq!(as_words(&spent(1)), format!("{told} (besides 1 request of unknown cost)"));
        assert_eq!(as_words(&RequestCosts::default()), "cost: nothing: $0");
    }

    #[test]
    fn a_cost_for_programs_is_one_object() {
        let json = as_json(&spent(2));
        assert_eq!(json["cost"]["readUnits"], 0.5);
        assert_eq!(json["cost"]["writeUnits"], 3);
        assert_eq!(json["cost"]["unknownRequests"], 2);
        assert_eq!(json["cost"]["dollars"], "0.0000019375");
        assert!(!json.to_string().contains('\n'));
    }
}
