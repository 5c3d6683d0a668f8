//! Everything that can be told about a template before AWS sees it.

mod circles;
mod keys;
mod permissions;
mod references;
mod size;
mod visibility;

use super::error::SynthesisError;
use crate::template::Template;

/// All faults, in a fixed order.
pub(super) fn findings(template: &Template) -> Vec<SynthesisError> {
    let mut findings = references::findings(template);
    findings.extend(circles::findings(template));
    findings.extend(keys::findings(template));
    findings.extend(permissions::findings(template));
    findings.extend(visibility::findings(template));
    findings.extend(size::findings(template));
    findings
}
