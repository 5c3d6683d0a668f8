//! Checks that the API receives queries with spaces. A Lambda function URL decodes them in its own
//! way.

use std::time::Duration;

use cellar::{Client, SpreadsheetsQuery};

use crate::smoke::report::{CheckOutcome, CheckResult};
use crate::smoke::target::SmokeTarget;

const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// A list request whose query is form-encoded, as browsers encode the fields of a form.
const FORM_ENCODED_LIST: &str = "/v1/spreadsheets?limit=1&name=smoke+test";

/// Checks that a space in a query is accepted in both encodings, `%20` and `+`.
pub(super) async fn accepts_spaces_in_queries(
    target: &SmokeTarget<'_>,
    client: &Client,
) -> CheckResult {
    let query = SpreadsheetsQuery::default().with_name("smoke test").with_limit(1);
    client.spreadsheets_page(&query).await?;
    let url = format!("{}{FORM_ENCODED_LIST}", target.url.trim_end_matches('/'));
    Ok(match get_status(&url, target.token).await {
        Ok(status) if status.is_success() => CheckOutcome::Passed,
        Ok(status) => CheckOutcome::Failed(format!("`name=smoke+test` returned {status}")),
        Err(error) => CheckOutcome::Failed(format!("`name=smoke+test` failed: {error}")),
    })
}

async fn get_status(url: &str, token: &str) -> Result<reqwest::StatusCode, reqwest::Error> {
    let http_client = reqwest::Client::builder().timeout(REQUEST_TIMEOUT).build()?;
    Ok(http_client.get(url).bearer_auth(token).send().await?.status())
}
