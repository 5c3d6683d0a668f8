//! Limits how deeply brackets may be nested in YAML text. The depth is measured before the text is
//! parsed.

/// The maximum nesting depth of brackets in YAML text. Text that is nested deeper is rejected
/// without being parsed, because the YAML parser's running time is quadratic in the depth.
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
