//! What is written of integers: they themselves, their differences, or the differences of these.

use std::borrow::Cow;

use crate::chunk::bit_packing::{BLOCK, width};

/// What is done to integers before they are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transform {
    /// Nothing.
    None,
    /// The first, then the difference of each from the one before.
    Differences,
    /// The first, the first difference, then the difference of each difference from the one before.
    Curve,
}

impl Transform {
    pub(super) fn number(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Differences => 1,
            Self::Curve => 2,
        }
    }

    pub(super) fn from_number(number: u8) -> Option<Self> {
        [Self::None, Self::Differences, Self::Curve].into_iter().find(|it| it.number() == number)
    }

    /// How many numbers stand before those that are laid out.
    pub(super) fn heads(self) -> usize {
        usize::from(self.number())
    }

    /// The numbers before, and those to be laid out.
    pub(super) fn apply(self, values: &[i64]) -> (Vec<i64>, Cow<'_, [i64]>) {
        match self {
            Self::None => (Vec::new(), Cow::Borrowed(values)),
            Self::Differences => {
                (values.first().copied().into_iter().collect(), Cow::Owned(deltas(values)))
            }
            Self::Curve => {
                let slopes = deltas(values);
                let heads = values.first().into_iter().chain(slopes.first()).copied().collect();
                (heads, Cow::Owned(deltas(&slopes)))
            }
        }
    }

    /// Makes the integers from both, in place. Wraps where bytes make no sense: what comes out of
    /// these is checked by the caller.
    pub(super) fn undo(self, values: &mut [i64]) {
        match self {
            Self::None => {}
            Self::Differences => sum(values),
            Self::Curve => {
                sum(values.get_mut(1..).unwrap_or_default());
                sum(values);
            }
        }
    }
}

fn deltas(values: &[i64]) -> Vec<i64> {
    let behind = values.iter().skip(1);
    values.iter().zip(behind).map(|(one, next)| next.wrapping_sub(*one)).collect()
}

fn sum(values: &mut [i64]) {
    let mut total = 0_i64;
    for value in values {
        total = total.wrapping_add(*value);
        *value = total;
    }
}

/// Least and greatest.
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

/// The transform that leaves the fewest bits per block; the simplest of several.
pub(super) fn choose(values: &[i64]) -> Transform {
    let (mut before, mut slope) = values.first().map_or((0, 0), |first| (*first, 0));
    let mut bits = [0_u64; 3];
    for (number, block) in values.chunks(BLOCK).enumerate() {
        let mut ranges = [Range::NONE; 3];
        let [plain, differences, curve] = &mut ranges;
        for (index, value) in block.iter().enumerate() {
            let next = value.wrapping_sub(before);
            plain.add(*value);
            if number > 0 || index > 0 {
                differences.add(next);
            }
            if number > 0 || index > 1 {
                curve.add(next.wrapping_sub(slope));
            }
            (before, slope) = (*value, next);
        }
        let count = u64::try_from(block.len()).unwrap_or(0);
        for (bits, range) in bits.iter_mut().zip(ranges) {
            *bits += range.bits() * count;
        }
    }
    let transforms = [Transform::None, Transform::Differences, Transform::Curve];
    let best = transforms.into_iter().zip(bits).min_by_key(|(_, bits)| *bits);
    best.map_or(Transform::None, |(transform, _)| transform)
}
