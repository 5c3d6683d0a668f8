//! Runs a scenario many times and injects each kind of fault into each request.

use std::sync::Arc;

use tokio::task::JoinHandle;

use super::faults::Fault;
use super::ports::FaultyPorts;
use super::reading::Readings;
use super::scenario::{Promise, Retry, Scenario};
use super::stored::Stored;

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

/// Time after which a caller retries a step that got no response. Frozen processes resume after the
/// same time.
const RETRY_AFTER_MS: u64 = 2_000;
/// Exceeds the number of retries that any two faults cause, including an outage.
const MAX_RETRIES: usize = 30;
/// Number of additional requests after the end of a fault-free run into which faults are injected.
/// Only retries send these requests.
const RETRY_REQUESTS: usize = 10;

struct RunResult<A> {
    stored: Stored,
    readings: Readings,
    answers: Vec<A>,
}

pub(crate) struct Crashes<S: Scenario> {
    scenario: Arc<S>,
    initial_ports: Arc<FaultyPorts>,
    fault_free_result: RunResult<S::Answer>,
    request_count: usize,
    is_read: Vec<bool>,
}

impl<S: Scenario> Crashes<S> {
    pub(crate) async fn new(scenario: S, initial_ports: Arc<FaultyPorts>) -> Self {
        let scenario = Arc::new(scenario);
        let run = Run::new(Arc::clone(&scenario), &initial_ports, vec![]).take_all_steps().await;
        let faults = &run.ports.faults;
        let request_count = faults.requests();
        let is_read = (0..request_count).map(|number| faults.is_read(number)).collect();
        let fault_free_result = run.finish().await;
        Self { scenario, initial_ports, fault_free_result, request_count, is_read }
    }

    pub(crate) fn requests(&self) -> usize {
        self.request_count
    }

    pub(crate) fn answers(&self) -> &[S::Answer] {
        &self.fault_free_result.answers
    }

    pub(crate) fn stored(&self) -> &Stored {
        &self.fault_free_result.stored
    }

    pub(crate) async fn inject_each_fault(&self) {
        let mut run_count = 0;
        for request in 0..self.request_count {
            for fault in self.distinct_faults(request) {
                self.check_runs(vec![(request, fault)]).await;
                run_count += 1;
            }
        }
        let scenario = std::any::type_name::<S>();
        println!("{scenario}: {} requests, {run_count} runs", self.request_count);
    }

    /// A fault after a read is equivalent to a fault before it, so faults after a read are omitted.
    fn distinct_faults(&self, request: usize) -> impl Iterator<Item = Fault> {
        let is_read = self.is_read[request];
        FAULTS.into_iter().filter(move |fault| !is_read || !fault.is_after())
    }

    /// In some runs, a frozen process resumes while another process is running.
    pub(crate) async fn inject_each_pair_of_faults(&self) {
        let mut run_count = 0;
        for first_request in 0..self.request_count {
            for first_fault in self.distinct_faults(first_request) {
                let mut second_faults = FAULTS.to_vec();
                if first_fault.freezes() {
                    second_faults.push(Fault::Wakes);
                }
                for second_request in first_request + 1..self.request_count + RETRY_REQUESTS {
                    for second_fault in &second_faults {
                        let planned_faults =
                            vec![(first_request, first_fault), (second_request, *second_fault)];
                        self.check_runs(planned_faults).await;
                        run_count += 1;
                    }
                }
            }
        }
        let scenario = std::any::type_name::<S>();
        println!("{scenario}: {} requests, {run_count} pairs", self.request_count);
    }

    /// Checks a run in which a new process retries each failed step. If a step returned an error,
    /// also checks a run in which the same process retries the step.
    async fn check_runs(&self, planned_faults: Vec<(usize, Fault)>) {
        let has_erred = self.check_run(planned_faults.clone(), RetryIn::NewProcess).await;
        if has_erred {
            self.check_run(planned_faults, RetryIn::SameProcess).await;
        }
    }

    /// Returns whether any step returned an error.
    async fn check_run(&self, planned_faults: Vec<(usize, Fault)>, retry_in: RetryIn) -> bool {
        let mut run = Run::new(Arc::clone(&self.scenario), &self.initial_ports, planned_faults);
        run.context = format!("{}, retry in {retry_in:?}", run.context);
        run.retry_in = retry_in;
        run.fault_free_result = Some(&self.fault_free_result);
        let run = run.take_all_steps().await;
        let has_erred = run.last_error.is_some();
        let context = run.context.clone();
        let result = run.finish().await;
        self.check_result(&result, &context);
        has_erred
    }

