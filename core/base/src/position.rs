//! Positions: the places of entries in a log, and so the versions of a spreadsheet.

use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::limits::MAX_SEGMENTS;

/// Place of an entry in a log: the number of its segment and its number in the segment.
///
/// Ordered by segment, then entry. Printed and parsed as `segment.num`; in JSON it is one number,
/// [`Position::pack`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    segment: u32,
    num: u32,
}

/// A segment number that would not be exact as a JSON number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("log segment {segment} is out of range; it must be below {MAX_SEGMENTS}")]
pub struct SegmentOutOfRange {
    /// The segment number.
    pub segment: u64,
}

/// Text that is not a position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a position; expected SEGMENT.NUMBER, such as 0.42")]
pub struct NotAPosition {
    /// The text.
    pub text: String,
}

impl Position {
    /// The first entry of every log.
    pub const FIRST: Self = Self { segment: 0, num: 0 };
    /// The last position of any log.
    pub const LAST: Self = Self { segment: MAX_SEGMENTS - 1, num: u32::MAX };

    /// Creates a position in a segment below `MAX_SEGMENTS`.
    ///
    /// # Errors
    /// [`SegmentOutOfRange`] for a larger segment.
    pub fn new(segment: u32, num: u32) -> Result<Self, SegmentOutOfRange> {
        if segment < MAX_SEGMENTS {
            Ok(Self { segment, num })
        } else {
            Err(SegmentOutOfRange { segment: u64::from(segment) })
        }
    }

    /// Returns the number of the segment.
    #[must_use]
    pub fn segment(self) -> u32 {
        self.segment
    }

    /// Returns the number of the entry in its segment, from 0.
    #[must_use]
    pub fn num(self) -> u32 {
        self.num
    }

    /// Packs the position into one number below 2⁵³: `segment << 32 | num`.
    #[must_use]
    pub fn pack(self) -> u64 {
        (u64::from(self.segment) << 32) | u64::from(self.num)
    }

    /// Unpacks a position.
    ///
    /// # Errors
    /// [`SegmentOutOfRange`] if its segment is out of range.
    pub fn unpack(packed: u64) -> Result<Self, SegmentOutOfRange> {
        let half = |bits: u64| u32::try_from(bits).unwrap_or(u32::MAX);
        Self::new(half(packed >> 32), half(packed & u64::from(u32::MAX)))
    }

    /// Returns the first position of the same segment.
    #[must_use]
    pub fn segment_start(self) -> Self {
        Self { num: 0, ..self }
    }

    /// Returns the position twice as far before `later` as this one, within its segment. A reader
    /// that steps back this way reads each entry only a few times.
    #[must_use]
    pub fn before(self, later: Self) -> Self {
        let back = match self.segment == later.segment {
            true => later.num.saturating_sub(self.num),
            false => u32::MAX,
        };
        Self { num: self.num.saturating_sub(back), ..self }
    }

    /// Returns the next position of the same segment, unless the segment is full.
    #[must_use]
    pub fn next_in_segment(self) -> Option<Self> {
        Some(Self { segment: self.segment, num: self.num.checked_add(1)? })
    }

    /// Returns the first position of the next segment, unless there can be no more segments.
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
        let fault = || NotAPosition { text: text.to_owned() };
        let (segment, num) = text.split_once('.').ok_or_else(fault)?;
        let segment = segment.parse().map_err(|_| fault())?;
        let num = num.parse().map_err(|_| fault())?;
        Self::new(segment, num).map_err(|_| fault())
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
            .description(Some("A position in the log: log segment · 2³² + entry number."))
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
        fn every_form_reads_back(segment in 0..MAX_SEGMENTS, num: u32) {
            let position = Position::new(segment, num).unwrap();
            prop_assert_eq!(Position::unpack(position.pack()).unwrap(), position);
            prop_assert_eq!(position.to_string().parse::<Position>().unwrap(), position);
            let json = serde_json::to_string(&position).unwrap();
            prop_assert_eq!(serde_json::from_str::<Position>(&json).unwrap(), position);
        }

        #[test]
        fn packing_keeps_the_order(a in 0..MAX_SEGMENTS, b: u32, c in 0..MAX_SEGMENTS, d: u32) {
            let (left, right) = (Position::new(a, b).unwrap(), Position::new(c, d).unwrap());
            prop_assert_eq!(left.cmp(&right), left.pack().cmp(&right.pack()));
        }
    }

    #[test]
    fn segments_end_where_json_numbers_stop_being_exact() {
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
    fn going_back_doubles_the_way_and_stays_in_the_segment() {
        let at = |segment, num| Position::new(segment, num).unwrap();
        assert_eq!(at(2, 90).before(at(2, 95)), at(2, 85));
        assert_eq!(at(2, 90).before(at(2, 180)), at(2, 0));
        assert_eq!(at(2, 90).before(at(2, 190)), at(2, 0));
        assert_eq!(at(2, 90).before(at(3, 1)), at(2, 0));
    }

    #[test]
    fn a_segment_starts_at_its_first_entry() {
        let at = |segment, num| Position::new(segment, num).unwrap();
        assert_eq!(at(2, 90).segment_start(), at(2, 0));
    }

    #[test]
    fn only_segment_dot_num_is_a_position() {
        for text in ["", "5", "0.", ".1", "-1.0", "0.1.2", "a.b", "0.4294967296", "2097152.0"] {
            assert_eq!(text.parse::<Position>(), Err(NotAPosition { text: text.to_owned() }));
        }
    }
}
