//! Encoding of the defined names of a root, for use in `#[cbor(with, has_nil)]`: a list with the name
//! and the stored formula of each, in alphabetical order.

use minicbor::decode::Error as DecodeError;
use minicbor::encode::{Error as EncodeError, Write};
use minicbor::{Decoder, Encoder};

use crate::cbor;
use crate::saturate::to_u64;
use cellar_base::limits::MAX_DEFINED_NAMES;
use cellar_sheet::metadata::DefinedNames;

pub(super) fn encode<Ctx, W: Write>(
    names: &DefinedNames,
    encoder: &mut Encoder<W>,
    _: &mut Ctx,
) -> Result<(), EncodeError<W::Error>> {
    encoder.array(to_u64(names.len()))?;
    for name in names.iter() {
        encoder.encode((name.name(), name.template().encoded()))?;
    }
    Ok(())
}

pub(super) fn decode<Ctx>(
    decoder: &mut Decoder<'_>,
    context: &mut Ctx,
) -> Result<DefinedNames, DecodeError> {
    let stored = cbor::at_most::<_, (String, String), MAX_DEFINED_NAMES>(decoder, context)?;
    DefinedNames::from_stored(stored)
        .map_err(|_| DecodeError::message("the defined names are invalid"))
}

pub(super) fn is_nil(names: &DefinedNames) -> bool {
    names.is_empty()
}

pub(super) fn nil() -> Option<DefinedNames> {
    Some(DefinedNames::default())
}
