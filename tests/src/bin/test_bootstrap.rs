//! The Lambda binary, built for tests.

fn main() -> std::process::ExitCode {
    cellar_runtime::bootstrap::main()
}
