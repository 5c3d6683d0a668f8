//! The `snapshots:` section of `cellar.yaml`.

use std::ops::RangeInclusive;

use cellar_base::limits::{SEGMENT_BYTES, SEGMENT_ENTRIES, SNAPSHOT_BYTES, SNAPSHOT_ENTRIES};
use cellar_log::upkeep::LogPolicy;
use serde::{Deserialize, Serialize};

use super::duration;
use super::error::ConfigProblem;
use super::limits::{
    SEGMENT_BYTES as SEGMENT_BYTES_RANGE, SEGMENT_ENTRIES as SEGMENT_ENTRIES_RANGE,
    SNAPSHOT_BYTES as SNAPSHOT_BYTES_RANGE, SNAPSHOT_ENTRIES as SNAPSHOT_ENTRIES_RANGE,
    SNAPSHOT_MEMORY_MB, SNAPSHOT_TIMEOUT_S,
};

/// The thresholds for snapshots and log segments, and the memory and timeout of the snapshot
/// function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Snapshots {
    /// Whether an append can start a snapshot or a new log segment. Defaults to true.
    pub enabled: bool,
    /// Number of entries between two snapshots.
    pub entries: u32,
    /// The total size in bytes of the entries between two snapshots.
    pub bytes: u64,
    /// The maximum number of entries in a log segment.
    pub segment_entries: u32,
    /// The maximum total size in bytes of the entries in a log segment.
    pub segment_bytes: u64,
    /// The memory of the snapshot function in MB. Its CPU power is proportional to its memory. The
    /// default provides one full vCPU.
    pub memory_mb: u32,
    /// The timeout of the snapshot function in seconds. The next invocation resumes unfinished
    /// work.
    #[serde(rename = "timeout", with = "duration::seconds")]
    pub timeout_s: u32,
}

impl Default for Snapshots {
    fn default() -> Self {
        Self {
            enabled: true,
            entries: SNAPSHOT_ENTRIES,
            bytes: SNAPSHOT_BYTES,
            segment_entries: SEGMENT_ENTRIES,
            segment_bytes: SEGMENT_BYTES,
            memory_mb: 1_769,
            timeout_s: 300,
        }
    }
}

impl Snapshots {
    /// Returns the thresholds at which the API starts snapshots and log segments, or `None` if
    /// snapshots are disabled.
    pub fn log_policy(&self) -> Option<LogPolicy> {
        if !self.enabled {
            return None;
        }
        Some(LogPolicy {
            snapshot_entries: self.entries,
            snapshot_bytes: self.bytes,
            segment_entries: self.segment_entries,
            segment_bytes: self.segment_bytes,
        })
    }

    pub(super) fn find_problems(&self) -> Vec<ConfigProblem> {
        let widen =
            |range: RangeInclusive<u32>| u64::from(*range.start())..=u64::from(*range.end());
        let mut problems = Vec::new();
        for (field, value, allowed_range) in [
            ("entries", self.entries.into(), widen(SNAPSHOT_ENTRIES_RANGE)),
            ("bytes", self.bytes, SNAPSHOT_BYTES_RANGE),
            ("segment_entries", self.segment_entries.into(), widen(SEGMENT_ENTRIES_RANGE)),
            ("segment_bytes", self.segment_bytes, SEGMENT_BYTES_RANGE),
            ("memory_mb", self.memory_mb.into(), widen(SNAPSHOT_MEMORY_MB)),
        ] {
            if !allowed_range.contains(&value) {
                let (from, to) = allowed_range.into_inner();
                problems.push(ConfigProblem::Snapshots { field, value, from, to });
            }
        }
        if !SNAPSHOT_TIMEOUT_S.contains(&self.timeout_s) {
            problems.push(ConfigProblem::SnapshotTimeout { value: self.timeout_s });
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use cellar_base::limits::MAX_SNAPSHOT_ENTRIES;

    use super::*;

    fn problems(snapshots: &Snapshots) -> Vec<String> {
        snapshots.find_problems().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn thresholds_and_sizes_are_bounded() {
        let parse = |field: &str, value: u64| {
            serde_yaml::from_str::<Snapshots>(&format!("{field}: {value}")).unwrap()
        };
        for (field, from, to) in [
            ("entries", 10, u64::from(MAX_SNAPSHOT_ENTRIES)),
            ("bytes", 16 * 1_024, 4 << 20),
            ("segment_entries", 100, 50_000),
            ("segment_bytes", 64 * 1_024, 16 << 20),
            ("memory_mb", 256, 10_240),
        ] {
            for value in [from, to] {
                assert_eq!(problems(&parse(field, value)), [""; 0], "{field} {value}");
            }
            for value in [0, from - 1, to + 1] {
                let expected = format!("`snapshots.{field}` is {value}: use {from} to {to}");
                assert_eq!(problems(&parse(field, value)), [expected]);
            }
        }
    }

    #[test]
    fn the_timeout_is_bounded() {
        let parse = |timeout: &str| {
            serde_yaml::from_str::<Snapshots>(&format!("timeout: {timeout}")).unwrap()
        };
        for allowed in ["60s", "15m"] {
            assert_eq!(problems(&parse(allowed)), [""; 0], "{allowed}");
        }
        for (refused, shown) in [("59s", "59s"), ("901s", "901s"), ("1h", "1h")] {
            let expected = format!("`snapshots.timeout` is {shown}: use 1m to 15m");
            assert_eq!(problems(&parse(refused)), [expected]);
        }
    }

    #[test]
    fn there_is_no_log_policy_if_snapshots_are_disabled() {
        let mut snapshots = Snapshots::default();
        assert_eq!(snapshots.log_policy(), Some(LogPolicy::default()));
        snapshots.enabled = false;
        assert_eq!(snapshots.log_policy(), None);
    }
}
