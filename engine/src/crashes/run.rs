//! Runs a driver again and again, with each of its requests going wrong in each way.

use std::sync::Arc;

use tokio::task::JoinHandle;

use super::driver::{Again, Driver, Promise};
use super::ports::FaultyPorts;
use super::reading::Readings;
use super::stored::Stored;
use super::trouble::Fault;

/// Every way in which one request goes wrong.
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

/// After how long a caller repeats what was not answered, and after how long who stood still goes on.
const REPEATED_AFTER_MS: u64 = 2_000;
/// More tries than any two faults take: an outage is ten requests long.
const MAX_TRIES: usize = 30;
/// Requests of a second try that may go wrong, too.
const SECOND_TRY_REQUESTS: usize = 10;

/// What a driver leaves.
struct Ended<A> {
    stored: Stored,
    readings: Readings,
    answers: Vec<A>,
}

/// A driver, what is stored before it, and what an undisturbed run of it comes to.
pub(crate) struct Crashes<D: Driver> {
    driver: Arc<D>,
    before: Arc<FaultyPorts>,
    expected: Ended<D::Answer>,
    requests: usize,
    reads: Vec<bool>,
}

impl<D: Driver> Crashes<D> {
    /// Runs a driver undisturbed.
    pub(crate) async fn of(driver: D, before: Arc<FaultyPorts>) -> Self {
        let driver = Arc::new(driver);
        let run = Run::new(Arc::clone(&driver), &before, vec![]).steps().await;
        let requests = run.ports.trouble.requests();
        let reads = (0..requests).map(|at| run.ports.trouble.reads(at)).collect();
        let expected = run.end().await;
        Self { driver, before, expected, requests, reads }
    }

    /// The requests of an undisturbed run.
    pub(crate) fn requests(&self) -> usize {
        self.requests
    }

    /// What an undisturbed run answers.
    pub(crate) fn answers(&self) -> &[D::Answer] {
        &self.expected.answers
    }

    /// What an undisturbed run leaves.
    pub(crate) fn stored(&self) -> &Stored {
        &self.expected.stored
    }

    /// Has each request go wrong in each way.
    pub(crate) async fn at_each_request(&self) {
        let mut runs = 0;
        for at in 0..self.requests {
            // A read that was done and one that was not leave the same.
            for fault in FAULTS.into_iter().filter(|fault| !self.reads[at] || !fault.is_after()) {
                self.survives(vec![(at, fault)]).await;
                runs += 1;
            }
        }
        println!("{}: {} requests, {runs} runs", std::any::type_name::<D>(), self.requests);
    }

    /// Has any two requests go wrong in any two ways; what stands still may also go on beside another.
    pub(crate) async fn at_any_two_requests(&self) {
        let mut runs = 0;
        for first in 0..self.requests {
            for one in FAULTS.into_iter().filter(|fault| !self.reads[first] || !fault.is_after()) {
                let wakes = one.freezes().then_some(Fault::Wakes);
                for second in first + 1..self.requests + SECOND_TRY_REQUESTS {
                    for other in FAULTS.into_iter().chain(wakes) {
                        self.survives(vec![(first, one), (second, other)]).await;
                        runs += 1;
                    }
                }
            }
        }
        println!("{}: {} requests, {runs} pairs", std::any::type_name::<D>(), self.requests);
    }

    /// Whoever gets an error may come to another process with the next try, or to the same.
    async fn survives(&self, planned: Vec<(usize, Fault)>) {
        if self.survives_in(planned.clone(), Next::AnotherProcess).await {
            self.survives_in(planned, Next::SameProcess).await;
        }
    }

    /// Gives whether a step ended with an error.
    async fn survives_in(&self, planned: Vec<(usize, Fault)>, next: Next) -> bool {
        let mut run = Run::new(Arc::clone(&self.driver), &self.before, planned);
        run.what = format!("{}, then {next:?}", run.what);
        (run.next, run.expected) = (next, Some(&self.expected));
        let run = run.steps().await;
        let (has_erred, what) = (run.error.is_some(), run.what.clone());
        let ended = run.end().await;
        self.driver.assert_ended(&ended.stored, &ended.answers, &what);
        if D::PROMISE == Promise::Sound {
            return has_erred;
        }
        assert_eq!(ended.answers, self.expected.answers, "{what}: the answers");
        ended.readings.assert_newest_are(&self.expected.readings, &what);
        if D::PROMISE == Promise::Same {
            let expected = self.expected.stored.but_for_times();
            ended.stored.but_for_times().assert_is(&expected, &what);
            ended.readings.assert_lead_to(&self.expected.readings, &what);
        }
        has_erred
    }
}

/// Where a request that ended with an error is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// In one that knows nothing.
    AnotherProcess,
    /// Where it failed.
    SameProcess,
}

/// A call that somebody has begun.
type Called<D> = JoinHandle<Result<<D as Driver>::Answer, Again>>;

