//! Measures the start of the Lambda binary, on an idle machine:
//! `CELLAR_BOOTSTRAPS=target/lambda/bootstrap cargo test -p cellar-tests --test integration
//! bootstrap::figures -- --ignored --nocapture`. Several programs, separated by colons, are started
//! in turn.
//!
//! With `CELLAR_CONTROL_GROUP`, the folder of a control group of Linux, the programs run in that
//! group. Lambda gives a function with 1,769 MB a core, and one with 512 MB 5.8 ms of 20 ms.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use axum::Router;
use cellar_catalog::access::Role;
use cellar_tests::cloud::TestCloud;
use cellar_tests::forwarding;
use serde_json::{Value, json};

use super::{Function, PROGRAM, body_of, request_event, tls, variables};

const RUNS: usize = 41;

/// The authorities that Amazon Linux and Debian trust, one of which exists.
const AUTHORITIES: [&str; 2] =
    ["/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/certs/ca-certificates.crt"];

#[derive(Debug, Clone, Copy)]
enum Connection {
    /// Without TLS.
    Plain,
    /// With TLS, trusting a single certificate.
    OneAuthority,
    /// With TLS, trusting the authorities of the system as well.
    AllAuthorities,
}

/// Times of a start, in the order in which they pass.
struct Start {
    /// Until the function asks for its first event.
    until_poll: Duration,
    /// From then on, until it has answered an event that needs no other service.
    empty_event: Duration,
    /// From then on, until it has answered an event that reads a table.
    first_read: Duration,
    /// From then on, until it has answered the same event again.
    second_read: Duration,
    /// Time on a processor, of all threads.
    processor: Duration,
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "prints figures"]
async fn from_the_start_to_the_first_answer() {
    let cloud = TestCloud::start().await;
    let programs = std::env::var("CELLAR_BOOTSTRAPS").unwrap_or_else(|_| PROGRAM.to_owned());
    let programs: Vec<&str> = programs.split(':').collect();
    for connection in [Connection::Plain, Connection::OneAuthority, Connection::AllAuthorities] {
        let mut starts: Vec<Vec<Start>> = programs.iter().map(|_| Vec::new()).collect();
        let folder = tempfile::tempdir().unwrap();
        let started_cloud = StartedCloud::new(&cloud, connection, folder.path()).await;
        for _ in 0..RUNS {
            for (program, starts) in programs.iter().zip(&mut starts) {
                starts.push(started_cloud.start(program).await);
            }
        }
        for (program, starts) in programs.iter().zip(starts) {
            print_medians(program, connection, &starts);
        }
    }
}

fn print_medians(program: &str, connection: Connection, starts: &[Start]) {
    let median = |time: fn(&Start) -> Duration| {
        let mut times: Vec<Duration> = starts.iter().map(time).collect();
        times.sort();
        times[times.len() / 2]
    };
    println!(
        "{program}, {connection:?}: medians of {RUNS} starts: until the first poll {:.1?}, an answer without a read \
         {:.1?}, the first answer with a read {:.1?}, the second {:.1?}; {:.1?} on a processor",
        median(|start| start.until_poll),
        median(|start| start.empty_event),
        median(|start| start.first_read),
        median(|start| start.second_read),
        median(|start| start.processor),
    );
}

/// Serves tables without items, which any address may reach: the embedded database refuses requests
/// that were sent to the address of another server. Returns the URL.
async fn serve_empty_tables() -> String {
    let no_items = json!({ "Items": [], "Count": 0, "ScannedCount": 0 }).to_string();
    forwarding::serve(Router::new().fallback(async move || no_items.clone())).await
}

/// A local stack, as a function sees it.
struct StartedCloud {
    variables: Vec<(&'static str, String)>,
    read: Value,
    empty: Value,
}

impl StartedCloud {
    async fn new(cloud: &TestCloud, connection: Connection, folder: &Path) -> Self {
        let mut variables = variables(cloud);
        let url = serve_empty_tables().await;
        if matches!(connection, Connection::Plain) {
            variables.insert("AWS_ENDPOINT_URL_DYNAMODB", url);
        } else {
            let server = url.trim_start_matches("http://").to_owned();
            let url = tls::serve(server, folder).await;
            let mut trusted = std::fs::read_to_string(folder.join("certificate.pem")).unwrap();
            if matches!(connection, Connection::AllAuthorities) {
                let others = AUTHORITIES.iter().find_map(|path| std::fs::read_to_string(path).ok());
                trusted.push_str(&others.expect("the authorities of the system"));
            }
            let path = folder.join("trusted.pem");
            std::fs::write(&path, trusted).unwrap();
            variables.insert("AWS_ENDPOINT_URL_DYNAMODB", url);
            variables.insert("SSL_CERT_FILE", path.to_str().unwrap().to_owned());
        }
        let token = cloud.token("alice", Role::Owner);
        let headers = json!({ "authorization": format!("Bearer {token}"), "host": "abc.example" });
        let read = request_event("GET", "/v1/spreadsheets", &headers, None);
        let empty = request_event("GET", "/v1/nothing", &headers, None);
        Self { variables: variables.into_iter().collect(), read, empty }
    }

    async fn start(&self, program: &str) -> Start {
        let started = Instant::now();
        let variables = self.variables.iter().cloned().collect();
        let mut function = Function::start_as(command(program), variables).await;
        let answer = function.call(self.empty.clone()).await;
        assert_eq!(answer["statusCode"], 404, "{answer}");
        let mut times = vec![*function.first_poll.get().unwrap(), Instant::now()];
        for _ in 0..2 {
            let answer = function.call(self.read.clone()).await;
            assert_eq!(answer["statusCode"], 200, "{answer}");
            assert_eq!(body_of(&answer)["spreadsheets"], json!([]));
            times.push(Instant::now());
        }
        Start {
            until_poll: times[0] - started,
            empty_event: times[1] - times[0],
            first_read: times[2] - times[1],
            second_read: times[3] - times[2],
            processor: processor_time(function.process.id()),
        }
    }
}

/// Returns the command that runs a program in the control group, if there is one.
fn command(program: &str) -> Command {
    let Ok(group) = std::env::var("CELLAR_CONTROL_GROUP") else { return Command::new(program) };
    let mut command = Command::new("/bin/sh");
    command.args(["-c", r#"echo $$ > "$0/cgroup.procs" && exec "$1""#, &group, program]);
    command
}

fn processor_time(process: u32) -> Duration {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let on_processor_ns = |task: std::fs::DirEntry| -> u64 {
        let statistics = std::fs::read_to_string(task.path().join("schedstat")).unwrap();
        statistics.split(' ').next().unwrap().parse().unwrap()
    };
    Duration::from_nanos(tasks.map(|task| on_processor_ns(task.unwrap())).sum())
}
