//! Faults that crash tests inject into requests.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use cellar_base::limits::MAX_READ_ATTEMPTS;
use tokio::sync::Notify;

use crate::ports::PortError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The request has no effect and returns a temporary error.
    Refused,
    /// The request takes effect but returns an error.
    ReplyLost,
    /// The request has no effect and returns a permanent error.
    Denied,
    /// The outage lasts longer than the caller's retries.
    Outage,
    DiesBefore,
    DiesAfter,
    /// The process freezes before it sends the request, and sends the request when it resumes.
    FreezesBefore,
    FreezesAfter,
    /// Frozen processes resume during this request.
    Wakes,
}

impl Fault {
    /// Whether the request takes effect before the fault occurs.
    pub(crate) fn is_after(self) -> bool {
        matches!(self, Self::ReplyLost | Self::DiesAfter | Self::FreezesAfter)
    }

    pub(crate) fn freezes(self) -> bool {
        matches!(self, Self::FreezesBefore | Self::FreezesAfter)
    }
}

/// Exceeds the number of attempts that a caller makes.
const OUTAGE_REQUESTS: usize = MAX_READ_ATTEMPTS as usize + 2;

#[derive(Default)]
pub(crate) struct FaultPlan {
    request_count: AtomicUsize,
    reads: Mutex<HashSet<usize>>,
    is_paused: AtomicBool,
    running_requests: AtomicUsize,
    max_running_requests: AtomicUsize,
    /// Each planned fault, with the number of the request into which it is injected.
    planned_faults: Vec<(usize, Fault)>,
    pub(crate) died: Notify,
    pub(crate) froze: Notify,
    pub(crate) wakes: Notify,
}

impl FaultPlan {
    pub(crate) fn planned(planned_faults: Vec<(usize, Fault)>) -> Self {
        Self { planned_faults, ..Self::default() }
    }

    fn fault_of_request(&self, request_number: usize) -> Option<Fault> {
        for (fault_number, fault) in &self.planned_faults {
            let is_affected = match fault {
                Fault::Outage => {
                    (*fault_number..*fault_number + OUTAGE_REQUESTS).contains(&request_number)
                }
                _ => *fault_number == request_number,
            };
            if is_affected {
                return Some(*fault);
            }
        }
        None
    }

    /// Frozen processes stay frozen.
    pub(crate) fn pause(&self) {
        self.is_paused.store(true, Ordering::SeqCst);
    }

    pub(crate) fn resume(&self) {
        self.is_paused.store(false, Ordering::SeqCst);
    }

    pub(crate) fn pause_and_wake(&self) {
        self.pause();
        self.wakes.notify_waiters();
    }

    pub(crate) fn requests(&self) -> usize {
        self.request_count.load(Ordering::SeqCst)
    }

    pub(crate) fn take_request_count(&self) -> usize {
        self.request_count.swap(0, Ordering::SeqCst)
    }

    /// A read has no effect, so a fault before it is equivalent to a fault after it.
    pub(crate) fn is_read(&self, request_number: usize) -> bool {
        self.reads.lock().unwrap().contains(&request_number)
    }

    pub(crate) async fn read<T>(
        &self,
        request: impl Future<Output = Result<T, PortError>> + Send,
    ) -> Result<T, PortError> {
        self.reads.lock().unwrap().insert(self.requests());
        self.send_with_fault(request, Err).await
    }

    /// Returns the maximum number of requests that were in flight at the same time.
    pub(crate) fn most_running(&self) -> usize {
        self.max_running_requests.load(Ordering::SeqCst)
    }

    pub(crate) async fn send_with_fault<T>(
        &self,
        request: impl Future<Output = T> + Send,
        to_failure: impl FnOnce(PortError) -> T + Send,
    ) -> T {
        let running_requests = self.running_requests.fetch_add(1, Ordering::SeqCst) + 1;
        self.max_running_requests.fetch_max(running_requests, Ordering::SeqCst);
        let reply = self.inject_planned_fault(request, to_failure).await;
        self.running_requests.fetch_sub(1, Ordering::SeqCst);
        reply
    }

    async fn inject_planned_fault<T>(
        &self,
        request: impl Future<Output = T> + Send,
        to_failure: impl FnOnce(PortError) -> T + Send,
    ) -> T {
        // Let concurrent tasks run before continuing.
        tokio::task::yield_now().await;
        if self.is_paused.load(Ordering::SeqCst) {
            return request.await;
        }
        let request_number = self.request_count.fetch_add(1, Ordering::SeqCst);
        match self.fault_of_request(request_number) {
            None => request.await,
            Some(Fault::Refused | Fault::Outage) => to_failure(PortError::temporary("planned")),
            Some(Fault::Denied) => to_failure(PortError::permanent("planned")),
            Some(Fault::ReplyLost) => {
                request.await;
                to_failure(PortError::temporary("planned"))
            }
            Some(Fault::DiesBefore) => self.die().await,
            Some(Fault::DiesAfter) => {
                request.await;
                self.die().await
            }
            Some(Fault::FreezesBefore) => {
                self.freeze().await;
                request.await
            }
            Some(Fault::FreezesAfter) => {
                let reply = request.await;
                self.freeze().await;
                reply
            }
            Some(Fault::Wakes) => {
                self.wakes.notify_waiters();
                request.await
            }
        }
    }

    /// Never returns.
    async fn die<T>(&self) -> T {
        self.died.notify_one();
        std::future::pending().await
    }

    async fn freeze(&self) {
        self.froze.notify_one();
        self.wakes.notified().await;
    }
}