    fn check_result(&self, result: &RunResult<S::Answer>, context: &str) {
        let expected = &self.fault_free_result;
        self.scenario.assert_final(&result.stored, &result.answers, context);
        if S::PROMISE == Promise::ConsistentData {
            return;
        }
        assert_eq!(result.answers, expected.answers, "{context}: the answers");
        result.readings.assert_newest_are(&expected.readings, context);
        if S::PROMISE == Promise::SameData {
            let expected_data = expected.stored.without_times();
            result.stored.without_times().assert_equals(&expected_data, context);
            result.readings.assert_prefix_of(&expected.readings, context);
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RetryIn {
    NewProcess,
    SameProcess,
}

enum StepOutcome<A> {
    Answered(A),
    Failed(Retry),
    ProcessLost,
}

type StepTask<S> = JoinHandle<Result<<S as Scenario>::Answer, Retry>>;

struct Run<'a, S: Scenario> {
    context: String,
    scenario: Arc<S>,
    ports: Arc<FaultyPorts>,
    caller: Arc<S::Caller>,
    answers: Vec<S::Answer>,
    /// Frozen processes, each with the index of the step that it was running.
    frozen_tasks: Vec<(usize, StepTask<S>)>,
    last_stored: Stored,
    other_writers_ran: bool,
    retry_in: RetryIn,
    last_error: Option<String>,
    /// Result of the fault-free run, or `None` if this is the fault-free run.
    fault_free_result: Option<&'a RunResult<S::Answer>>,
}

impl<S: Scenario> Run<'_, S> {
    fn new(
        scenario: Arc<S>,
        initial_ports: &FaultyPorts,
        planned_faults: Vec<(usize, Fault)>,
    ) -> Self {
        Self {
            context: format!("{planned_faults:?}"),
            scenario,
            ports: initial_ports.copied(planned_faults),
            caller: Arc::default(),
            answers: Vec::new(),
            frozen_tasks: Vec::new(),
            last_stored: Stored::read(initial_ports),
            other_writers_ran: false,
            retry_in: RetryIn::NewProcess,
            last_error: None,
            fault_free_result: None,
        }
    }

    /// If a process dies or freezes, a new process retries the step.
    async fn take_all_steps(mut self) -> Self {
        let max_attempts = MAX_RETRIES + self.scenario.step_count();
        let mut attempts = 0;
        let mut process = self.start_process();
        while self.answers.len() < self.scenario.step_count() {
            attempts += 1;
            assert!(
                attempts <= max_attempts,
                "{}: the scenario has not finished after {max_attempts} attempts: {:?}",
                self.context,
                self.last_error
            );
            let needs_new_process = match self.take_step(&process).await {
                StepOutcome::Answered(answer) => {
                    self.answers.push(answer);
                    continue;
                }
                StepOutcome::Failed(Retry(error)) => {
                    self.last_error = Some(error);
                    self.retry_in == RetryIn::NewProcess
                }
                StepOutcome::ProcessLost => true,
            };
            self.check_after_failure().await;
            if needs_new_process {
                process = self.start_process();
            }
        }
        self
    }

    fn start_process(&self) -> Arc<S::Process> {
        Arc::new(self.scenario.start_process(&self.ports))
    }

    async fn take_step(&mut self, process: &Arc<S::Process>) -> StepOutcome<S::Answer> {
        let step = self.answers.len();
        let scenario = Arc::clone(&self.scenario);
        let process = Arc::clone(process);
        let caller = Arc::clone(&self.caller);
        let mut task = tokio::spawn(async move { scenario.step(&process, &caller, step).await });
        let faults = &self.ports.faults;
        tokio::select! {
            biased;
            answer = &mut task => match answer.unwrap() {
                Ok(answer) => StepOutcome::Answered(answer),
                Err(retry) => StepOutcome::Failed(retry),
            },
            () = faults.died.notified() => {
                task.abort();
                assert!(task.await.unwrap_err().is_cancelled());
                StepOutcome::ProcessLost
            }
            () = faults.froze.notified() => {
                self.frozen_tasks.push((step, task));
                StepOutcome::ProcessLost
            }
        }
    }

    async fn check_after_failure(&mut self) {
        let Some(fault_free_result) = self.fault_free_result else {
            panic!("a step of an undisturbed run failed");
        };
        let context = format!("{}, after the failure", self.context);
        if !self.other_writers_ran {
            self.other_writers_ran = true;
            self.ports.faults.pause();
            self.scenario.run_other_writers(Arc::clone(&self.ports)).await;
            self.ports.faults.resume();
        }
        self.ports.clock.advance_ms(RETRY_AFTER_MS);
        let stored = Stored::read(&self.ports);
        self.last_stored.assert_preserved_in(&stored, &context);
        self.scenario.assert_after_failure(&stored, &context);
        self.last_stored = stored;
        let readings = Readings::of(&self.ports, &context).await;
        let expected_readings = &fault_free_result.readings;
        match S::PROMISE {
            Promise::SameData => readings.assert_prefix_of(expected_readings, &context),
            Promise::SameCells => readings.assert_newest_among(expected_readings, &context),
            Promise::ConsistentData => {}
        }
    }

    /// Asserts that resumed processes do not change the stored data.
    async fn finish(mut self) -> RunResult<S::Answer> {
        self.ports.faults.pause();
        self.scenario.finish_other_work(Arc::clone(&self.ports)).await;
        let stored = Stored::read(&self.ports);
        self.last_stored.assert_preserved_in(&stored, &self.context);
        if !self.frozen_tasks.is_empty() {
            self.resume_frozen_processes().await;
            self.scenario.finish_other_work(Arc::clone(&self.ports)).await;
            let context = format!("{}, resumed", self.context);
            Stored::read(&self.ports).assert_equals(&stored, &context);
        }
        let readings = Readings::of(&self.ports, &self.context).await;
        RunResult { stored, readings, answers: self.answers }
    }

    async fn resume_frozen_processes(&mut self) {
        self.ports.clock.advance_ms(RETRY_AFTER_MS);
        self.ports.faults.pause_and_wake();
        for (step, task) in self.frozen_tasks.drain(..) {
            let answer = task.await.unwrap();
            if let Ok(answer) = answer
                && S::PROMISE != Promise::ConsistentData
            {
                assert_eq!(answer, self.answers[step], "{}: resumed", self.context);
            }
        }
    }
}
