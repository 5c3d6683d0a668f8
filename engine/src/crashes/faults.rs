//! Faults that the tests inject into requests.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use cellar_base::limits::MAX_READ_ATTEMPTS;
use tokio::sync::Notify;

use crate::ports::PortError;

/// A fault of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The request has no effect and returns a temporary error.
    Refused,
    /// The request takes effect but returns an error.
    ReplyLost,
    /// The request has no effect and returns a permanent error.
    Denied,
    /// Outage: this request and the following ones fail, more often than a caller retries.
    Outage,
    /// The process dies before the request takes effect.
    DiesBefore,
    /// The process dies after the request takes effect.
    DiesAfter,
    /// The process freezes before it sends the request, and sends the request when it resumes.
    FreezesBefore,
    /// The process freezes after the request takes effect.
    FreezesAfter,
    /// Frozen processes resume while this request is in flight.
    Wakes,
}

impl Fault {
    /// Whether the fault occurs after the request takes effect.
    pub(crate) fn is_after(self) -> bool {
        matches!(self, Self::ReplyLost | Self::DiesAfter | Self::FreezesAfter)
    }

    /// Whether the fault freezes the process.
    pub(crate) fn freezes(self) -> bool {
        matches!(self, Self::FreezesBefore | Self::FreezesAfter)
    }
}

/// Number of requests that fail in an outage. Exceeds the maximum number of attempts.
const OUTAGE_REQUESTS: usize = MAX_READ_ATTEMPTS as usize + 2;

/// Counts requests and injects the planned faults.
#[derive(Default)]
pub(crate) struct FaultPlan {
    requests: AtomicUsize,
    /// Indexes of the requests that were reads.
    reads: Mutex<HashSet<usize>>,
    over: AtomicBool,
    running: AtomicUsize,
    most_running: AtomicUsize,
    planned: Vec<(usize, Fault)>,
    /// Notified when a process dies during a request.
    pub(crate) died: Notify,
    /// Notified when a process freezes during a request.
    pub(crate) froze: Notify,
    /// Notified when frozen processes may resume.
    pub(crate) wakes: Notify,
}

impl FaultPlan {
    /// Creates a plan that injects these faults, each into the request with the given number.
    pub(crate) fn planned(planned: Vec<(usize, Fault)>) -> Self {
        Self { planned, ..Self::default() }
    }

    fn fault_at(&self, number: usize) -> Option<Fault> {
        let at = |(first, fault): &&(usize, Fault)| match fault {
            Fault::Outage => (*first..*first + OUTAGE_REQUESTS).contains(&number),
            _ => *first == number,
        };
        self.planned.iter().find(at).map(|(_, fault)| *fault)
    }

    /// Pauses fault injection and request counting. Frozen processes stay frozen.
    pub(crate) fn pause(&self) {
        self.over.store(true, Ordering::SeqCst);
    }

    /// Resumes fault injection and request counting.
    pub(crate) fn resume(&self) {
        self.over.store(false, Ordering::SeqCst);
    }

    /// Stops fault injection and resumes frozen processes.
    pub(crate) fn end(&self) {
        self.pause();
        self.wakes.notify_waiters();
    }

    /// Returns the number of requests so far.
    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }

    /// Returns the number of requests since the last call, and restarts the numbering at 0.
    pub(crate) fn take_requests(&self) -> usize {
        self.requests.swap(0, Ordering::SeqCst)
    }

    /// Whether a request was a read. For a read, a fault before the request and a fault after it
    /// are equivalent.
    pub(crate) fn reads(&self, number: usize) -> bool {
        self.reads.lock().unwrap().contains(&number)
    }

    pub(crate) async fn read<T>(
        &self,
        request: impl Future<Output = Result<T, PortError>> + Send,
    ) -> Result<T, PortError> {
        self.reads.lock().unwrap().insert(self.requests());
        self.around(request, Err).await
    }

    /// Returns the maximum number of requests that were in flight at once.
    pub(crate) fn most_running(&self) -> usize {
        self.most_running.load(Ordering::SeqCst)
    }

    pub(crate) async fn around<T>(
        &self,
        request: impl Future<Output = T> + Send,
        failed: impl FnOnce(PortError) -> T + Send,
    ) -> T {
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_running.fetch_max(running, Ordering::SeqCst);
        let answer = self.answer(request, failed).await;
        self.running.fetch_sub(1, Ordering::SeqCst);
        answer
    }

    async fn answer<T>(
        &self,
        request: impl Future<Output = T> + Send,
        failed: impl FnOnce(PortError) -> T + Send,
    ) -> T {
        // Let concurrent tasks run first.
        tokio::task::yield_now().await;
        if self.over.load(Ordering::SeqCst) {
            return request.await;
        }
        let number = self.requests.fetch_add(1, Ordering::SeqCst);
        match self.fault_at(number) {
            None => request.await,
            Some(Fault::Refused | Fault::Outage) => failed(PortError::temporary("planned")),
            Some(Fault::Denied) => failed(PortError::permanent("planned")),
            Some(Fault::ReplyLost) => {
                request.await;
                failed(PortError::temporary("planned"))
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
                let done = request.await;
                self.freeze().await;
                done
            }
            Some(Fault::Wakes) => {
                self.wakes.notify_waiters();
                request.await
            }
        }
    }

    async fn die<T>(&self) -> T {
        self.died.notify_one();
        std::future::pending().await
    }

    async fn freeze(&self) {
        self.froze.notify_one();
        self.wakes.notified().await;
    }
}
