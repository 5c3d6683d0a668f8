//! Positions that a request gives by their number or by a time.

use std::fmt;
use std::str::FromStr;

use cellar_base::position::Position;
use jiff::{Timestamp, civil};
use serde::de::{Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::time::format_utc;

/// Maximum number of characters of an invalid text that an error repeats.
const MAX_SHOWN_CHARACTERS: usize = 64;

/// A position of a log, or a time.
///
/// A time stands for the position of the last entry whose time is not later. The state at that
/// position is the state of the spreadsheet as it was at the time. The time of an entry is the clock
/// of the server that wrote it, in whole seconds, so a fraction of a second in the given time has no
/// effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PositionOrTime {
    /// A position.
    Position(Position),
    /// A time.
    Time {
        /// Time in seconds since the Unix epoch. A time before 1970 is 0, because no entry is so old.
        unix_s: u64,
    },
}

/// Error for a text that is neither a position nor a time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotAPositionOrTime {
    /// The text is a time, but it is not known in which time zone.
    #[error("`{text}` has no time zone; append Z for UTC, or an offset such as +01:00")]
    NoTimeZone {
        /// The text.
        text: String,
    },
    /// The text is a date.
    #[error(
        "`{text}` is a day; add a time of that day with its time zone, such as {text}T00:00Z, where \
         Z is UTC"
    )]
    NoTime {
        /// The text.
        text: String,
    },
    /// The text is something else.
    #[error(
        "`{text}` is neither a position, such as 0.42, nor a time with its time zone, such as \
         2026-11-24T00:14Z"
    )]
    Other {
        /// The text.
        text: String,
    },
}

impl From<Position> for PositionOrTime {
    fn from(position: Position) -> Self {
        Self::Position(position)
    }
}

impl fmt::Display for PositionOrTime {
    /// Writes a position as `0.42` and a time in RFC 3339.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Position(position) => position.fmt(formatter),
            Self::Time { unix_s } => formatter.write_str(&format_utc(*unix_s)),
        }
    }
}

impl FromStr for PositionOrTime {
    type Err = NotAPositionOrTime;

    /// Parses a position such as `0.42`, or a time with its time zone such as `2026-11-24T00:14Z`.
    fn from_str(text: &str) -> Result<Self, NotAPositionOrTime> {
        if let Ok(position) = text.parse() {
            return Ok(Self::Position(position));
        }
        match text.parse::<Timestamp>() {
            Ok(time) => Ok(Self::Time { unix_s: u64::try_from(time.as_second()).unwrap_or(0) }),
            Err(_) => Err(NotAPositionOrTime::of(text)),
        }
    }
}

impl NotAPositionOrTime {
    fn of(text: &str) -> Self {
        let is_date_or_time = text.parse::<civil::DateTime>().is_ok();
        let has_time = text.contains([':', 'T', 't', ' ']);
        let text: String = text.chars().take(MAX_SHOWN_CHARACTERS).collect();
        match (is_date_or_time, has_time) {
            (true, true) => Self::NoTimeZone { text },
            (true, false) => Self::NoTime { text },
            (false, _) => Self::Other { text },
        }
    }
}

impl Serialize for PositionOrTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Position(position) => position.serialize(serializer),
            Self::Time { .. } => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for PositionOrTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PositionOrTimeVisitor)
    }
}

struct PositionOrTimeVisitor;

impl Visitor<'_> for PositionOrTimeVisitor {
    type Value = PositionOrTime;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the number of a position, a position such as \"0.42\", or a time")
    }

    fn visit_u64<E: serde::de::Error>(self, packed: u64) -> Result<PositionOrTime, E> {
        Position::unpack(packed).map(PositionOrTime::Position).map_err(E::custom)
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<PositionOrTime, E> {
        match u64::try_from(number) {
            Ok(packed) => self.visit_u64(packed),
            Err(_) => Err(E::invalid_value(Unexpected::Signed(number), &self)),
        }
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<PositionOrTime, E> {
        text.parse().map_err(E::custom)
    }
}

#[cfg(feature = "openapi")]
impl utoipa::PartialSchema for PositionOrTime {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
        use utoipa::openapi::Ref;
        use utoipa::openapi::schema::{
            KnownFormat, ObjectBuilder, OneOfBuilder, SchemaFormat, Type,
        };
        let text = || ObjectBuilder::new().schema_type(Type::String);
        OneOfBuilder::new()
            .item(Ref::from_schema_name("Position"))
            .item(text().pattern(Some("^[0-9]{1,6}\\.[0-9]{1,9}$")))
            .item(text().format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime))))
            .description(Some(
                "A position as a number, a position such as `0.42`, or a time with its time zone, such \
                 as `2026-11-24T00:14Z`. A time stands for the position of the last entry whose time \
                 is not later: the state as it was at that time. The time of an entry is the clock of \
                 the server that wrote it, in whole seconds.",
            ))
            .into()
    }
}

#[cfg(feature = "openapi")]
impl utoipa::ToSchema for PositionOrTime {}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(unix_s: u64) -> PositionOrTime {
        PositionOrTime::Time { unix_s }
    }

    #[test]
    fn parses_positions_and_times_with_a_zone() {
        for (text, expected) in [
            ("0.42", Position::new(0, 42).unwrap().into()),
            ("2026-11-24T00:14Z", time(1_795_479_240)),
            ("2026-11-24T00:14:00Z", time(1_795_479_240)),
            ("2026-11-24t00:14:00.999z", time(1_795_479_240)),
            ("2026-11-24 00:14Z", time(1_795_479_240)),
            ("2026-11-24T01:14+01:00", time(1_795_479_240)),
            ("2026-11-23T18:44:00-05:30", time(1_795_479_240)),
            ("1970-01-01T00:00:00Z", time(0)),
            ("1969-12-31T23:59:59Z", time(0)),
        ] {
            assert_eq!(text.parse::<PositionOrTime>(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn says_what_is_missing() {
        let message = |text: &str| text.parse::<PositionOrTime>().unwrap_err().to_string();
        assert!(message("2026-11-24T00:14").contains("append Z for UTC"));
        assert!(message("2026-11-24 00:14:00").contains("append Z for UTC"));
        assert!(message("2026-11-24").contains("such as 2026-11-24T00:00Z"));
        for text in ["", "0", "-1", "1.", "2097152.0", "yesterday", "2026-13-01T00:00Z", "0.1Z"] {
            assert!(message(text).contains("neither a position"), "{text}");
        }
        let long = "x".repeat(MAX_SHOWN_CHARACTERS + 1);
        assert!(!message(&long).contains(&long), "a long text is cut");
        assert!(
            message(&"x".repeat(MAX_SHOWN_CHARACTERS)).contains(&"x".repeat(MAX_SHOWN_CHARACTERS))
        );
    }

    #[test]
    fn json_is_a_number_or_a_text() {
        let position = Position::new(1, 5).unwrap();
        for (json, expected) in
            [("4294967301", position.into()), ("\"2026-11-24T00:14:00Z\"", time(1_795_479_240))]
        {
            let parsed: PositionOrTime = serde_json::from_str(json).unwrap();
            assert_eq!(parsed, expected);
            assert_eq!(serde_json::to_string(&parsed).unwrap(), json);
        }
        let text: PositionOrTime = serde_json::from_str("\"1.5\"").unwrap();
        assert_eq!(text, position.into());
        for invalid in ["-1", "9007199254740992", "1.5", "\"5\"", "null", "[]", "true"] {
            assert!(serde_json::from_str::<PositionOrTime>(invalid).is_err(), "{invalid}");
        }
    }
}
