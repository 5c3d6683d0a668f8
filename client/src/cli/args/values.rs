//! Parsers of values that several commands take.

use cellar_base::limits::MAX_NONCE_BYTES;
use cellar_catalog::spreadsheet::{BadName, Name};

pub(super) fn parse_name(text: &str) -> Result<Name, BadName> {
    Name::new(text)
}

pub(super) fn parse_nonce(text: &str) -> Result<String, String> {
    if text.is_empty() || text.len() > MAX_NONCE_BYTES {
        let length = text.len();
        return Err(format!("the nonce has {length} bytes; it must have 1 to {MAX_NONCE_BYTES}"));
    }
    Ok(text.to_owned())
}
