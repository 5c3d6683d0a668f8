//! What one request consumed, while others run at the same time.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use cellar_api::cost::Cost;

tokio::task_local! {
    /// What is measured where the code runs; nothing outside of [`measure`].
    static SCOPE: Arc<Scope>;
}

/// A measurement under way, perhaps inside of another.
struct Scope {
    cost: Mutex<Cost>,
    outer: Option<Arc<Scope>>,
}

impl Scope {
    fn current() -> Option<Arc<Self>> {
        SCOPE.try_with(Arc::clone).ok()
    }
}

/// Counts for everything that is measured here: at once, so that what is cut off later was counted.
pub(super) fn add(cost: Cost) {
    let mut scope = Scope::current();
    while let Some(measured) = scope {
        *measured.cost.lock().unwrap_or_else(PoisonError::into_inner) += cost;
        scope = measured.outer.clone();
    }
}

/// Runs a future and tells what its calls of the ports consumed, and nobody else's: whatever
/// [`Meter`](super::Meter) they count with, and in whichever order futures are polled. A measurement
/// inside of another counts for both.
///
/// A part of it that is dropped, by a timeout say, counts with what it had consumed until then. A
/// request that was not answered is not counted: nobody told what it consumed. Neither is what runs
/// in tasks of its own, unless it is [`carried`] there.
pub async fn measure<F: Future>(future: F) -> (F::Output, Cost) {
    let scope = Arc::new(Scope { cost: Mutex::default(), outer: Scope::current() });
    let output = SCOPE.scope(Arc::clone(&scope), future).await;
    let cost = *scope.cost.lock().unwrap_or_else(PoisonError::into_inner);
    (output, cost)
}

/// The same future, whose consumption counts for what is measured here and now: for
/// `tokio::spawn(carried(…))`. What it consumes after the measurement has ended is in no request's
/// cost.
pub fn carried<F: Future>(future: F) -> impl Future<Output = F::Output> {
    let scope = Scope::current();
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

    /// Calls of a port that give way to others in between.
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
    async fn requests_at_the_same_time_are_told_apart() {
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
    async fn futures_of_one_task_are_told_apart() {
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
    async fn what_is_cut_off_has_cost_what_it_had_consumed() {
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
    async fn a_measurement_inside_of_another_counts_for_both() {
        let meter = Meter::default();
        let (inner, outer) = measure(async {
            calls(&meter, 1).await;
            measure(calls(&meter, 2)).await.1
        })
        .await;
        assert_eq!((units(inner), units(outer)), ((2, 2, 2), (3, 3, 3)));
    }

    #[tokio::test]
    async fn tasks_count_if_they_are_carried() {
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
        // Nothing is measured here: it runs all the same.
        carried(task(1)).await;
        assert_eq!(units(meter.take()), (8, 8, 8));
    }
}
