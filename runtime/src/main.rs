//! The one Lambda binary.

fn main() -> std::process::ExitCode {
    cellar_runtime::bootstrap::main()
}
