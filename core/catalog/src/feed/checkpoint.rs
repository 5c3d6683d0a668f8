//! Places in the feed.

use std::fmt;
use std::str::FromStr;

use cellar_base::hexadecimal::{hexadecimal, parse_hexadecimal};
use cellar_base::limits::{FEED_PARTITION_ITEMS, MAX_CHECKPOINT};

/// A position in the feed from which a consumer continues reading.
///
/// It is encoded as partition × [`FEED_PARTITION_ITEMS`] + offset. It is at most
/// [`MAX_CHECKPOINT`], so every JSON parser represents it exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Checkpoint(u64);

/// A number or string is not a valid checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a checkpoint must be a whole number of at most {MAX_CHECKPOINT}")]
pub struct BadCheckpoint;

impl Checkpoint {
    /// The start of the first feed of a stack.
    pub const START: Self = Self(0);

    /// Creates a checkpoint from a number.
    ///
    /// # Errors
    /// Returns [`BadCheckpoint`] if the number exceeds [`MAX_CHECKPOINT`].
    pub fn new(number: u64) -> Result<Self, BadCheckpoint> {
        if number > MAX_CHECKPOINT { Err(BadCheckpoint) } else { Ok(Self(number)) }
    }

    /// Creates a checkpoint from a partition and an offset.
    ///
    /// # Errors
    /// Returns [`BadCheckpoint`] if the offset or the partition is out of range.
    pub fn at(partition: u64, offset: u64) -> Result<Self, BadCheckpoint> {
        if offset >= FEED_PARTITION_ITEMS {
            return Err(BadCheckpoint);
        }
        let first = partition.checked_mul(FEED_PARTITION_ITEMS).ok_or(BadCheckpoint)?;
        Self::new(first.checked_add(offset).ok_or(BadCheckpoint)?)
    }

    /// Returns the number.
    #[must_use]
    pub fn number(self) -> u64 {
        self.0
    }

    /// Returns the partition.
    #[must_use]
    pub fn partition(self) -> u64 {
        self.0 / FEED_PARTITION_ITEMS
    }

    /// Returns the offset within the partition.
    #[must_use]
    pub fn offset(self) -> u64 {
        self.0 % FEED_PARTITION_ITEMS
    }

    /// Returns the next position in the feed.
    ///
    /// # Errors
    /// Returns [`BadCheckpoint`] if this position is [`MAX_CHECKPOINT`].
    pub fn next(self) -> Result<Self, BadCheckpoint> {
        Self::new(self.0.saturating_add(1))
    }
}

impl fmt::Display for Checkpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl FromStr for Checkpoint {
    type Err = BadCheckpoint;

    fn from_str(text: &str) -> Result<Self, BadCheckpoint> {
        // `u64::from_str` also accepts a leading `+`, which a checkpoint must not contain.
        if !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(BadCheckpoint);
        }
        Self::new(text.parse().map_err(|_| BadCheckpoint)?)
    }
}

/// Random id of a feed generation. It prevents a checkpoint of one generation from being used in
/// another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FeedId(pub [u8; 8]);

impl fmt::Display for FeedId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&hexadecimal(&self.0))
    }
}

impl FromStr for FeedId {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        parse_hexadecimal(text).map(Self).ok_or(())
    }
}

/// A generation of the feed. Rebuilding the feed starts a new generation in a new partition. All
/// earlier partitions belong to earlier generations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Feed {
    /// Id of the generation.
    pub id: FeedId,
    /// First partition of the generation.
    pub first_partition: u64,
}
