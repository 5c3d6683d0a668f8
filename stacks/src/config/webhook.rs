//! The `webhook:` section of `cellar.yaml`.

use cellar_catalog::oidc::is_trustworthy;
use cellar_catalog::webhook::Receivers;
use serde::{Deserialize, Serialize};

use super::error::ConfigProblem;
use super::limits::WEBHOOK_URL_CHARS_MAX;

/// Settings of the webhook that receives the feed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Webhook {
    /// The URL to which the feed is delivered. It must be an HTTPS URL with a public host. A local
    /// URL is also accepted, for development.
    pub url: String,
    /// Whether deliveries include the payloads of events. Payloads contain data such as names and
    /// users. Defaults to false.
    #[serde(default)]
    pub payloads: bool,
}

impl Webhook {
    pub(super) fn find_problem(&self) -> Option<ConfigProblem> {
        let is_valid_url = self.url.len() <= WEBHOOK_URL_CHARS_MAX
            && is_trustworthy(&self.url)
            && Receivers::PublicAndLocalhost.allows_url(&self.url);
        if is_valid_url { None } else { Some(ConfigProblem::WebhookUrl) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    fn problems(url: String) -> Vec<ConfigProblem> {
        let webhook = Some(Webhook { url, payloads: false });
        Config { webhook, ..Config::default() }.problems()
    }

    #[test]
    fn a_webhook_is_a_url() {
        let config = Config::parse("webhook: {url: 'https://a.example/hook'}", "f").unwrap();
        assert_eq!(config.webhook.as_ref().map(|webhook| webhook.payloads), Some(false));
        let again = serde_yaml::to_string(&config).unwrap();
        assert_eq!(Config::parse(&again, "f").unwrap(), config);
        for wrong in ["webhook: {}", "webhook: {url: 'https://a.example', secret: x}"] {
            assert!(Config::parse(wrong, "f").is_err(), "{wrong}");
        }
    }

    #[test]
    fn urls_are_bounded_and_not_in_clear_text() {
        let long = |bytes: usize| format!("https://{}", "a".repeat(bytes - "https://".len()));
        assert_eq!(problems(long(WEBHOOK_URL_CHARS_MAX)), []);
        for url in [
            long(WEBHOOK_URL_CHARS_MAX + 1),
            String::new(),
            "http://a.example/hook".to_owned(),
            "a.example".to_owned(),
        ] {
            assert_eq!(problems(url), [ConfigProblem::WebhookUrl]);
        }
    }

    #[test]
    fn urls_within_a_network_are_refused() {
        assert_eq!(problems("http://127.0.0.1:9000/hook".to_owned()), []);
        for url in [
            "https://169.254.169.254/latest",
            "https://localhost/hook",
            "https://10.0.0.7",
            "https://[::1]/",
            "https://2130706433/",
        ] {
            assert_eq!(problems(url.to_owned()), [ConfigProblem::WebhookUrl], "{url}");
        }
    }
}
