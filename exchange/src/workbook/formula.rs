//! Parts of the formula syntax that all workbook formats share.

/// Returns the length of the quoted token at the start of `text`, including both quotes. A doubled
/// quote ends one token and starts the next.
pub(crate) fn quoted_token_bytes(text: &str, quote: char) -> usize {
    let closing_quote = text.char_indices().skip(1).find(|(_, character)| *character == quote);
    closing_quote.map_or(text.len(), |(index, _)| index + quote.len_utf8())
}