/// One run, as far as it has come.
struct Run<'a, D: Driver> {
    what: String,
    driver: Arc<D>,
    ports: Arc<FaultyPorts>,
    caller: Arc<D::Caller>,
    answers: Vec<D::Answer>,
    /// Who stands still, and in which step.
    frozen: Vec<(usize, Called<D>)>,
    last: Stored,
    interrupted: bool,
    next: Next,
    /// The last error that a step ended with.
    error: Option<String>,
    /// What an undisturbed run comes to; none if this is it.
    expected: Option<&'a Ended<D::Answer>>,
}

impl<D: Driver> Run<'_, D> {
    fn new(driver: Arc<D>, before: &FaultyPorts, planned: Vec<(usize, Fault)>) -> Self {
        Self {
            what: format!("{planned:?}"),
            driver,
            ports: before.copied(planned),
            caller: Arc::default(),
            answers: Vec::new(),
            frozen: Vec::new(),
            last: Stored::read(before),
            interrupted: false,
            next: Next::AnotherProcess,
            error: None,
            expected: None,
        }
    }

    /// Goes through all steps; after whatever fails, a new process goes on.
    async fn steps(mut self) -> Self {
        let (mut process, mut tries) = (self.process(), 0);
        while self.answers.len() < self.driver.steps() {
            tries += 1;
            let most = MAX_TRIES + self.driver.steps();
            let (what, error) = (&self.what, &self.error);
            assert!(tries <= most, "{what}: it is not done in {most} tries: {error:?}");
            let has_process = match self.call(&process).await {
                Some(Ok(answer)) => {
                    self.answers.push(answer);
                    continue;
                }
                Some(Err(Again(why))) => {
                    self.error = Some(why);
                    self.next == Next::SameProcess
                }
                None => false,
            };
            self.look().await;
            if !has_process {
                process = self.process();
            }
        }
        self
    }

    fn process(&self) -> Arc<D::Process> {
        Arc::new(self.driver.process(&self.ports))
    }

    /// Calls for the next step; none if its process died or stands still.
    async fn call(&mut self, process: &Arc<D::Process>) -> Option<Result<D::Answer, Again>> {
        let (driver, process) = (Arc::clone(&self.driver), Arc::clone(process));
        let (caller, step) = (Arc::clone(&self.caller), self.answers.len());
        let mut called = tokio::spawn(async move { driver.step(&process, &caller, step).await });
        let trouble = &self.ports.trouble;
        tokio::select! {
            biased;
            ended = &mut called => Some(ended.unwrap()),
            () = trouble.died.notified() => {
                called.abort();
                assert!(called.await.unwrap_err().is_cancelled());
                None
            }
            () = trouble.froze.notified() => {
                self.frozen.push((step, called));
                None
            }
        }
    }

    /// Looks at what is left behind by somebody who failed, as another process reads it.
    async fn look(&mut self) {
        let what = format!("{}, in between", self.what);
        assert!(self.expected.is_some(), "an undisturbed run is not repeated");
        if !std::mem::replace(&mut self.interrupted, true) {
            self.ports.trouble.pause();
            self.driver.meanwhile(Arc::clone(&self.ports)).await;
            self.ports.trouble.go_on();
        }
        self.ports.clock.advance_ms(REPEATED_AFTER_MS);
        let now = Stored::read(&self.ports);
        self.last.assert_goes_on_in(&now, &what);
        self.driver.assert_between(&now, &what);
        self.last = now;
        let readings = Readings::of(&self.ports, &what).await;
        if let Some(expected) = self.expected {
            match D::PROMISE {
                Promise::Same => readings.assert_lead_to(&expected.readings, &what),
                Promise::ReadsSame => readings.assert_newest_among(&expected.readings, &what),
                Promise::Sound => {}
            }
        }
    }

    /// Others do what is left to them; then whoever stood still wakes up, and nothing changes.
    async fn end(mut self) -> Ended<D::Answer> {
        self.ports.trouble.pause();
        self.driver.settle(Arc::clone(&self.ports)).await;
        let stored = Stored::read(&self.ports);
        self.last.assert_goes_on_in(&stored, &self.what);
        if !self.frozen.is_empty() {
            self.ports.clock.advance_ms(REPEATED_AFTER_MS);
            self.ports.trouble.end();
            for (step, frozen) in std::mem::take(&mut self.frozen) {
                let answer = frozen.await.unwrap();
                if let Some(answer) = answer.ok().filter(|_| D::PROMISE != Promise::Sound) {
                    assert_eq!(answer, self.answers[step], "{}: woken up", self.what);
                }
            }
            self.driver.settle(Arc::clone(&self.ports)).await;
            let what = format!("{}, woken up", self.what);
            Stored::read(&self.ports).assert_is(&stored, &what);
        }
        let readings = Readings::of(&self.ports, &self.what).await;
        Ended { stored, readings, answers: self.answers }
    }
}
