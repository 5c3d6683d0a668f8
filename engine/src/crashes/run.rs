//! Runs a scenario repeatedly, injecting each kind of fault into each of its requests.

use std::sync::Arc;

use tokio::task::JoinHandle;

use super::faults::Fault;
use super::ports::FaultyPorts;
use super::reading::Readings;
use super::scenario::{Promise, Retry, Scenario};
use super::stored::Stored;

/// All faults that can be injected into a single request.
pub(crate) const FAULTS: [Fault; 8] = [
    Fault::Refused,
    Fault::Denied,
    Fault::ReplyLost,
    Fault::Outage,
    Fault::DiesBefore,
    Fault::DiesAfter,
    Fault::FreezesBefore,
    Fault::FreezesAfter,
];

/// Timeout after which a caller retries a step that got no response, and after which frozen
/// processes resume.
const RETRY_AFTER_MS: u64 = 2_000;
/// Maximum number of attempts for a scenario's steps. Exceeds the number of attempts that any two
/// faults cause, including all failures of an outage.
const MAX_TRIES: usize = 30;
/// Number of additional requests into which faults are injected after those of a fault-free run,
/// since retries send more requests.
const SECOND_TRY_REQUESTS: usize = 10;

/// Final state of a run.
struct RunResult<A> {
    stored: Stored,
    readings: Readings,
    answers: Vec<A>,
}

/// A scenario, its initial data and the result of a fault-free run.
pub(crate) struct Crashes<D: Scenario> {
    scenario: Arc<D>,
    before: Arc<FaultyPorts>,
    expected: RunResult<D::Answer>,
    requests: usize,
    /// For each request, whether it is a read.
    reads: Vec<bool>,
}

impl<D: Scenario> Crashes<D> {
    /// Runs a scenario without faults and records the result.
    pub(crate) async fn new(scenario: D, before: Arc<FaultyPorts>) -> Self {
        let scenario = Arc::new(scenario);
        let run = Run::new(Arc::clone(&scenario), &before, vec![]).steps().await;
        let requests = run.ports.faults.requests();
        let reads = (0..requests).map(|at| run.ports.faults.reads(at)).collect();
        let expected = run.end().await;
        Self { scenario, before, expected, requests, reads }
    }

    /// Returns the number of requests in the fault-free run.
    pub(crate) fn requests(&self) -> usize {
        self.requests
    }

    /// Returns the step results of the fault-free run.
    pub(crate) fn answers(&self) -> &[D::Answer] {
        &self.expected.answers
    }

    /// Returns the final data of the fault-free run.
    pub(crate) fn stored(&self) -> &Stored {
        &self.expected.stored
    }

    /// Runs the scenario once for each combination of request and fault.
    pub(crate) async fn at_each_request(&self) {
        let mut runs = 0;
        for at in 0..self.requests {
            // Skip faults after a read: they are equivalent to faults before it.
            for fault in FAULTS.into_iter().filter(|fault| !self.reads[at] || !fault.is_after()) {
                self.check_run(vec![(at, fault)]).await;
                runs += 1;
            }
        }
        println!("{}: {} requests, {runs} runs", std::any::type_name::<D>(), self.requests);
    }

    /// Runs the scenario for each pair of requests and each pair of faults. In some runs, a frozen
    /// process resumes while another process is running.
    pub(crate) async fn at_any_two_requests(&self) {
        let mut runs = 0;
        for first in 0..self.requests {
            for one in FAULTS.into_iter().filter(|fault| !self.reads[first] || !fault.is_after()) {
                let wakes = one.freezes().then_some(Fault::Wakes);
                for second in first + 1..self.requests + SECOND_TRY_REQUESTS {
                    for other in FAULTS.into_iter().chain(wakes) {
                        self.check_run(vec![(first, one), (second, other)]).await;
                        runs += 1;
                    }
                }
            }
        }
        println!("{}: {} requests, {runs} pairs", std::any::type_name::<D>(), self.requests);
    }

    /// Checks two runs: one retries failed steps in a new process, the other in the same process.
    async fn check_run(&self, planned: Vec<(usize, Fault)>) {
        if self.check_run_in(planned.clone(), RetryIn::NewProcess).await {
            self.check_run_in(planned, RetryIn::SameProcess).await;
        }
    }

    /// Checks one run. Returns whether a step returned an error.
    async fn check_run_in(&self, planned: Vec<(usize, Fault)>, retry_in: RetryIn) -> bool {
        let mut run = Run::new(Arc::clone(&self.scenario), &self.before, planned);
        run.what = format!("{}, retry in {retry_in:?}", run.what);
        (run.retry_in, run.expected) = (retry_in, Some(&self.expected));
        let run = run.steps().await;
        let (has_erred, what) = (run.error.is_some(), run.what.clone());
        let ended = run.end().await;
        self.scenario.assert_ended(&ended.stored, &ended.answers, &what);
        if D::PROMISE == Promise::Sound {
            return has_erred;
        }
        assert_eq!(ended.answers, self.expected.answers, "{what}: the answers");
        ended.readings.assert_newest_are(&self.expected.readings, &what);
        if D::PROMISE == Promise::Same {
            let expected = self.expected.stored.without_times();
            ended.stored.without_times().assert_equals(&expected, &what);
            ended.readings.assert_prefix_of(&self.expected.readings, &what);
        }
        has_erred
    }
}

