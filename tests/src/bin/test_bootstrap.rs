//! The Lambda binary, for tests.

fn main() -> std::process::ExitCode {
    cellar_runtime::bootstrap::main()
}
