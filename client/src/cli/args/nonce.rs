//! The option `--nonce` of `cellar create` and `cellar fork`.

use cellar_base::limits::MAX_NONCE_BYTES;

pub(super) fn parse_nonce(text: &str) -> Result<String, String> {
    if text.is_empty() || text.len() > MAX_NONCE_BYTES {
        let length = text.len();
        return Err(format!(
            "the nonce is {length} bytes long; its length must be between 1 and {MAX_NONCE_BYTES} bytes"
        ));
    }
    Ok(text.to_owned())
}
