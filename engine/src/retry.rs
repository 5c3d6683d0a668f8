//! Retries for the idempotent requests of operator commands.

use cellar_base::backoff::longest_ms;
use cellar_base::limits::MAX_READ_ATTEMPTS;

use crate::ports::{Clock, PortError};

/// Performs an idempotent request. Temporary failures are retried, up to `MAX_READ_ATTEMPTS`
/// attempts in total.
pub(crate) async fn retry_temporary_errors<T, F>(
    clock: &dyn Clock,
    send_request: impl Fn() -> F,
) -> Result<T, PortError>
where
    F: Future<Output = Result<T, PortError>>,
{
    let mut attempt = 1;
    loop {
        match send_request().await {
            Err(error) if error.temporary && attempt < MAX_READ_ATTEMPTS => {
                tracing::warn!(attempt, %error, "a request failed; retrying");
                clock.sleep_ms(longest_ms(attempt)).await;
                attempt += 1;
            }
            result => return result,
        }
    }
}
