//! Tokens that the formulas of all workbook formats have in common.

/// Returns the length of the quoted text or name at the start of `text`, up to the next quote. A
/// text that contains a doubled quote thus counts as two quoted texts.
pub(crate) fn quoted_token_bytes(text: &str, quote: char) -> usize {
    let closing_quote = text.char_indices().skip(1).find(|(_, character)| *character == quote);
    closing_quote.map_or(text.len(), |(index, _)| index + quote.len_utf8())
}
