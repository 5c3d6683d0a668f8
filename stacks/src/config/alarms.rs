//! The `alarms:` section of `cellar.yaml`: notifications and usage thresholds.

use serde::{Deserialize, Serialize};

use super::error::ConfigProblem;
use super::limits::{EMAIL_CHARS_MAX, PER_5_MINUTES, TOPIC_NAME_CHARS_MAX};
use super::{arn, region};

/// The `alarms` section: who is notified, and the thresholds of two alarms that detect abuse of the
/// public URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Alarms {
    /// The email address to notify. SNS sends no alarms until the recipient has confirmed the
    /// subscription.
    pub email: Option<String>,
    /// The ARN of an SNS topic of the customer to which alarms are published.
    pub topic_arn: Option<String>,
    /// The number of API requests per 5 minutes above which an alarm triggers. The default
    /// corresponds to 100 requests per second. At this rate, small requests cost about $3 a day.
    pub requests_per_5_minutes: u32,
    /// The number of write units per 5 minutes above which an alarm triggers. Only writes to the
    /// Entry table count. The default corresponds to 200 units per second. At this rate, writes
    /// cost about $11 a day.
    pub write_units_per_5_minutes: u32,
    /// Whether alarms detect that a function no longer reads its change stream, for example because
    /// its event source was disabled. Each such alarm watches two metrics, which are not free.
    /// Defaults to false.
    pub event_sources: bool,
}

impl Default for Alarms {
    fn default() -> Self {
        Self {
            email: None,
            topic_arn: None,
            requests_per_5_minutes: 30_000,
            write_units_per_5_minutes: 60_000,
            event_sources: false,
        }
    }
}

impl Alarms {
    pub(super) fn find_problems(&self, stack_region: Option<&str>) -> Vec<ConfigProblem> {
        let mut problems = Vec::new();
        if let Some(email) = &self.email
            && !is_email(email)
        {
            problems.push(ConfigProblem::Email { value: email.clone() });
        }
        if let Some(topic_arn) = &self.topic_arn {
            problems.extend(find_topic_problem(topic_arn, stack_region));
        }
        for (field, threshold) in [
            ("requests_per_5_minutes", self.requests_per_5_minutes),
            ("write_units_per_5_minutes", self.write_units_per_5_minutes),
        ] {
            if !PER_5_MINUTES.contains(&threshold) {
                problems.push(ConfigProblem::AlarmThreshold { field, value: threshold });
            }
        }
        problems
    }
}

fn find_topic_problem(topic_arn: &str, stack_region: Option<&str>) -> Option<ConfigProblem> {
    match arn::parse_arn(topic_arn, "sns") {
        Some(topic) if is_standard_topic_name(topic.resource) => {
            region::find_arn_region_problem("alarms.topic_arn", topic.region, stack_region)
        }
        _ => Some(ConfigProblem::TopicArn { value: topic_arn.to_owned() }),
    }
}

/// FIFO topics are rejected, because they cannot send email. Their names end with `.fifo`.
fn is_standard_topic_name(name: &str) -> bool {
    (1..=TOPIC_NAME_CHARS_MAX).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// Only the syntax is checked. Whether the address exists becomes known when its owner confirms the
/// subscription.
fn is_email(email: &str) -> bool {
    let Some((user, host)) = email.rsplit_once('@') else { return false };
    let is_plain_byte =
        |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'<' | b'>' | b',');
    let is_valid_user = !user.is_empty() && !user.contains('@');
    let is_valid_host = host.contains('.') && host.split('.').all(|label| !label.is_empty());
    email.len() <= EMAIL_CHARS_MAX
        && is_valid_user
        && is_valid_host
        && email.bytes().all(is_plain_byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(change: impl FnOnce(&mut Alarms)) -> Vec<ConfigProblem> {
        let mut alarms = Alarms::default();
        change(&mut alarms);
        alarms.find_problems(Some("eu-west-1"))
    }

    #[test]
    fn thresholds_are_bounded() {
        assert_eq!(problems(|_| {}), []);
        for value in [1, 1_000_000_000] {
            assert_eq!(problems(|alarms| alarms.requests_per_5_minutes = value), []);
            assert_eq!(problems(|alarms| alarms.write_units_per_5_minutes = value), []);
        }
        for value in [0, 1_000_000_001] {
            let field = "requests_per_5_minutes";
            assert_eq!(
                problems(|alarms| alarms.requests_per_5_minutes = value),
                [ConfigProblem::AlarmThreshold { field, value }]
            );
            let field = "write_units_per_5_minutes";
            assert_eq!(
                problems(|alarms| alarms.write_units_per_5_minutes = value),
                [ConfigProblem::AlarmThreshold { field, value }]
            );
        }
    }

    #[test]
    fn email_addresses_are_checked() {
        let with = |email: &str| problems(|alarms| alarms.email = Some(email.to_owned()));
        let long = |user: usize| format!("{}@example.com", "a".repeat(user));
        for email in ["a@b.example", "first.last+cellar@sub.example.com", &long(254 - 12)] {
            assert_eq!(with(email), [], "{email}");
        }
        for email in
            ["", "a", "@b.c", "a@", "a@b", "a@b..c", "a b@c.d", "a@b@c.d", "ä@b.c", &long(255 - 12)]
        {
            assert_eq!(with(email), [ConfigProblem::Email { value: email.to_owned() }]);
        }
    }

    #[test]
    fn topics_are_standard_and_in_the_region_of_the_stack() {
        let with = |arn: String| problems(|alarms| alarms.topic_arn = Some(arn));
        let topic = |region: &str, name: &str| format!("arn:aws:sns:{region}:123456789012:{name}");
        assert_eq!(with(topic("eu-west-1", &"t".repeat(256))), []);
        for name in ["", "a.fifo", "a:b", &"t".repeat(257)] {
            let value = topic("eu-west-1", name);
            assert_eq!(with(value.clone()), [ConfigProblem::TopicArn { value }]);
        }
        assert_eq!(
            with(topic("eu-west-2", "t")),
            [ConfigProblem::ArnRegion {
                field: "alarms.topic_arn",
                region: "eu-west-2".to_owned(),
                stack_region: "eu-west-1".to_owned()
            }]
        );
    }
}
