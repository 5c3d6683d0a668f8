//! Signing keys and tokens.

mod add_key;
mod key_file;
mod mint;

pub(crate) use add_key::add_public_key;
pub(crate) use key_file::{
    operator_key, read_key, read_local_key, read_operator_key, read_or_create_key,
};
pub(crate) use mint::{Grant, MintedToken, mint, mint_for_operator};
