//! Runs tasks concurrently, up to a maximum number at a time.

use tokio::task::{JoinError, JoinSet};

use crate::ClientError;

/// Runs one task per input and at most `max_tasks` tasks at a time. Passes each result to
/// `handle_result` as soon as it is available. If `handle_result` returns an error, all other tasks
/// are cancelled and the error is returned.
pub(crate) async fn run_concurrently<I, T: Send + 'static, F, E>(
    max_tasks: usize,
    inputs: impl IntoIterator<Item = I>,
    create_task: impl Fn(I) -> F,
    mut handle_result: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E>
where
    F: Future<Output = T> + Send + 'static,
    E: From<ClientError>,
{
    let mut remaining_inputs = inputs.into_iter();
    let mut running_tasks = JoinSet::new();
    for input in remaining_inputs.by_ref().take(max_tasks) {
        running_tasks.spawn(create_task(input));
    }
    while let Some(joined) = running_tasks.join_next().await {
        handle_result(joined.map_err(|error| task_error(&error))?)?;
        if let Some(input) = remaining_inputs.next() {
            running_tasks.spawn(create_task(input));
        }
    }
    Ok(())
}

pub(crate) fn task_error(error: &JoinError) -> ClientError {
    ClientError::Setup { why: error.to_string() }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use cellar_base::limits::CHUNK_GETS_AT_ONCE;

    use super::*;

    #[tokio::test]
    async fn runs_at_most_the_limit_of_tasks_concurrently() {
        let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        for count in [0, 1, CHUNK_GETS_AT_ONCE, CHUNK_GETS_AT_ONCE + 1, 100] {
            most.store(0, Ordering::SeqCst);
            let run = |number: usize| {
                let (running, most) = (Arc::clone(&running), Arc::clone(&most));
                async move {
                    most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    tokio::task::yield_now().await;
                    running.fetch_sub(1, Ordering::SeqCst);
                    number
                }
            };
            let mut ended = Vec::new();
            let done = |number: usize| {
                ended.push(number);
                Ok::<(), ClientError>(())
            };
            run_concurrently(CHUNK_GETS_AT_ONCE, 0..count, run, done).await.unwrap();
            ended.sort_unstable();
            assert_eq!(ended, Vec::from_iter(0..count));
            assert_eq!(most.load(Ordering::SeqCst), count.min(CHUNK_GETS_AT_ONCE));
        }
    }

    #[tokio::test]
    async fn the_first_error_cancels_all_tasks() {
        let mut ended = 0;
        let done = |number: usize| {
            ended += 1;
            if number == 2 { Err(ClientError::InvalidToken { why: "no" }) } else { Ok(()) }
        };
        let run = |number| async move { number };
        let result = run_concurrently(1, 0..9, run, done).await;
        assert!(matches!(result, Err(ClientError::InvalidToken { why: "no" })));
        assert_eq!(ended, 3);
    }
}
