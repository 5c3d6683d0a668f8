//! What goes wrong with a request, and with which.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use cellar_base::limits::MAX_READ_ATTEMPTS;
use tokio::sync::Notify;

use crate::ports::PortError;

/// What goes wrong with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It is not done, and an error says so.
    Refused,
    /// It is done, and its answer is an error.
    ReplyLost,
    /// It is not done, and an error says that another try would not help.
    Denied,
    /// It and those that follow are not done, for longer than anybody tries again.
    Outage,
    /// The worker dies before it is done.
    DiesBefore,
    /// The worker dies when it is done.
    DiesAfter,
    /// The worker stands still, and it is done when it wakes up.
    FreezesBefore,
    /// It is done, and then the worker stands still.
    FreezesAfter,
    /// Whoever stands still goes on beside the one whose request this is.
    Wakes,
}

impl Fault {
    /// Whether the request is done before it fails.
    pub(crate) fn is_after(self) -> bool {
        matches!(self, Self::ReplyLost | Self::DiesAfter | Self::FreezesAfter)
    }

    /// Whether whoever asks stands still.
    pub(crate) fn freezes(self) -> bool {
        matches!(self, Self::FreezesBefore | Self::FreezesAfter)
    }
}

/// Requests that an outage takes: more than anybody's attempts.
const OUTAGE_REQUESTS: usize = MAX_READ_ATTEMPTS as usize + 2;

/// Counts the requests and lets some of them fail.
#[derive(Default)]
pub(crate) struct Trouble {
    requests: AtomicUsize,
    /// The numbers of those that read.
    reads: Mutex<HashSet<usize>>,
    over: AtomicBool,
    running: AtomicUsize,
    most_running: AtomicUsize,
    planned: Vec<(usize, Fault)>,
    /// The worker of the request is dead.
    pub(crate) died: Notify,
    /// The worker of the request stands still.
    pub(crate) froze: Notify,
    /// Whoever stands still is to go on.
    pub(crate) wakes: Notify,
}

impl Trouble {
    /// These requests, by their numbers, go wrong like this.
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

    /// From now on nothing fails or is counted; who stands still goes on standing.
    pub(crate) fn pause(&self) {
        self.over.store(true, Ordering::SeqCst);
    }

    /// What is planned goes wrong again.
    pub(crate) fn go_on(&self) {
        self.over.store(false, Ordering::SeqCst);
    }

    /// From now on nothing fails, and who stands still wakes up.
    pub(crate) fn end(&self) {
        self.pause();
        self.wakes.notify_waiters();
    }

    /// How many requests there were.
    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }

    /// How many requests there were since the last call; they are numbered anew.
    pub(crate) fn take_requests(&self) -> usize {
        self.requests.swap(0, Ordering::SeqCst)
    }

    /// Whether the request with this number reads: whether it was done before it failed or not is the
    /// same, then.
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

    /// The most requests that were under way at the same time.
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
        // Whoever works beside this one gets a turn.
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
