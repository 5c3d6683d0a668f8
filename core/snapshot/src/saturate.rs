//! Saturating conversions between integer types. A value that is out of range becomes the nearest
//! value of the target type.

/// Converts an index or length that is stored with 32 bits.
pub(crate) fn to_usize(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Converts an index or length to the 32 bits with which it is stored.
pub(crate) fn saturate_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Converts a count.
pub(crate) fn to_u64(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
