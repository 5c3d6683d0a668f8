//! Measures how deeply brackets are nested in a text that is not parsed yet.

/// Maximum bracket nesting depth in YAML. Deeper texts are not parsed, because the YAML parser's
/// running time is quadratic in the depth.
pub(crate) const BRACKET_DEPTH_MAX: usize = 1_000;

/// Returns the maximum bracket nesting depth of `text`, including brackets inside strings.
pub(crate) fn bracket_depth(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut max_depth = 0;
    for byte in text.bytes() {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        max_depth = max_depth.max(depth);
    }
    max_depth
}
