//! Retries of idempotent requests.

use cellar_base::backoff::{full_jitter_ms, longest_ms};
use cellar_base::limits::MAX_READ_ATTEMPTS;

use crate::ports::{Clock, PortError, Random};

/// Performs an idempotent request for an operator. Temporary failures are retried, up to
/// `MAX_READ_ATTEMPTS` attempts in total. Each delay is the maximum delay of its attempt.
pub(crate) async fn retry_temporary_errors<T, F>(
    clock: &dyn Clock,
    send_request: impl Fn() -> F,
) -> Result<T, PortError>
where
    F: Future<Output = Result<T, PortError>>,
{
    retry_with_delays(clock, longest_ms, send_request).await
}

/// Performs an idempotent request for one of many concurrent clients. Temporary failures are
/// retried, up to `MAX_READ_ATTEMPTS` attempts in total. The delays are random (full jitter).
pub(crate) async fn retry_with_jitter<T, F>(
    clock: &dyn Clock,
    random: &dyn Random,
    send_request: impl Fn() -> F,
) -> Result<T, PortError>
where
    F: Future<Output = Result<T, PortError>>,
{
    let jitter_ms = |attempt| full_jitter_ms(attempt, random.next());
    retry_with_delays(clock, jitter_ms, send_request).await
}

async fn retry_with_delays<T, F>(
    clock: &dyn Clock,
    delay_ms: impl Fn(u32) -> u64,
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
                clock.sleep_ms(delay_ms(attempt)).await;
                attempt += 1;
            }
            result => return result,
        }
    }
}
