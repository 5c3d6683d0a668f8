//! Verification of tokens (I19).

mod issuer;
mod reference;

use std::fmt::Write as _;
use std::sync::LazyLock;

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cellar_base::limits::{MAX_AUTHOR_BYTES, MAX_TOKEN_BYTES, MAX_TOKEN_SPREADSHEETS};
use cellar_catalog::access::Scope;
use cellar_runtime::settings::{PublicKey, TokenSettings};
use cellar_runtime::token::{TokenError, Verifier};

use self::reference::TokenRefusal;

/// The current time, Unix seconds.
pub(super) const NOW_S: u64 = 1_800_000_000;
pub(super) const ISSUER: &str = "cellar";
pub(super) const AUDIENCE: &str = "test";
/// Keys of the stack: id and seed.
const KEYS: [(&str, u8); 2] = [("first", 1), ("second", 2)];
/// Seed of a key that does not belong to the stack.
const STRANGER: u8 = 9;
/// Separator of header and claims: a byte that occurs in no JSON.
const HEADER_END: u8 = 0;

static VERIFIER: LazyLock<Verifier> = LazyLock::new(|| Verifier::new(&settings()).unwrap());

/// Returns the settings of a stack with both keys.
pub(crate) fn settings() -> TokenSettings {
    let key =
        |(id, seed): (&str, u8)| PublicKey { id: id.to_owned(), public_key: public_key(seed) };
    TokenSettings::own(ISSUER, AUDIENCE, KEYS.map(key).to_vec())
}

fn public_key(seed: u8) -> String {
    URL_SAFE_NO_PAD.encode(pair(seed).public_key().as_ref())
}

fn pair(seed: u8) -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap()
}

/// Signs a message with a key of the stack; returns `None` if the key id is unknown.
fn signature(id: &str, message: &str) -> Option<String> {
    let (_, seed) = KEYS.into_iter().find(|(key, _)| *key == id)?;
    Some(signature_of(seed, message))
}

fn signature_of(seed: u8, message: &str) -> String {
    URL_SAFE_NO_PAD.encode(pair(seed).sign(message.as_bytes()))
}

/// Returns a token that is signed with the stack's first key.
pub(super) fn signed(header: &[u8], claims: &[u8]) -> String {
    signed_by(KEYS[0].1, header, claims)
}

fn signed_by(seed: u8, header: &[u8], claims: &[u8]) -> String {
    let mut token =
        format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
    let signature = signature_of(seed, &token);
    write!(token, ".{signature}").unwrap();
    token
}

/// Reads a token after `t`; a header and claims to be signed after `1`, `2` (the stack's keys) or
/// `9` (another key), because a fuzzer cannot find signatures; or a key set of another issuer after
/// `k`. A token is accepted if and only if an independent verifier accepts it.
pub(super) fn read(bytes: &[u8]) -> bool {
    let Some((kind, rest)) = bytes.split_first() else { return false };
    let seed = match kind {
        b'1' => KEYS[0].1,
        b'2' => KEYS[1].1,
        b'9' => STRANGER,
        b'k' => return issuer::read(rest),
        _ => return std::str::from_utf8(rest).is_ok_and(verify),
    };
    let end = rest.iter().position(|byte| *byte == HEADER_END).unwrap_or(rest.len());
    let (header, claims) = rest.split_at(end);
    verify(&signed_by(seed, header, claims.get(1..).unwrap_or_default()))
}

fn verify(token: &str) -> bool {
    let verified = VERIFIER.verify(token, NOW_S);
    let reference = reference::verify(token);
    if verified.is_ok() || reference::is_plain(token) {
        assert_eq!(verified.as_ref().ok(), reference.as_ref().ok(), "{token}: {verified:?}");
    }
    // Only the holder of a valid token of this stack learns about an error of its times.
    if let Err(error) = &verified
        && error.clone().public() != TokenError::Invalid
    {
        assert_eq!(reference, Err(TokenRefusal::Time), "{token}: {error}");
    }
    let Ok(principal) = verified else { return false };
    assert!(token.len() <= MAX_TOKEN_BYTES);
    assert!((1..=MAX_AUTHOR_BYTES).contains(&principal.author.len()));
    assert!(!matches!(principal.scope, Scope::Only(logs) if logs.len() > MAX_TOKEN_SPREADSHEETS));
    true
}
