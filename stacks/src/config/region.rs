//! Checks the region code, and checks that ARNs are in the stack's region.

use super::error::ConfigProblem;
use super::limits::REGION_CHARS_MAX;

pub(super) fn find_region_problem(region: &str) -> Option<ConfigProblem> {
    if is_region_code(region) {
        return None;
    }
    Some(ConfigProblem::Region { value: region.to_owned() })
}

fn is_region_code(region: &str) -> bool {
    region.len() <= REGION_CHARS_MAX
        && region.contains('-')
        && region.starts_with(|first: char| first.is_ascii_lowercase())
        && region.ends_with(|last: char| last.is_ascii_digit())
        && region.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
}

/// If the configuration does not set a region, any region is accepted.
pub(super) fn find_arn_region_problem(
    field: &'static str,
    arn_region: &str,
    stack_region: Option<&str>,
) -> Option<ConfigProblem> {
    let stack_region = stack_region?;
    if arn_region == stack_region {
        return None;
    }
    Some(ConfigProblem::ArnRegion {
        field,
        region: arn_region.to_owned(),
        stack_region: stack_region.to_owned(),
    })
}
