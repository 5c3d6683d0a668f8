//! Keys and tokens of the operator.

mod add_key;
mod key_file;
mod mint;

pub(crate) use add_key::add_public_key;
pub(crate) use key_file::{own_key, read_key, read_or_make_key};
pub(crate) use mint::{Grant, mint, mint_for_operator};
