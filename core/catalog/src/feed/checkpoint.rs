//! Places in the feed.

use std::fmt;
use std::str::FromStr;

use cellar_base::hexadecimal::{hexadecimal, parse_hexadecimal};
use cellar_base::limits::{FEED_PARTITION_ITEMS, MAX_CHECKPOINT};

/// A place in the feed, as one number: the partition times 1,000,000, and the place in it. What is read next
/// is what stands there. 1,000,001 is place 1 of partition 1 (the seed's encoding). At most
/// [`MAX_CHECKPOINT`], so that programs whose numbers are floating-point can hold it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Checkpoint(u64);

/// A number that is no checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a checkpoint must be a whole number of at most {MAX_CHECKPOINT}")]
pub struct BadCheckpoint;

impl Checkpoint {
    /// The beginning of the first feed of a stack.
    pub const START: Self = Self(0);

    /// The place with this number.
    ///
    /// # Errors
    /// [`BadCheckpoint`] above the largest.
    pub fn new(number: u64) -> Result<Self, BadCheckpoint> {
        if number > MAX_CHECKPOINT { Err(BadCheckpoint) } else { Ok(Self(number)) }
    }

    /// A place in a partition.
    ///
    /// # Errors
    /// [`BadCheckpoint`] for a place that no partition has, or a partition above the largest.
    pub fn at(partition: u64, offset: u64) -> Result<Self, BadCheckpoint> {
        if offset >= FEED_PARTITION_ITEMS {
            return Err(BadCheckpoint);
        }
        let first = partition.checked_mul(FEED_PARTITION_ITEMS).ok_or(BadCheckpoint)?;
        Self::new(first.checked_add(offset).ok_or(BadCheckpoint)?)
    }

    /// As a number.
    #[must_use]
    pub fn number(self) -> u64 {
        self.0
    }

    /// Its partition.
    #[must_use]
    pub fn partition(self) -> u64 {
        self.0 / FEED_PARTITION_ITEMS
    }

    /// The place in its partition.
    #[must_use]
    pub fn offset(self) -> u64 {
        self.0 % FEED_PARTITION_ITEMS
    }

    /// The next place.
    ///
    /// # Errors
    /// [`BadCheckpoint`] behind the largest.
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
        // A sign is no digit.
        if !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(BadCheckpoint);
        }
        Self::new(text.parse().map_err(|_| BadCheckpoint)?)
    }
}

/// Which feed it is: random, so that a checkpoint of another stack's is seen to be one.
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

/// The feed that a partition belongs to: where it began. A feed that is built anew begins in a partition of its
/// own, and whatever is in the partitions before belongs to it no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Feed {
    /// Its id.
    pub id: FeedId,
    /// Its first partition.
    pub first_partition: u64,
}
