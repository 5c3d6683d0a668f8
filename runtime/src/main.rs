//! The Lambda binary. It contains all functions of the stack.

fn main() -> std::process::ExitCode {
    cellar_runtime::bootstrap::main()
}
