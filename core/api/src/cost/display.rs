//! Formats costs for people.

use std::fmt;

use super::Cost;
use cellar_base::count::{count, grouped};

/// Formats a cost as text, such as `1 write unit, 0.5 read units`. Zeros are omitted. Table
/// requests are also omitted, because DynamoDB bills for request units instead of requests.
impl fmt::Display for Cost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nonzero_counts: Vec<String> = [
            count_unless_zero(self.write_units, "write unit", "write units"),
            format_read_units(self.read_half_units),
            format_objects(self.object_puts, self.object_bytes_sent, "S3 PUT", "S3 PUTs"),
            format_objects(self.object_gets, self.object_bytes_received, "S3 GET", "S3 GETs"),
            count_unless_zero(self.object_tags, "S3 tag request", "S3 tag requests"),
            count_unless_zero(self.object_deletes, "S3 DELETE", "S3 DELETEs"),
            count_unless_zero(self.queue_requests, "queue request", "queue requests"),
        ]
        .into_iter()
        .flatten()
        .collect();
        if nonzero_counts.is_empty() {
            return formatter.write_str("nothing");
        }
        formatter.write_str(&nonzero_counts.join(", "))
    }
}

fn count_unless_zero(number: u64, singular: &str, plural: &str) -> Option<String> {
    if number == 0 { None } else { Some(count(number, singular, plural)) }
}

fn format_read_units(half_units: u64) -> Option<String> {
    let whole_units = half_units / 2;
    if half_units.is_multiple_of(2) {
        return count_unless_zero(whole_units, "read unit", "read units");
    }
    Some(format!("{}.5 read units", grouped(whole_units)))
}

fn format_objects(requests: u64, bytes: u64, singular: &str, plural: &str) -> Option<String> {
    let request_count = count_unless_zero(requests, singular, plural)?;
    Some(format!("{request_count} ({})", count(bytes, "byte", "bytes")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn omits_zeros() {
        let none = Cost::default();
        for (cost, expected) in [
            (none, "nothing"),
            (Cost { write_units: 1, read_half_units: 1, ..none }, "1 write unit, 0.5 read units"),
            (Cost { write_units: 3, read_half_units: 2, ..none }, "3 write units, 1 read unit"),
            (Cost { read_half_units: 3_001, table_requests: 9, ..none }, "1,500.5 read units"),
            (
                Cost {
                    object_puts: 1,
                    object_bytes_sent: 4_096,
                    object_gets: 2,
                    object_bytes_received: 1,
                    object_tags: 1,
                    object_deletes: 2,
                    queue_requests: 1,
                    ..none
                },
                "1 S3 PUT (4,096 bytes), 2 S3 GETs (1 byte), 1 S3 tag request, 2 S3 DELETEs, \
                 1 queue request",
            ),
        ] {
            assert_eq!(cost.to_string(), expected);
        }
    }
}
