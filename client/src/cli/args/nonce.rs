//! The option `--nonce` of `cellar create` and `cellar fork`.

use cellar_base::limits::MAX_NONCE_BYTES;

pub(super) fn parse_nonce(text: &str) -> Result<String, String> {
    if text.is_empty() || text.len() > MAX_NONCE_BYTES {
        let length = text.len();
        return Err(format!("the nonce has {length} bytes; it must have 1 to {MAX_NONCE_BYTES}"));
    }
    Ok(text.to_owned())
}
