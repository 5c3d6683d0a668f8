//! Durations of `cellar.yaml`, which are written with a unit, such as `29s` or `30d`.

use std::ops::RangeInclusive;

use cellar_base::duration::{DurationUnit, format_duration, parse_duration};
use serde::de::{Deserializer, Error, Unexpected, Visitor};
use serde::{Deserialize as _, Serializer};

/// The allowed values of each field are checked later, together with those of all other fields.
const ANY: RangeInclusive<u64> = 0..=u32::MAX as u64;

struct DurationVisitor(DurationUnit);

impl Visitor<'_> for DurationVisitor {
    type Value = u32;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "a duration such as 2{}", self.0.symbol())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<u32, E> {
        let count = parse_duration(text, self.0, &ANY).map_err(E::custom)?;
        u32::try_from(count).map_err(|_| E::invalid_value(Unexpected::Str(text), &self))
    }

    /// YAML reads a number without a unit as an integer.
    fn visit_u64<E: Error>(self, number: u64) -> Result<u32, E> {
        self.visit_str(&number.to_string())
    }
}

pub(super) mod seconds {
    use super::*;

    pub(in crate::config) fn serialize<S: Serializer>(
        value: &u32,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format_duration(u64::from(*value), DurationUnit::Seconds))
    }

    pub(in crate::config) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<u32, D::Error> {
        deserializer.deserialize_any(DurationVisitor(DurationUnit::Seconds))
    }
}

pub(super) mod days {
    use super::*;

    pub(in crate::config) fn serialize<S: Serializer>(
        value: &u32,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format_duration(u64::from(*value), DurationUnit::Days))
    }

    pub(in crate::config) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<u32, D::Error> {
        deserializer.deserialize_any(DurationVisitor(DurationUnit::Days))
    }
}

pub(super) mod optional_days {
    use super::*;

    #[derive(serde::Serialize, serde::Deserialize)]
    struct Days(#[serde(with = "super::days")] u32);

    #[expect(clippy::ref_option, reason = "serde passes the field by reference")]
    pub(in crate::config) fn serialize<S: Serializer>(
        value: &Option<u32>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serde::Serialize::serialize(&value.map(Days), serializer)
    }

    pub(in crate::config) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<u32>, D::Error> {
        Ok(Option::<Days>::deserialize(deserializer)?.map(|Days(days)| days))
    }
}

#[cfg(test)]
mod tests {
    use crate::Config;

    fn message(text: &str) -> String {
        Config::parse(text, "cellar.yaml").unwrap_err().to_string()
    }

    #[test]
    fn durations_take_every_unit() {
        let text = "api: {timeout: 10000ms}\nsnapshots: {timeout: 5m}\n\
                    log_retention: 168h\noffload_after: 90days\n";
        let config = Config::parse(text, "cellar.yaml").unwrap();
        assert_eq!((config.api.timeout_s, config.snapshots.timeout_s), (10, 300));
        assert_eq!((config.log_retention_days, config.offload_after_days), (7, Some(90)));
        let unset = Config::parse("offload_after:\n", "cellar.yaml").unwrap();
        assert_eq!(unset.offload_after_days, None);
    }

    #[test]
    fn a_duration_is_written_as_it_is_read() {
        let mut config = Config::default();
        config.api.timeout_s = 60;
        config.offload_after_days = Some(365);
        let yaml = serde_yaml::to_string(&config).unwrap();
        assert!(yaml.contains("timeout: 1m") && yaml.contains("offload_after: 365d"), "{yaml}");
        assert_eq!(Config::parse(&yaml, "cellar.yaml").unwrap(), config);
    }

    #[test]
    fn other_values_are_refused_with_what_to_write() {
        let no_unit = message("log_retention: 30\n");
        assert!(no_unit.contains("`30` has no unit: write 30d for 30 days"), "{no_unit}");
        assert!(no_unit.contains("log_retention"), "{no_unit}");
        let seconds = message("api: {timeout: 29}\n");
        assert!(seconds.contains("write 29s for 29 seconds"), "{seconds}");
        for text in ["log_retention: soon", "log_retention: 36h", "api: {timeout: true}"] {
            assert!(message(text).contains("expected"), "{text}");
        }
        assert!(message("offload_after: 9999999999d\n").contains("expected 0d to"));
    }
}
