//! Prints the cost of a command (`--cost`).

use std::io::{self, Write as _};

use cellar_api::cost::Prices;

use super::output::count;
use crate::RequestCosts;
use crate::text::to_json;

pub(super) fn print_cost(costs: &RequestCosts, json: bool) {
    let line = if json { to_json(&format_json(costs)) } else { format_text(costs) };
    // Ignore errors: if stderr is closed, there is nowhere to report them.
    let _ = writeln!(io::stderr(), "{line}");
}

fn format_text(costs: &RequestCosts) -> String {
    let dollars = Prices::US_EAST_1.dollars(&costs.cost);
    let unknown_note = match costs.unknown_requests {
        0 => String::new(),
        request_count => {
            format!(" (and {} of unknown cost)", count(request_count, "request", "requests"))
        }
    };
    format!("cost: {}: {dollars}{unknown_note}", costs.cost)
}

/// The dollar amount is a string, because JSON parsers may round numbers.
fn format_json(costs: &RequestCosts) -> serde_json::Value {
    let RequestCosts { cost, unknown_requests } = costs;
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

    fn costs(unknown_requests: u64) -> RequestCosts {
        let cost = Cost { read_half_units: 1, write_units: 3, ..Cost::default() };
        RequestCosts { cost, unknown_requests }
    }

    #[test]
    fn formats_costs_as_text() {
        let text = "cost: 3 write units, 0.5 read units: $0.0000019375";
        assert_eq!(format_text(&costs(0)), text);
        assert_eq!(format_text(&costs(1)), format!("{text} (and 1 request of unknown cost)"));
        assert_eq!(format_text(&RequestCosts::default()), "cost: nothing: $0");
    }

    #[test]
    fn formats_costs_as_json() {
        let json = format_json(&costs(2));
        assert_eq!(json["cost"]["readUnits"], 0.5);
        assert_eq!(json["cost"]["writeUnits"], 3);
        assert_eq!(json["cost"]["unknownRequests"], 2);
        assert_eq!(json["cost"]["dollars"], "0.0000019375");
        assert!(!json.to_string().contains('\n'));
    }
}
