//! Regions in which a stack cannot be deployed.

/// Regions without Lambda function URLs, according to the Lambda developer guide of November 2026.
/// In these regions, CloudFormation would fail after it had created the tables.
const REGIONS_WITHOUT_FUNCTION_URLS: [&str; 11] = [
    "ap-east-2",
    "ap-south-2",
    "ap-southeast-4",
    "ap-southeast-5",
    "ap-southeast-6",
    "ap-southeast-7",
    "ca-west-1",
    "eu-central-2",
    "eu-south-2",
    "il-central-1",
    "me-central-1",
];

pub(crate) fn has_function_urls(region: &str) -> bool {
    !REGIONS_WITHOUT_FUNCTION_URLS.contains(&region)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_regions_have_no_function_urls() {
        assert!(has_function_urls("eu-central-1") && has_function_urls("eusc-de-east-1"));
        assert!(!has_function_urls("eu-central-2") && !has_function_urls("il-central-1"));
        assert!(REGIONS_WITHOUT_FUNCTION_URLS.is_sorted());
    }
}
