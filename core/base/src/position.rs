//! Log positions, which also serve as spreadsheet versions.

use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::limits::MAX_SEGMENTS;

/// Position of an entry in a log: the number of the segment, and the number of the entry within the
/// segment. Positions are ordered by segment, then by entry. In text, a position is written as
/// `segment.num`. In JSON, it is a single number; see [`Position::pack`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    segment: u32,
    num: u32,
}

/// A segment number exceeds the range of packed positions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("log segment {segment} is out of range; it must be below {MAX_SEGMENTS}")]
pub struct SegmentOutOfRange {
    /// The segment number.
    pub segment: u64,
}

/// Error for a malformed position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a position; expected SEGMENT.NUMBER, such as 0.42")]
pub struct NotAPosition {
    /// The text.
    pub text: String,
}

impl Position {
    /// Position of the first entry of every log.
    pub const FIRST: Self = Self { segment: 0, num: 0 };
    /// Maximum position in any log.
    pub const LAST: Self = Self { segment: MAX_SEGMENTS - 1, num: u32::MAX };

    /// Creates a position.
    ///
    /// # Errors
    /// Returns [`SegmentOutOfRange`] unless `segment` is below `MAX_SEGMENTS`.
    pub fn new(segment: u32, num: u32) -> Result<Self, SegmentOutOfRange> {
        if segment < MAX_SEGMENTS {
            Ok(Self { segment, num })
        } else {
            Err(SegmentOutOfRange { segment: u64::from(segment) })
        }
    }

    /// Returns the segment number.
    #[must_use]
    pub fn segment(self) -> u32 {
        self.segment
    }

    /// Returns the entry's number within its segment, starting at 0.
    #[must_use]
    pub fn entry_number(self) -> u32 {
        self.num
    }

    /// Packs the position into one number below 2⁵³: `segment << 32 | num`.
    #[must_use]
    pub fn pack(self) -> u64 {
        (u64::from(self.segment) << 32) | u64::from(self.num)
    }

    /// Unpacks a position packed with [`Position::pack`].
    ///
    /// # Errors
    /// Returns [`SegmentOutOfRange`] if the segment number is too large.
    pub fn unpack(packed: u64) -> Result<Self, SegmentOutOfRange> {
        let segment = packed >> 32;
        let out_of_range = |_| SegmentOutOfRange { segment };
        let num = u32::try_from(packed & u64::from(u32::MAX)).map_err(out_of_range)?;
        Self::new(u32::try_from(segment).map_err(out_of_range)?, num)
    }

    /// Returns the first position in this position's segment.
    #[must_use]
    pub fn segment_start(self) -> Self {
        Self { num: 0, ..self }
    }

    /// Moves the start of a range that ends at `later` back, so that the range becomes twice as
    /// long. Returns the new start, which is never before the start of this position's segment. A
    /// backward search that doubles its range reads each entry only a few times.
    #[must_use]
    pub fn step_back_from(self, later: Self) -> Self {
        if self.segment != later.segment {
            return self.segment_start();
        }
        let distance = later.num.saturating_sub(self.num);
        Self { num: self.num.saturating_sub(distance), ..self }
    }

    /// Returns the next position in the segment, or `None` if the segment is full.
    #[must_use]
    pub fn next_in_segment(self) -> Option<Self> {
        Some(Self { segment: self.segment, num: self.num.checked_add(1)? })
    }

    /// Returns the first position of the next segment, or `None` if no segment number is left.
    #[must_use]
    pub fn next_segment(self) -> Option<Self> {
        Self::new(self.segment.checked_add(1)?, 0).ok()
    }
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.segment, self.num)
    }
}

impl FromStr for Position {
    type Err = NotAPosition;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let not_a_position = || NotAPosition { text: text.to_owned() };
        let (segment, num) = text.split_once('.').ok_or_else(not_a_position)?;
        let segment = segment.parse().map_err(|_| not_a_position())?;
        let num = num.parse().map_err(|_| not_a_position())?;
        Self::new(segment, num).map_err(|_| not_a_position())
    }
}

impl Serialize for Position {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.pack())
    }
}

impl<'de> Deserialize<'de> for Position {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::unpack(u64::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

#[cfg(feature = "openapi")]
impl utoipa::PartialSchema for Position {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
        use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
        ObjectBuilder::new()
            .schema_type(Type::Integer)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
            .minimum(Some(0))
            .maximum(Some(Self::LAST.pack()))
            .description(Some(
                "Position of an entry in the log: the segment number times 2³², plus the number of \
                 the entry within the segment",
            ))
            .into()
    }
}

#[cfg(feature = "openapi")]
impl utoipa::ToSchema for Position {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn round_trips_every_form(segment in 0..MAX_SEGMENTS, num: u32) {
            let position = Position::new(segment, num).unwrap();
            prop_assert_eq!(Position::unpack(position.pack()).unwrap(), position);
            prop_assert_eq!(position.to_string().parse::<Position>().unwrap(), position);
            let json = serde_json::to_string(&position).unwrap();
            prop_assert_eq!(serde_json::from_str::<Position>(&json).unwrap(), position);
        }

        #[test]
        fn packing_preserves_the_order(a in 0..MAX_SEGMENTS, b: u32, c in 0..MAX_SEGMENTS, d: u32) {
            let (left, right) = (Position::new(a, b).unwrap(), Position::new(c, d).unwrap());
            prop_assert_eq!(left.cmp(&right), left.pack().cmp(&right.pack()));
        }
    }

    #[test]
    fn segments_are_limited_to_exact_json_numbers() {
        let last = Position::new(MAX_SEGMENTS - 1, u32::MAX).unwrap();
        assert_eq!(last, Position::LAST);
        assert_eq!(last.pack(), (1 << 53) - 1);
        assert_eq!(last.next_in_segment(), None);
        assert_eq!(last.next_segment(), None);
        assert!(Position::new(MAX_SEGMENTS, 0).is_err());
        let beyond = SegmentOutOfRange { segment: u64::from(MAX_SEGMENTS) };
        assert_eq!(Position::unpack(1 << 53), Err(beyond));
        assert!(serde_json::from_str::<Position>("9007199254740992").is_err());
    }

    #[test]
    fn step_back_from_doubles_the_distance_within_the_segment() {
        let at = |segment, num| Position::new(segment, num).unwrap();
        assert_eq!(at(2, 90).step_back_from(at(2, 95)), at(2, 85));
        assert_eq!(at(2, 90).step_back_from(at(2, 180)), at(2, 0));
        assert_eq!(at(2, 90).step_back_from(at(2, 190)), at(2, 0));
        assert_eq!(at(2, 90).step_back_from(at(3, 1)), at(2, 0));
    }

    #[test]
    fn segment_start_is_the_first_entry() {
        let at = |segment, num| Position::new(segment, num).unwrap();
        assert_eq!(at(2, 90).segment_start(), at(2, 0));
    }

    #[test]
    fn rejects_texts_other_than_segment_dot_num() {
        for text in ["", "5", "0.", ".1", "-1.0", "0.1.2", "a.b", "0.4294967296", "2097152.0"] {
            assert_eq!(text.parse::<Position>(), Err(NotAPosition { text: text.to_owned() }));
        }
    }
}
