//! Query parameters that take a position or a time.

use cellar_api::wire::PositionOrTime;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_engine::logs::LogError;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::state::ApiState;

/// Parses a parameter that must be present. In contrast to JSON, the number of a position is a text
/// of digits.
pub(super) fn required<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<PositionOrTime, D::Error> {
    let text = String::deserialize(deserializer)?;
    match text.parse::<u64>() {
        Ok(packed) => Position::unpack(packed).map(Into::into).map_err(D::Error::custom),
        Err(_) => text.parse().map_err(D::Error::custom),
    }
}

/// Like [`required`], for a parameter that may be absent.
pub(super) fn optional<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<PositionOrTime>, D::Error> {
    required(deserializer).map(Some)
}

/// Returns the requested position. A time is looked up in the log.
pub(super) async fn find_position(
    state: &ApiState,
    log_id: LogId,
    requested: Option<PositionOrTime>,
    min_position: Option<Position>,
) -> Result<Option<Position>, LogError> {
    match requested {
        None => Ok(None),
        Some(requested) => {
            state.logs().find_position(log_id, requested, min_position).await.map(Some)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Both {
        #[serde(deserialize_with = "required")]
        from: PositionOrTime,
        #[serde(default, deserialize_with = "optional")]
        at: Option<PositionOrTime>,
    }

    fn parse(query: &str) -> Result<(PositionOrTime, Option<PositionOrTime>), String> {
        let uri = format!("http://h/?{query}").parse().unwrap();
        let parsed = axum::extract::Query::<Both>::try_from_uri(&uri);
        parsed.map(|query| (query.0.from, query.0.at)).map_err(|error| error.body_text())
    }

    #[test]
    fn takes_numbers_positions_and_times() {
        let position = |segment, num| PositionOrTime::from(Position::new(segment, num).unwrap());
        assert_eq!(parse("from=5"), Ok((position(0, 5), None)));
        assert_eq!(parse("from=1.5&at=4294967301"), Ok((position(1, 5), Some(position(1, 5)))));
        let time = PositionOrTime::Time { unix_s: 1_795_479_240 };
        assert_eq!(parse("from=0.1&at=2026-11-24T00:14Z"), Ok((position(0, 1), Some(time))));
        assert_eq!(parse("from=2026-11-24T01:14%2B01:00"), Ok((time, None)));
    }

    #[test]
    fn says_what_is_wrong_with_a_parameter() {
        assert!(parse("at=0").unwrap_err().contains("`from`"));
        for (query, why) in [
            ("from=x", "`x` is neither a position"),
            ("from=0&at=", "neither a position"),
            ("from=2026-11-24", "is a day"),
            ("from=9007199254740992", "out of range"),
            ("from=-1", "neither a position"),
            ("from=18446744073709551616", "neither a position"),
        ] {
            let message = parse(query).unwrap_err();
            assert!(message.contains(why), "{query}: {message}");
        }
    }
}
