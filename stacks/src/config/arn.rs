//! ARNs of what a customer has already: their form, and where they are.

/// An ARN taken apart; nothing is known yet of the resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arn<'a> {
    /// The region.
    pub(super) region: &'a str,
    /// What it is in its service and account.
    pub(super) resource: &'a str,
}

/// Digits of the id of an account.
const ACCOUNT_DIGITS: usize = 12;

/// The parts of an ARN of that service, if it is one with a region and an account.
pub(super) fn of_service<'a>(text: &'a str, service: &str) -> Option<Arn<'a>> {
    let mut parts = text.splitn(6, ':');
    let mut next = || parts.next();
    let (arn, partition, named) = (next()?, next()?, next()?);
    let (region, account, resource) = (next()?, next()?, next()?);
    let is_partition =
        partition.starts_with("aws") && partition.bytes().all(|b| matches!(b, b'a'..=b'z' | b'-'));
    let is_region =
        !region.is_empty() && region.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-'));
    let is_account = account.len() == ACCOUNT_DIGITS && account.bytes().all(|b| b.is_ascii_digit());
    let fits = arn == "arn" && is_partition && named == service && is_region && is_account;
    fits.then_some(Arn { region, resource })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arn_has_a_partition_a_region_and_an_account() {
        let arn = of_service("arn:aws-cn:sns:cn-north-1:123456789012:a:b", "sns");
        assert_eq!(arn, Some(Arn { region: "cn-north-1", resource: "a:b" }));
        for text in [
            "",
            "arn",
            "arn:aws:sns:eu-west-1:123456789012",
            "arn:aws:sqs:eu-west-1:123456789012:a",
            "arn:azure:sns:eu-west-1:123456789012:a",
            "arn:aws:sns::123456789012:a",
            "arn:aws:sns:eu west:123456789012:a",
            "arn:aws:sns:eu-west-1:12345678901:a",
            "arn:aws:sns:eu-west-1:12345678901a:a",
            "ARN:aws:sns:eu-west-1:123456789012:a",
        ] {
            assert_eq!(of_service(text, "sns"), None, "{text}");
        }
    }
}
