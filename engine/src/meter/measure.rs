//! Measures how many resources a single request consumes while other requests run concurrently.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use cellar_api::cost::Cost;

tokio::task_local! {
    /// Unset outside of [`measure`].
    static SCOPE: Arc<MeasureScope>;
}

/// May be nested in another measurement.
struct MeasureScope {
    cost: Mutex<Cost>,
    parent: Option<Arc<MeasureScope>>,
}

impl MeasureScope {
    fn current() -> Option<Arc<Self>> {
        SCOPE.try_with(Arc::clone).ok()
    }
}

/// Adds a cost to all measurements in which the current task runs. The cost stays included even if
/// the future is dropped later.
pub(super) fn add(cost: Cost) {
    let mut next_scope = MeasureScope::current();
    while let Some(scope) = next_scope {
        *scope.cost.lock().unwrap_or_else(PoisonError::into_inner) += cost;
        next_scope = scope.parent.clone();
    }
}

/// Runs a future and returns its output together with the resources that its port requests
/// consumed. Requests of concurrent futures are not included, even if they use the same
/// [`Meter`](super::Meter). Requests of a nested measurement count for both measurements.
///
/// If a part of the future is dropped, for example after a timeout, its consumption up to that time
/// is included. A request without a response is not counted, since its consumption is unknown. A
/// spawned task is counted only if it is wrapped in [`carried`].
pub async fn measure<F: Future>(future: F) -> (F::Output, Cost) {
    let scope = Arc::new(MeasureScope { cost: Mutex::default(), parent: MeasureScope::current() });
    let output = SCOPE.scope(Arc::clone(&scope), future).await;
    let cost = *scope.cost.lock().unwrap_or_else(PoisonError::into_inner);
    (output, cost)
}

/// Wraps a future so that its consumption counts for the current measurement even if it runs in
/// another task: `tokio::spawn(carried(…))`. Consumption after the end of the measurement is not
/// counted.
pub fn carried<F: Future>(future: F) -> impl Future<Output = F::Output> {
    let scope = MeasureScope::current();
    async move {
        match scope {
            Some(scope) => SCOPE.scope(scope, future).await,
            None => future.await,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::Meter;
    use super::*;

    /// Sends requests to a port, and yields to other tasks before each request.
    async fn calls(meter: &Meter, count: u64) {
        for _ in 0..count {
            tokio::task::yield_now().await;
            meter.count(0.5, 1.0);
        }
    }

    fn units(cost: Cost) -> (u64, u64, u64) {
        (cost.read_half_units, cost.write_units, cost.table_requests)
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn concurrent_requests_are_measured_separately() {
        let meter = Arc::new(Meter::default());
        let requests: Vec<_> = (0..64)
            .map(|count| {
                let meter = Arc::clone(&meter);
                tokio::spawn(async move { measure(calls(&meter, count)).await.1 })
            })
            .collect();
        for (count, request) in (0..).zip(requests) {
            assert_eq!(units(request.await.unwrap()), (count, count, count));
        }
        let all = (0..64).sum();
        assert_eq!(units(meter.take()), (all, all, all));
    }

    #[tokio::test]
    async fn concurrent_futures_of_one_task_are_measured_separately() {
        let meter = Meter::default();
        let (one, two, ()) = tokio::join!(
            measure(calls(&meter, 3)),
            measure(async { tokio::join!(calls(&meter, 2), calls(&meter, 5)) }),
            calls(&meter, 11),
        );
        assert_eq!((units(one.1), units(two.1)), ((3, 3, 3), (7, 7, 7)));
        assert_eq!(units(meter.take()), (21, 21, 21));
    }

    #[tokio::test]
    async fn a_dropped_future_costs_what_it_consumed_until_then() {
        let meter = Meter::default();
        let slow = async {
            calls(&meter, 4).await;
            std::future::pending::<()>().await;
            calls(&meter, 4).await;
        };
        let (output, cost) = measure(tokio::time::timeout(Duration::from_millis(10), slow)).await;
        assert!(output.is_err());
        assert_eq!(units(cost), (4, 4, 4));
    }

    #[tokio::test]
    async fn nested_measurements_count_for_both() {
        let meter = Meter::default();
        let (inner, outer) = measure(async {
            calls(&meter, 1).await;
            measure(calls(&meter, 2)).await.1
        })
        .await;
        assert_eq!((units(inner), units(outer)), ((2, 2, 2), (3, 3, 3)));
    }

    #[tokio::test]
    async fn spawned_tasks_count_only_if_carried() {
        let meter = Arc::new(Meter::default());
        let task = |count| {
            let meter = Arc::clone(&meter);
            async move { calls(&meter, count).await }
        };
        let ((), cost) = measure(async {
            tokio::spawn(carried(task(2))).await.unwrap();
            tokio::spawn(task(5)).await.unwrap();
        })
        .await;
        assert_eq!(units(cost), (2, 2, 2));
        // Outside of a measurement, `carried` has no effect.
        carried(task(1)).await;
        assert_eq!(units(meter.take()), (8, 8, 8));
    }
}
