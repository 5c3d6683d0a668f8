//! Validates a template before it is sent to AWS.

mod cycles;
mod keys;
mod permissions;
mod references;
mod size;
mod visibility;

use super::error::SynthesisError;
use crate::template::Template;

/// Returns all faults of a template, in a fixed order.
pub(super) fn find_faults(template: &Template) -> Vec<SynthesisError> {
    let mut faults = references::find_reference_faults(template);
    faults.extend(cycles::find_cycles(template));
    faults.extend(keys::find_key_faults(template));
    faults.extend(permissions::find_permission_faults(template));
    faults.extend(visibility::find_short_visibility_timeouts(template));
    faults.extend(size::find_exceeded_limits(template));
    faults
}
