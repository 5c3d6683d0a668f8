//! How deep a text goes, before a parser is asked to follow it.

/// Brackets of YAML that are open at a time, those in texts included. The parser reads no value that
/// deep, but takes a time that grows with the square of the depth to say so.
pub(crate) const OPEN_BRACKETS_MAX: usize = 1_000;

/// How many brackets are open at a time, wherever they stand.
pub(crate) fn open_brackets(text: &str) -> usize {
    let mut open = 0_usize;
    let mut most = 0;
    for byte in text.bytes() {
        match byte {
            b'[' | b'{' => open = open.saturating_add(1),
            b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        most = most.max(open);
    }
    most
}