/// Process that retries a step after an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RetryIn {
    /// A new process with empty caches.
    NewProcess,
    /// The process in which the step failed.
    SameProcess,
}

/// Task of a step in progress.
type StepTask<D> = JoinHandle<Result<<D as Scenario>::Answer, Retry>>;

/// The state of one run.
struct Run<'a, D: Scenario> {
    what: String,
    scenario: Arc<D>,
    ports: Arc<FaultyPorts>,
    caller: Arc<D::Caller>,
    answers: Vec<D::Answer>,
    /// Frozen processes, each with the index of its interrupted step.
    frozen: Vec<(usize, StepTask<D>)>,
    last: Stored,
    interrupted: bool,
    retry_in: RetryIn,
    /// Latest error of a step.
    error: Option<String>,
    /// Result of the fault-free run, or `None` if this is the fault-free run.
    expected: Option<&'a RunResult<D::Answer>>,
}

impl<D: Scenario> Run<'_, D> {
    fn new(scenario: Arc<D>, before: &FaultyPorts, planned: Vec<(usize, Fault)>) -> Self {
        Self {
            what: format!("{planned:?}"),
            scenario,
            ports: before.copied(planned),
            caller: Arc::default(),
            answers: Vec::new(),
            frozen: Vec::new(),
            last: Stored::read(before),
            interrupted: false,
            retry_in: RetryIn::NewProcess,
            error: None,
            expected: None,
        }
    }

    /// Runs all steps. If a process dies or freezes, a new process retries its step.
    async fn steps(mut self) -> Self {
        let (mut process, mut tries) = (self.process(), 0);
        while self.answers.len() < self.scenario.steps() {
            tries += 1;
            let most = MAX_TRIES + self.scenario.steps();
            let (what, error) = (&self.what, &self.error);
            assert!(tries <= most, "{what}: not finished after {most} attempts: {error:?}");
            let has_process = match self.take_step(&process).await {
                Some(Ok(answer)) => {
                    self.answers.push(answer);
                    continue;
                }
                Some(Err(Retry(why))) => {
                    self.error = Some(why);
                    self.retry_in == RetryIn::SameProcess
                }
                None => false,
            };
            self.check_after_failure().await;
            if !has_process {
                process = self.process();
            }
        }
        self
    }

    fn process(&self) -> Arc<D::Process> {
        Arc::new(self.scenario.process(&self.ports))
    }

    /// Runs the next step. Returns `None` if the process died or froze.
    async fn take_step(&mut self, process: &Arc<D::Process>) -> Option<Result<D::Answer, Retry>> {
        let (scenario, process) = (Arc::clone(&self.scenario), Arc::clone(process));
        let (caller, step) = (Arc::clone(&self.caller), self.answers.len());
        let mut called = tokio::spawn(async move { scenario.step(&process, &caller, step).await });
        let faults = &self.ports.faults;
        tokio::select! {
            biased;
            ended = &mut called => Some(ended.unwrap()),
            () = faults.died.notified() => {
                called.abort();
                assert!(called.await.unwrap_err().is_cancelled());
                None
            }
            () = faults.froze.notified() => {
                self.frozen.push((step, called));
                None
            }
        }
    }

    /// Checks the stored data after a failure, as read by another process.
    async fn check_after_failure(&mut self) {
        let what = format!("{}, after the failure", self.what);
        assert!(self.expected.is_some(), "a step of an undisturbed run failed");
        if !std::mem::replace(&mut self.interrupted, true) {
            self.ports.faults.pause();
            self.scenario.meanwhile(Arc::clone(&self.ports)).await;
            self.ports.faults.resume();
        }
        self.ports.clock.advance_ms(RETRY_AFTER_MS);
        let now = Stored::read(&self.ports);
        self.last.assert_preserved_in(&now, &what);
        self.scenario.assert_between(&now, &what);
        self.last = now;
        let readings = Readings::of(&self.ports, &what).await;
        if let Some(expected) = self.expected {
            match D::PROMISE {
                Promise::Same => readings.assert_prefix_of(&expected.readings, &what),
                Promise::ReadsSame => readings.assert_newest_among(&expected.readings, &what),
                Promise::Sound => {}
            }
        }
    }

    /// Runs the remaining work of other processes, then resumes frozen processes and asserts that
    /// they do not change the stored data.
    async fn end(mut self) -> RunResult<D::Answer> {
        self.ports.faults.pause();
        self.scenario.settle(Arc::clone(&self.ports)).await;
        let stored = Stored::read(&self.ports);
        self.last.assert_preserved_in(&stored, &self.what);
        if !self.frozen.is_empty() {
            self.ports.clock.advance_ms(RETRY_AFTER_MS);
            self.ports.faults.end();
            for (step, frozen) in std::mem::take(&mut self.frozen) {
                let answer = frozen.await.unwrap();
                if let Ok(answer) = answer
                    && D::PROMISE != Promise::Sound
                {
                    assert_eq!(answer, self.answers[step], "{}: resumed", self.what);
                }
            }
            self.scenario.settle(Arc::clone(&self.ports)).await;
            let what = format!("{}, resumed", self.what);
            Stored::read(&self.ports).assert_equals(&stored, &what);
        }
        let readings = Readings::of(&self.ports, &self.what).await;
        RunResult { stored, readings, answers: self.answers }
    }
}
