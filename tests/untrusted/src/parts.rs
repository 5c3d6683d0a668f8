//! Inputs that consist of several parts.

/// Separator of the parts of an input: bytes that occur in neither XML nor JSON.
const PART_END: [u8; 3] = [0xFF, 0x00, 0xFF];

/// Splits an input at the separators.
pub(super) fn split(mut bytes: &[u8]) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    while let Some(at) = bytes.windows(PART_END.len()).position(|window| window == PART_END) {
        let (part, rest) = bytes.split_at(at);
        parts.push(part);
        bytes = rest.get(PART_END.len()..).unwrap_or_default();
    }
    parts.push(bytes);
    parts
}
