//! Amazon Resource Names (ARNs) of existing customer resources.

/// The validated parts of an ARN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arn<'a> {
    pub(super) region: &'a str,
    /// The text after the account id.
    pub(super) resource: &'a str,
}

/// Number of digits of an AWS account id.
const ACCOUNT_DIGITS: usize = 12;

/// Parses the ARN of a `service` resource. Returns `None` if the text is not such an ARN, or if the
/// ARN has no region or account.
pub(super) fn parse<'a>(text: &'a str, service: &str) -> Option<Arn<'a>> {
    let mut fields = text.splitn(6, ':');
    let mut next_field = || fields.next();
    let prefix = next_field()?;
    let partition = next_field()?;
    let arn_service = next_field()?;
    let region = next_field()?;
    let account = next_field()?;
    let resource = next_field()?;
    let is_partition =
        partition.starts_with("aws") && partition.bytes().all(|b| matches!(b, b'a'..=b'z' | b'-'));
    let is_region =
        !region.is_empty() && region.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-'));
    let is_account = account.len() == ACCOUNT_DIGITS && account.bytes().all(|b| b.is_ascii_digit());
    let is_valid =
        prefix == "arn" && is_partition && arn_service == service && is_region && is_account;
    is_valid.then_some(Arn { region, resource })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arn_has_a_partition_a_region_and_an_account() {
        let arn = parse("arn:aws-cn:sns:cn-north-1:123456789012:a:b", "sns");
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
            assert_eq!(parse(text, "sns"), None, "{text}");
        }
    }
}
