//! The load test command. To run the stack under load, the command starts its own program a second
//! time as `synth`.

use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use cellar_load::Program;
use cellar_load::command::Programs;
use cellar_tests::fast_clock::{self, FAST_SINCE_MS};

/// Environment variable that makes this program run as `synth`.
const AS_SYNTH: &str = "CELLAR_LOAD_AS_SYNTH";

fn main() -> ExitCode {
    if std::env::var_os(AS_SYNTH).is_some() {
        return synth::main_with(fast_clock::ports());
    }
    let Ok(path) = std::env::current_exe() else { return ExitCode::FAILURE };
    let now_ms = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let as_synth = (AS_SYNTH.to_owned(), "1".to_owned());
    let is_fast = (FAST_SINCE_MS.to_owned(), now_ms.to_string());
    let fast = Program { path: path.clone(), variables: vec![as_synth.clone(), is_fast] };
    cellar_load::command::main(&Programs {
        real: Program { path, variables: vec![as_synth] },
        fast,
    })
}
