//! The Lambda binary: one binary for all functions of the stack.

fn main() -> std::process::ExitCode {
    cellar_runtime::bootstrap::main()
}
