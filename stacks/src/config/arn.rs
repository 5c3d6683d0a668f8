//! Parses the Amazon Resource Names (ARNs) of resources that the customer owns.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arn<'a> {
    pub(super) region: &'a str,
    /// The part after the account id, such as `key/ID`.
    pub(super) resource: &'a str,
}

const ACCOUNT_DIGITS: usize = 12;

/// Parses the ARN of a resource of the AWS service `service`. Returns `None` if `text` is not an
/// ARN of this service, or if the ARN has no region or no account id.
pub(super) fn parse_arn<'a>(text: &'a str, service: &str) -> Option<Arn<'a>> {
    const FIELD_COUNT: usize = 6;
    let fields: Vec<&str> = text.splitn(FIELD_COUNT, ':').collect();
    let [prefix, partition, arn_service, region, account, resource] = *fields.as_slice() else {
        return None;
    };
    let is_valid = prefix == "arn"
        && is_partition(partition)
        && arn_service == service
        && is_region(region)
        && is_account_id(account);
    if !is_valid {
        return None;
    }
    Some(Arn { region, resource })
}

fn is_partition(text: &str) -> bool {
    text.starts_with("aws") && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'-'))
}

fn is_region(text: &str) -> bool {
    let is_region_byte = |byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
    !text.is_empty() && text.bytes().all(is_region_byte)
}

fn is_account_id(text: &str) -> bool {
    text.len() == ACCOUNT_DIGITS && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arn_has_a_partition_a_region_and_an_account() {
        let arn = parse_arn("arn:aws-cn:sns:cn-north-1:123456789012:a:b", "sns");
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
            assert_eq!(parse_arn(text, "sns"), None, "{text}");
        }
    }
}
