//! `alarms:` of `cellar.yaml`: who is told, and from when on use is too much.

use serde::{Deserialize, Serialize};

use super::arn;
use super::encryption::elsewhere;
use super::error::ConfigProblem;
use super::limits::{EMAIL_CHARS_MAX, PER_5_MINUTES, TOPIC_NAME_CHARS_MAX};

/// Who is told of alarms, and the two that guard against abuse of the public URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Alarms {
    /// Address that is written to, once its owner has confirmed it; absent means nobody is.
    pub email: Option<String>,
    /// ARN of an SNS topic of one's own that is told; absent means none is.
    pub topic_arn: Option<String>,
    /// Requests within 5 minutes above which an alarm goes off; default 30,000, which is 100 a
    /// second, or about $3 a day of small requests.
    pub requests_per_5_minutes: u32,
    /// Write units of the Entry table within 5 minutes above which an alarm goes off; default
    /// 60,000, which is 200 a second, or about $11 a day.
    pub write_units_per_5_minutes: u32,
}

impl Default for Alarms {
    fn default() -> Self {
        Self {
            email: None,
            topic_arn: None,
            requests_per_5_minutes: 30_000,
            write_units_per_5_minutes: 60_000,
        }
    }
}

impl Alarms {
    pub(super) fn check(&self, region: Option<&str>, problems: &mut Vec<ConfigProblem>) {
        if let Some(value) = self.email.clone().filter(|email| !is_email(email)) {
            problems.push(ConfigProblem::Email { value });
        }
        if let Some(value) = &self.topic_arn {
            match arn::of_service(value, "sns").filter(|arn| is_topic(arn.resource)) {
                None => problems.push(ConfigProblem::TopicArn { value: value.clone() }),
                Some(topic) => {
                    problems.extend(elsewhere("alarms.topic_arn", topic.region, region));
                }
            }
        }
        for (field, value) in [
            ("requests_per_5_minutes", self.requests_per_5_minutes),
            ("write_units_per_5_minutes", self.write_units_per_5_minutes),
        ] {
            if !PER_5_MINUTES.contains(&value) {
                problems.push(ConfigProblem::AlarmAbove { field, value });
            }
        }
    }
}

/// A topic's own name. FIFO topics, which end in `.fifo`, send no e-mails.
fn is_topic(name: &str) -> bool {
    (1..=TOPIC_NAME_CHARS_MAX).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

/// Whether it may be an address; whether it is one, its owner confirms.
fn is_email(email: &str) -> bool {
    let Some((user, host)) = email.rsplit_once('@') else { return false };
    let is_plain = |b: u8| b.is_ascii_graphic() && !matches!(b, b'"' | b'<' | b'>' | b',');
    email.len() <= EMAIL_CHARS_MAX
        && !user.is_empty()
        && !user.contains('@')
        && host.split('.').count() >= 2
        && host.split('.').all(|label| !label.is_empty())
        && email.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(change: impl FnOnce(&mut Alarms)) -> Vec<ConfigProblem> {
        let (mut alarms, mut problems) = (Alarms::default(), Vec::new());
        change(&mut alarms);
        alarms.check(Some("eu-west-1"), &mut problems);
        problems
    }

    #[test]
    fn numbers_are_accepted_at_their_bounds_and_refused_beyond() {
        assert_eq!(problems(|_| {}), []);
        for value in [1, 1_000_000_000] {
            assert_eq!(problems(|alarms| alarms.requests_per_5_minutes = value), []);
            assert_eq!(problems(|alarms| alarms.write_units_per_5_minutes = value), []);
        }
        for value in [0, 1_000_000_001] {
            let field = "requests_per_5_minutes";
            assert_eq!(
                problems(|alarms| alarms.requests_per_5_minutes = value),
                [ConfigProblem::AlarmAbove { field, value }]
            );
            let field = "write_units_per_5_minutes";
            assert_eq!(
                problems(|alarms| alarms.write_units_per_5_minutes = value),
                [ConfigProblem::AlarmAbove { field, value }]
            );
        }
    }

    #[test]
    fn addresses_have_the_form_of_one() {
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
                wanted: "eu-west-1".to_owned()
            }]
        );
    }
}
