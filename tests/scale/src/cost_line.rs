//! Reads the line that `cellar --cost` prints.

use cellar_api::cost::Cost;

/// Reads the cost from the output of a command, such as `cost: 1 write unit, 0.5 read units:
/// $0.0000006875`. Returns `None` if there is no such line, or if it has an unknown unit.
#[must_use]
pub fn parse_cost(output: &str) -> Option<Cost> {
    let line = output.lines().rev().find_map(|line| line.strip_prefix("cost: "))?;
    let (units, _dollars) = line.rsplit_once(": $")?;
    let mut cost = Cost::default();
    if units == "nothing" {
        return Some(cost);
    }
    for unit in units.split(", ") {
        let (number, name) = unit.split_once(' ')?;
        let number = number.replace(',', "");
        let (name, bytes) = match name.split_once(" (") {
            Some((name, bytes)) => (name, parse_bytes(bytes)?),
            None => (name, 0),
        };
        match name.trim_end_matches('s') {
            "read unit" => cost.read_half_units = parse_half_units(&number)?,
            "write unit" => cost.write_units = number.parse().ok()?,
            "S3 PUT" => {
                (cost.object_puts, cost.object_bytes_sent) = (number.parse().ok()?, bytes);
            }
            "S3 GET" => {
                (cost.object_gets, cost.object_bytes_received) = (number.parse().ok()?, bytes);
            }
            "S3 tag request" => cost.object_tags = number.parse().ok()?,
            "S3 DELETE" => cost.object_deletes = number.parse().ok()?,
            "queue request" => cost.queue_requests = number.parse().ok()?,
            _ => return None,
        }
    }
    Some(cost)
}

fn parse_half_units(number: &str) -> Option<u64> {
    let (whole, half) = match number.split_once('.') {
        Some((whole, "5")) => (whole, 1),
        Some(_) => return None,
        None => (number, 0),
    };
    Some(whole.parse::<u64>().ok()?.saturating_mul(2).saturating_add(half))
}

fn parse_bytes(text: &str) -> Option<u64> {
    text.split(' ').next()?.replace(',', "").parse().ok()
}

#[cfg(test)]
mod tests {
    use cellar_api::cost::Prices;

    use super::*;

    #[test]
    fn each_printed_cost_is_read_again() {
        let each = Cost {
            read_half_units: 3_001,
            write_units: 1_234,
            table_requests: 0,
            object_puts: 2_000,
            object_gets: 1,
            object_tags: 5,
            object_deletes: 6,
            object_bytes_sent: 861_456,
            object_bytes_received: 7,
            queue_requests: 1,
        };
        for cost in [each, Cost { read_half_units: 2, ..Cost::default() }, Cost::default()] {
            let dollars = Prices::US_EAST_1.dollars(&cost);
            let output = format!("imported\ncost: {cost}: {dollars}\n");
            assert_eq!(parse_cost(&output), Some(cost), "{output}");
        }
    }

    #[test]
    fn other_output_is_no_cost() {
        for output in ["", "imported", "cost: 1 write unit", "cost: 1 new unit: $1", "cost: : $0"] {
            assert_eq!(parse_cost(output), None, "{output}");
        }
    }
}
