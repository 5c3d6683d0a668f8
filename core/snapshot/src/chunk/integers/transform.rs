//! Transforms of integer lists: none, deltas, or deltas of deltas.

use std::borrow::Cow;

use crate::chunk::bit_packing::{BLOCK, width};

/// Transform applied to an integer list before it is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transform {
    /// The integers themselves.
    None,
    /// The first integer, followed by the deltas between consecutive integers.
    Differences,
    /// The first integer and the first delta, followed by the differences between consecutive
    /// deltas.
    SecondDifferences,
}

impl Transform {
    pub(super) fn number(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Differences => 1,
            Self::SecondDifferences => 2,
        }
    }

    pub(super) fn from_number(number: u8) -> Option<Self> {
        let all = [Self::None, Self::Differences, Self::SecondDifferences];
        all.into_iter().find(|transform| transform.number() == number)
    }

    /// Returns the number of leading integers that are stored separately, before the layout.
    pub(super) fn heads(self) -> usize {
        usize::from(self.number())
    }

    /// Returns the leading integers to store separately and the integers to lay out.
    pub(super) fn apply(self, values: &[i64]) -> (Vec<i64>, Cow<'_, [i64]>) {
        match self {
            Self::None => (Vec::new(), Cow::Borrowed(values)),
            Self::Differences => {
                (values.first().copied().into_iter().collect(), Cow::Owned(deltas(values)))
            }
            Self::SecondDifferences => {
                let slopes = deltas(values);
                let heads = values.first().into_iter().chain(slopes.first()).copied().collect();
                (heads, Cow::Owned(deltas(&slopes)))
            }
        }
    }

    /// Reverses the transform in place. Malformed input may overflow and wrap around; the caller
    /// must check the result.
    pub(super) fn undo(self, values: &mut [i64]) {
        match self {
            Self::None => {}
            Self::Differences => accumulate(values),
            Self::SecondDifferences => {
                accumulate(values.get_mut(1..).unwrap_or_default());
                accumulate(values);
            }
        }
    }
}

fn deltas(values: &[i64]) -> Vec<i64> {
    let next_values = values.iter().skip(1);
    values.iter().zip(next_values).map(|(one, next)| next.wrapping_sub(*one)).collect()
}

/// Replaces the integers by their prefix sums.
fn accumulate(values: &mut [i64]) {
    let mut total = 0_i64;
    for value in values {
        total = total.wrapping_add(*value);
        *value = total;
    }
}

/// Minimum and maximum of a list of integers.
#[derive(Clone, Copy)]
struct Range(i64, i64);

impl Range {
    const NONE: Self = Self(i64::MAX, i64::MIN);

    fn add(&mut self, value: i64) {
        self.0 = self.0.min(value);
        self.1 = self.1.max(value);
    }

    fn bits(self) -> u64 {
        if self.1 < self.0 { 0 } else { u64::from(width(self.1.abs_diff(self.0))) }
    }
}

/// Returns the transform that needs the fewest bits per block; ties go to the simplest transform.
pub(super) fn choose_transform(values: &[i64]) -> Transform {
    let (mut previous, mut slope) = values.first().map_or((0, 0), |first| (*first, 0));
    let mut total_bits = [0_u64; 3];
    for (block_index, block) in values.chunks(BLOCK).enumerate() {
        let mut ranges = [Range::NONE; 3];
        let [plain, differences, second_differences] = &mut ranges;
        for (index, value) in block.iter().enumerate() {
            let difference = value.wrapping_sub(previous);
            plain.add(*value);
            if block_index > 0 || index > 0 {
                differences.add(difference);
            }
            if block_index > 0 || index > 1 {
                second_differences.add(difference.wrapping_sub(slope));
            }
            (previous, slope) = (*value, difference);
        }
        let count = u64::try_from(block.len()).unwrap_or(0);
        for (bits, range) in total_bits.iter_mut().zip(ranges) {
            *bits += range.bits() * count;
        }
    }
    let transforms = [Transform::None, Transform::Differences, Transform::SecondDifferences];
    let best = transforms.into_iter().zip(total_bits).min_by_key(|(_, bits)| *bits);
    best.map_or(Transform::None, |(transform, _)| transform)
}
