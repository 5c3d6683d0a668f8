//! Measures the nesting depth of brackets in a text before the text is parsed.

/// Maximum nesting depth of brackets in YAML. The YAML parser has its own limit, but its running
/// time grows with the square of the depth.
pub(crate) const BRACKET_DEPTH_MAX: usize = 1_000;

/// Returns the maximum nesting depth of brackets in `text`, counting brackets inside strings.
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
