//! Measures the start of the Lambda binary, on an idle machine:
//! `CELLAR_BOOTSTRAPS=target/lambda/bootstrap cargo test -p cellar-tests --test integration
//! bootstrap::figures -- --ignored --nocapture`. Several programs, separated by colons, are started
//! in turn.

use std::time::{Duration, Instant};

use cellar_tests::cloud::TestCloud;
use serde_json::json;

use super::{Function, PROGRAM, request_event, variables};

const RUNS: usize = 41;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "prints figures"]
async fn from_the_start_to_the_first_answer() {
    let cloud = TestCloud::start().await;
    let programs = std::env::var("CELLAR_BOOTSTRAPS").unwrap_or_else(|_| PROGRAM.to_owned());
    let programs: Vec<&str> = programs.split(':').collect();
    let mut durations = vec![Vec::new(); programs.len()];
    for _ in 0..RUNS {
        for (program, durations) in programs.iter().zip(&mut durations) {
            durations.push(first_answer(program, &cloud).await);
        }
    }
    for (program, mut durations) in programs.iter().zip(durations) {
        durations.sort();
        let [median, high] = [RUNS / 2, RUNS * 9 / 10].map(|index| durations[index]);
        println!("{program}: median {median:.1?}, 90th percentile {high:.1?}, {RUNS} starts");
    }
}

/// Asks for a route that does not exist, because its answer needs no other service.
async fn first_answer(program: &str, cloud: &TestCloud) -> Duration {
    let event = request_event("GET", "/v1/nothing", &json!({"host": "abc.example"}), None);
    let started = Instant::now();
    let mut function = Function::start(program, variables(cloud)).await;
    let answer = function.call(event).await;
    let duration = started.elapsed();
    assert_eq!(answer["statusCode"], 404, "{answer}");
    duration
}
