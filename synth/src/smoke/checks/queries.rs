//! Checks that the API receives queries with spaces. A Lambda function URL decodes them in its own
//! way.

use cellar::{SpreadsheetsQuery, http_client};
use reqwest::Url;

use crate::smoke::report::{CheckOutcome, CheckResult};
use crate::smoke::target::SmokeTarget;

const READ_TIMEOUT_MS: u64 = 30_000;
/// A list request whose query is form-encoded, as browsers encode the fields of a form.
const FORM_ENCODED_LIST: &str = "/v1/spreadsheets?limit=1&name=smoke+test";

/// Checks that a space in a query is accepted in both encodings, `%20` and `+`. The requests have
/// the token of the target, so that it is checked as well.
pub(super) async fn accepts_spaces_in_queries(target: &SmokeTarget<'_>) -> CheckResult {
    let query = SpreadsheetsQuery::default().with_name("smoke test").with_limit(1);
    target.client(Some(target.token))?.spreadsheets_page(&query).await?;
    let url_text = format!("{}{FORM_ENCODED_LIST}", target.url.trim_end_matches('/'));
    let url = match Url::parse(&url_text) {
        Ok(url) => url,
        Err(error) => return Ok(CheckOutcome::Failed(format!("{url_text}: {error}"))),
    };
    let http = http_client(&url, READ_TIMEOUT_MS)?;
    Ok(match http.get(url).bearer_auth(target.token).send().await {
        Ok(response) if response.status().is_success() => CheckOutcome::Passed,
        Ok(response) => {
            CheckOutcome::Failed(format!("`name=smoke+test` returned {}", response.status()))
        }
        Err(error) => CheckOutcome::Failed(format!("`name=smoke+test` failed: {error}")),
    })
}
