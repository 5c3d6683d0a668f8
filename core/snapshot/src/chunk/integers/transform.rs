//! Transforms of integer lists: none, deltas, or deltas of deltas.

use std::borrow::Cow;

use super::integer_range::IntegerRange;
use crate::chunk::bit_packing::MAX_BLOCK_LENGTH;
use crate::saturate::to_u64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transform {
    None = 0,
    /// The first integer, followed by the differences between consecutive integers (deltas).
    Differences = 1,
    /// The first integer and the first delta, followed by the differences between consecutive
    /// deltas.
    SecondDifferences = 2,
}

/// All transforms, simplest first.
const TRANSFORMS: [Transform; 3] =
    [Transform::None, Transform::Differences, Transform::SecondDifferences];

pub(super) struct TransformedIntegers<'a> {
    /// Leading integers, which are stored in front of the layout.
    pub(super) leading_integers: Vec<i64>,
    pub(super) body: Cow<'a, [i64]>,
}

impl Transform {
    pub(super) fn number(self) -> u8 {
        self as u8
    }

    pub(super) fn from_number(number: u8) -> Option<Self> {
        TRANSFORMS.into_iter().find(|transform| transform.number() == number)
    }

    pub(super) fn leading_integer_count(self) -> usize {
        usize::from(self.number())
    }

    pub(super) fn apply(self, values: &[i64]) -> TransformedIntegers<'_> {
        let first_value = values.first().copied();
        match self {
            Self::None => {
                TransformedIntegers { leading_integers: Vec::new(), body: Cow::Borrowed(values) }
            }
            Self::Differences => TransformedIntegers {
                leading_integers: Vec::from_iter(first_value),
                body: Cow::Owned(differences_of(values)),
            },
            Self::SecondDifferences => {
                let differences = differences_of(values);
                let first_difference = differences.first().copied();
                TransformedIntegers {
                    leading_integers: first_value.into_iter().chain(first_difference).collect(),
                    body: Cow::Owned(differences_of(&differences)),
                }
            }
        }
    }

    /// Malformed input may make integers wrap around, so the caller must check the result.
    pub(super) fn undo(self, values: &mut [i64]) {
        match self {
            Self::None => {}
            Self::Differences => replace_by_prefix_sums(values),
            Self::SecondDifferences => {
                replace_by_prefix_sums(values.get_mut(1..).unwrap_or_default());
                replace_by_prefix_sums(values);
            }
        }
    }
}

fn differences_of(values: &[i64]) -> Vec<i64> {
    let next_values = values.iter().skip(1);
    values.iter().zip(next_values).map(|(value, next)| next.wrapping_sub(*value)).collect()
}

fn replace_by_prefix_sums(values: &mut [i64]) {
    let mut prefix_sum = 0_i64;
    for value in values {
        prefix_sum = prefix_sum.wrapping_add(*value);
        *value = prefix_sum;
    }
}

/// The last integer before a block, and the difference between that integer and its predecessor.
#[derive(Default)]
struct Predecessors {
    value: Option<i64>,
    difference: Option<i64>,
}

impl Predecessors {
    /// Returns the range of a block under each transform, in the order of `TRANSFORMS`, and
    /// advances past the block.
    fn advance_past(&mut self, block: &[i64]) -> [IntegerRange; TRANSFORMS.len()] {
        let mut value_range = IntegerRange::EMPTY;
        let mut difference_range = IntegerRange::EMPTY;
        let mut second_difference_range = IntegerRange::EMPTY;
        for &value in block {
            value_range.include(value);
            let difference = self.value.map(|previous| value.wrapping_sub(previous));
            if let Some(difference) = difference {
                difference_range.include(difference);
                if let Some(previous_difference) = self.difference {
                    second_difference_range.include(difference.wrapping_sub(previous_difference));
                }
            }
            *self = Self { value: Some(value), difference };
        }
        [value_range, difference_range, second_difference_range]
    }
}

/// Returns the transform that needs the fewest bits per block. In a tie, returns the simplest
/// transform.
pub(super) fn choose_transform(values: &[i64]) -> Transform {
    let mut bits_by_transform = [0_u64; TRANSFORMS.len()];
    let mut predecessors = Predecessors::default();
    for block in values.chunks(MAX_BLOCK_LENGTH) {
        let ranges_by_transform = predecessors.advance_past(block);
        for (bits, range) in bits_by_transform.iter_mut().zip(ranges_by_transform) {
            *bits += u64::from(range.offset_bits()) * to_u64(block.len());
        }
    }
    let smallest = TRANSFORMS.into_iter().zip(bits_by_transform).min_by_key(|(_, bits)| *bits);
    smallest.map_or(Transform::None, |(transform, _)| transform)
}
