//! Rules for the ids of the mutations in a request.

use super::InvalidRequest;
use cellar_base::limits::MAX_MUTATION_ID;

pub(super) fn last_id(first_id: u64, count: u64) -> u64 {
    first_id.saturating_add(count).saturating_sub(1)
}

/// Checks that the ids are consecutive, start at 1 or higher and do not exceed the maximum.
pub(super) fn check_ids_are_consecutive(ids: &[u64]) -> Result<(), InvalidRequest> {
    let mut previous_id = None;
    for id in ids.iter().copied() {
        check_id_is_not_too_large(id)?;
        let is_next_id = match previous_id {
            None => id > 0,
            Some(previous_id) => id == previous_id + 1,
        };
        if !is_next_id {
            return Err(InvalidRequest::IdsNotConsecutive { before: previous_id.unwrap_or(0), id });
        }
        previous_id = Some(id);
    }
    Ok(())
}

pub(super) fn check_id_is_not_too_large(id: u64) -> Result<(), InvalidRequest> {
    if id > MAX_MUTATION_ID { Err(InvalidRequest::IdTooLarge { id }) } else { Ok(()) }
}
